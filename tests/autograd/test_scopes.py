import threading

import pytest

from gluonish import autograd


def modes() -> tuple[bool, bool]:
    return autograd.is_recording(), autograd.is_training()


def test_nothing_is_on_outside_scopes() -> None:
    assert modes() == (False, False)


def test_scopes_nest() -> None:
    with autograd.record():
        assert modes() == (True, True)
        with autograd.pause():
            assert modes() == (False, False)
            with autograd.train_mode():
                assert modes() == (False, True)
        with autograd.predict_mode():
            assert modes() == (True, False)
        with autograd.record(train_mode=False):
            assert modes() == (True, False)
        with autograd.pause(train_mode=True):
            assert modes() == (False, True)
        assert modes() == (True, True)
    assert modes() == (False, False)


def test_scope_may_be_entered_again_inside_itself() -> None:
    scope = autograd.record()
    with scope, scope:
        assert modes() == (True, True)
    assert modes() == (False, False)


def test_scope_ends_with_an_exception() -> None:
    with pytest.raises(KeyError), autograd.record():
        raise KeyError
    assert modes() == (False, False)


def test_set_functions_return_what_was() -> None:
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(True) is False
    assert autograd.set_training(False) is True
    assert modes() == (False, False)


def test_modes_belong_to_the_thread() -> None:
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(modes()))
        thread.start()
        thread.join(10)
    assert seen == [(False, False)]
