import threading

import pytest

from gluonish.profiler.events import TOP_LEVEL, current_location, scope


def path() -> str:
    return current_location.get(TOP_LEVEL).path


def test_scopes_nest_and_end() -> None:
    with scope("a"):
        with scope("b:"):
            assert path() == "a:b:"
        assert path() == "a:"
        with scope("c", append_mode=False):
            assert path() == "c:"
    assert path() == ""


def test_the_default_is_mxnets() -> None:
    with scope():
        assert path() == "<unk>:"


def test_an_error_ends_a_scope() -> None:
    with pytest.raises(ValueError, match="x"), scope("a"):
        raise ValueError("x")
    assert path() == ""


def test_threads_have_scopes_of_their_own() -> None:
    seen: list[str] = []
    with scope("a"):
        thread = threading.Thread(target=lambda: seen.append(path()))
        thread.start()
        thread.join(60)
    assert seen == [""]
