"""gluonish warm, and the line that tells of kernels that are compiled."""

import io
import time

import pytest

from gluonish.kernels.compiler import compile_kernel, compiled_count, progress
from gluonish.tools import cli

_SOURCE = """
def body(begin, end, params):
    y = i64(params[0])
    for i in range(begin, end):
        y[i] = i * {number}
"""


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_network_runs_once_in_each_way(capsys: pytest.CaptureFixture[str]) -> None:
    network = ["--networks", "squeezenet1.1", "--batch-sizes", "1", "--mode", "inference"]
    assert cli.main(["warm", *network]) == 0
    capsys.readouterr()
    assert cli.main(["warm", *network]) == 0  # the first call has left nothing to do
    assert "All kernels were on disk already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--networks", "resnet51_v1", "nearest: 'resnet50_v1'"),
        ("--dtypes", "float8", "expected some of float32, bfloat16, got 'float8'"),
        ("--batch-sizes", "0", "expected positive integers, got '0'"),
        ("--ctx", "cpu:0,cpu:1", "expected one device"),
    ],
)
def test_what_it_does_not_know(
    option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["warm", option, value]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [True, False])
def test_long_compilation_is_told_on_terminals(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE_S", -1.0)
    monkeypatch.setattr(progress, "_IDLE_S", 0.05)
    before = compiled_count()
    compile_kernel(_SOURCE.format(number=time.time_ns()))  # not on disk
    assert compiled_count() == before + 1
    assert ("compiling kernels" in stream.getvalue()) is terminal
    deadline = time.monotonic() + 10
    while progress._state.bar is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert progress._state.bar is None
