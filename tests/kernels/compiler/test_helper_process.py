import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gluonish.kernels.compiler import helper_process, machine_code, object_code
from gluonish.kernels.compiler.helper_process import HelperProcess
from gluonish.kernels.compiler.lowering import lower

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """
def body(begin, end, params):
    x, y = f32(params[0]), f32(params[1])
    for i in range(begin, end):
        independent()
        y[i] = exp(x[i]) * float32(2)
"""
TEXT = lower(SOURCE, ("contract", "reassoc")) + machine_code._BODY_END
ENTRY = "gluonish_chunk"


@pytest.fixture
def helper() -> Iterator[HelperProcess]:
    made = HelperProcess(machine_code.host())
    yield made
    made.close()


def test_code_is_the_same_as_that_of_this_process(helper: HelperProcess) -> None:
    for _ in range(2):  # the second request goes to the same process
        assert helper.generate(TEXT, ENTRY) == object_code.generate(
            TEXT, ENTRY, machine_code.host()
        )


def test_what_llvm_refuses_is_raised_and_the_next_text_is_compiled(helper: HelperProcess) -> None:
    with pytest.raises(RuntimeError, match="expected"):
        helper.generate("no text of LLVM's", ENTRY)
    assert helper.generate(TEXT, ENTRY) is not None


def test_the_functions_that_code_calls_are_named(helper: HelperProcess) -> None:
    text = "declare double @tgamma(double)\ndefine void @f(double* %x) {\n"
    text += "%a = load double, double* %x\n%b = call double @tgamma(double %a)\n"
    text += "store double %b, double* %x\nret void\n}\n"
    made = helper.generate(text, "f")
    assert made is not None
    assert made.called == ["tgamma"]


def test_a_process_that_was_killed_is_done_without(helper: HelperProcess) -> None:
    helper.generate(TEXT, ENTRY)
    helper._process.kill()
    helper._process.wait(60)
    assert helper.generate(TEXT, ENTRY) is None
    assert helper.generate(TEXT, ENTRY) is None
    assert helper not in helper_process._open


def test_a_system_without_new_processes_is_done_without(
    helper: HelperProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError("forbidden")

    monkeypatch.setattr(subprocess, "Popen", forbidden)
    assert helper.generate(TEXT, ENTRY) is None


@pytest.mark.parametrize("program", ["", None, "/usr/bin/uwsgi"])
def test_a_program_that_contains_python_is_not_started_again(
    helper: HelperProcess, monkeypatch: pytest.MonkeyPatch, program: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(subprocess, "Popen", None)  # not called
    assert helper.generate(TEXT, ENTRY) is None


def test_a_frozen_program_is_not_started_again(
    helper: HelperProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(subprocess, "Popen", None)  # not called
    assert helper.generate(TEXT, ENTRY) is None


def test_closing_ends_the_process(helper: HelperProcess) -> None:
    helper.generate(TEXT, ENTRY)
    process = helper._process
    helper.close()
    assert process.poll() is not None


# Processes that libraries loaded into them by LD_PRELOAD have print something.
@pytest.mark.parametrize("noise", ["hello", "hello from a library"])
def test_output_that_is_no_reply_is_not_waited_for(
    helper: HelperProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, noise: str
) -> None:
    program = tmp_path / "noise.py"
    program.write_text(f"import sys\nprint('{noise}', flush=True)\nsys.stdin.read()\n", "utf-8")
    monkeypatch.setattr(object_code, "__file__", str(program))
    made: list[object] = []
    thread = threading.Thread(target=lambda: made.append(helper.generate(TEXT, ENTRY)))
    thread.start()
    thread.join(60)
    alive = thread.is_alive()
    helper.close()
    thread.join(60)
    assert not alive
    assert made == [None]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_waits_for_a_process_that_is_started(
    helper: HelperProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, done = threading.Event(), threading.Event()
    popen = subprocess.Popen

    def slow(*args: Any, **kwargs: Any) -> Any:
        begun.set()
        process = popen(*args, **kwargs)
        time.sleep(0.5)
        done.set()
        return process

    monkeypatch.setattr(subprocess, "Popen", slow)
    thread = threading.Thread(target=lambda: helper.generate(TEXT, ENTRY))
    thread.start()
    assert begun.wait(60)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if done.is_set() and not helper_process._open else 1)
    assert os.waitpid(pid, 0)[1] == 0
    thread.join(60)


PARENT = """
import os, sys
from gluonish.kernels.compiler import machine_code
from gluonish.kernels.compiler.helper_process import HelperProcess
helper = HelperProcess(machine_code.host())
print(helper.generate(sys.argv[1], "gluonish_chunk") is not None, helper._process.pid, flush=True)
if sys.argv[2] == "fork":
    pid = os.fork()
    if pid == 0:
        os._exit(0 if helper.generate(sys.argv[1], "gluonish_chunk") is None else 1)
    print(os.waitpid(pid, 0)[1], helper.generate(sys.argv[1], "gluonish_chunk") is not None)
elif sys.argv[2] == "wait":
    sys.stdin.read()
"""


def parent(how: str) -> "subprocess.Popen[str]":
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PARENT, TEXT, how],
        env=os.environ | {"PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self/stat").exists():
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):  # it ended between the two questions
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def ends(pid: int, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(pid)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize("how", ["exit", "wait"])
def test_a_process_ends_with_the_one_that_started_it(how: str) -> None:
    with parent(how) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        made, pid = process.stdout.readline().split()
        assert made == "True"
        if how == "wait":
            assert is_running(int(pid))
            process.kill()
        assert ends(int(pid))
        assert process.stderr.read() == ""


def test_a_forked_child_leaves_the_process_to_its_parent() -> None:
    with parent("fork") as process:
        out, errors = process.communicate(timeout=120)
    assert out.splitlines()[1:] == ["0 True"]
    assert errors == ""
