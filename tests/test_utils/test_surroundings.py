import contextlib
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.context import current_context
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError


def test_default_context_is_the_current_one_and_can_be_set() -> None:
    assert test_utils.default_context() == mx.cpu(0)
    with mx.cpu(2):
        assert test_utils.default_context() == mx.cpu(2)


def test_set_default_context_lasts_in_its_thread() -> None:
    seen: list[Any] = []

    def run() -> None:
        test_utils.set_default_context(mx.cpu(1))
        with mx.cpu(3):
            seen.append(test_utils.default_context())
        seen.extend([test_utils.default_context(), mx.nd.ones(1).context])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert seen == [mx.cpu(3), mx.cpu(1), mx.cpu(1)]
    assert current_context() == mx.cpu(0)
    with pytest.raises(ArgumentTypeError, match=r"^set_default_context: .*'cpu'"):
        test_utils.set_default_context("cpu")  # type: ignore[arg-type]  # refused


def test_platform_questions_have_answers() -> None:
    assert isinstance(test_utils.list_gpus(), range)
    assert test_utils.is_op_runnable() is True
    assert test_utils.has_tvm_ops() is False
    assert isinstance(test_utils.is_aarch64_run(), bool)
    for value, answer in (("1", True), ("true", False), (None, False)):
        with test_utils.environment("CD_JOB", value):
            assert test_utils.is_cd_run() is answer


@pytest.mark.parametrize("args", [("ONE_OF_OURS", "new"), ({"ONE_OF_OURS": "new"},)])
def test_environment_is_a_scope(monkeypatch: pytest.MonkeyPatch, args: tuple[Any, ...]) -> None:
    for before in (None, "old"):
        monkeypatch.delenv("ONE_OF_OURS", raising=False)
        if before:
            monkeypatch.setenv("ONE_OF_OURS", before)
        with contextlib.suppress(KeyError), test_utils.environment(*args):
            assert os.environ["ONE_OF_OURS"] == "new"
            raise KeyError
        assert os.environ.get("ONE_OF_OURS") == before


def test_environment_unsets_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_OF_OURS", "old")
    with test_utils.environment("ONE_OF_OURS", None):
        assert "ONE_OF_OURS" not in os.environ
    assert os.environ["ONE_OF_OURS"] == "old"


def test_flags_follow_the_environment() -> None:
    with test_utils.environment({"MXNET_ENGINE_TYPE": "NaiveEngine"}):
        assert mx.util.getenv("MXNET_ENGINE_TYPE") == "NaiveEngine"


@pytest.mark.parametrize("args", [(), ("A",), (1,), ("A", "b", "c")])
def test_environment_refuses_other_arguments(args: tuple[Any, ...]) -> None:
    with (
        pytest.raises(ArgumentError, match=r"^environment: expected a dict, or a name"),
        test_utils.environment(*args),
    ):
        pass


def test_environment_is_as_before_if_a_value_is_no_text() -> None:
    with (
        pytest.raises(ArgumentTypeError, match=r"^setenv: .*1"),
        test_utils.environment({"ONE_OF_OURS": "new", "ANOTHER": 1}),
    ):
        pass
    assert "ONE_OF_OURS" not in os.environ


def test_im2rec_is_looked_for_and_its_absence_told(
    tmp_path: Path,
) -> None:
    script = tmp_path / "tools" / "im2rec.py"
    with test_utils.environment("SOME_HOME", str(tmp_path)):
        with pytest.raises(NotSupportedError, match=r"SOME_HOME.*gluonish im2rec"):
            test_utils.get_im2rec_path("SOME_HOME")
        script.parent.mkdir()
        script.write_text("")
        assert test_utils.get_im2rec_path("SOME_HOME") == str(script)


def test_stderr_is_discarded_down_to_its_descriptor(capfd: pytest.CaptureFixture[str]) -> None:
    with test_utils.discard_stderr():
        os.write(2, b"hidden")
        sys.stderr.write("hidden")
    os.write(2, b"shown")
    assert capfd.readouterr().err == "shown"
