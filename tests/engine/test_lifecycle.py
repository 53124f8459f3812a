"""Forks and the end of the process, each in a process of its own."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import gluonish_engine

pytestmark = pytest.mark.timeout(90)

PROLOGUE = """
import faulthandler, os, signal, sys, threading, time, warnings
faulthandler.dump_traceback_later(60, exit=True)
# Python 3.12 warns of any fork with threads; that it works is what is tested.
warnings.simplefilter("ignore", DeprecationWarning)
from gluonish_engine import EngineError, Var, create_engine
LANE = ("cpu", 0, "compute")

def in_child(body):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            # Not faulthandler: its watchdog thread is gone here, and a new one would wait for it.
            signal.alarm(30)
            body()
        except BaseException as error:
            print("child:", repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]
"""


def run(code: str, *arguments: str) -> str:
    package = Path(gluonish_engine.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + textwrap.dedent(code), *arguments],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        timeout=80,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


fork_only = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
KINDS = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")


@fork_only
@pytest.mark.parametrize("kind", KINDS)
def test_child_finds_values_complete_and_an_engine_that_works(kind: str) -> None:
    run(
        f"""
        engine, var, cell = create_engine({kind!r}), Var(), [0]

        def add():
            value = cell[0]
            time.sleep(0.001)
            cell[0] = value + 1

        for _ in range(20):
            engine.push(add, (var,), (var,), LANE)

        def body():
            assert cell == [20], cell
            for inline in (False, True):
                engine.push(add, (var,), (var,), LANE, inline=inline)
                engine.wait(var)
            engine.wait_all()
            assert cell == [22], cell

        assert in_child(body) == 0
        engine.push(add, (var,), (var,), LANE)
        engine.wait(var)
        assert cell == [21], cell
        """
    )


@fork_only
def test_child_of_a_fork_inside_an_operator_starts_clean() -> None:
    run(
        """
        engine = create_engine("ThreadedEnginePerDevice")
        mine, others, status = Var(), Var(), []
        started, go = threading.Event(), threading.Event()

        def slow():
            started.set()
            assert go.wait(30)

        def body():
            try:
                engine.wait(others)
            except EngineError as error:
                assert "pending at the fork" in str(error)
            else:
                raise SystemExit("no error on what the parent was writing")
            out = Var()
            engine.push(lambda: None, (), (out, others), LANE)
            engine.wait(out)
            engine.wait(others)

        engine.push(slow, (), (others,), ("cpu", 1, "compute"))
        assert started.wait(30)
        engine.push(lambda: status.append(in_child(body)), (), (mine,), LANE, inline=True)
        go.set()
        engine.wait_all()
        assert status == [0], status
        """
    )


@fork_only
def test_open_bulk_is_done_before_the_fork() -> None:
    run(
        """
        engine, cell = create_engine("ThreadedEngine"), [0]
        with engine.bulk(100):
            engine.push(lambda: cell.__setitem__(0, 1), (), (Var(),), LANE)

            def body():
                assert cell == [1]

            assert in_child(body) == 0
        """
    )


@pytest.mark.parametrize("kind", KINDS)
def test_exit_waits_for_jobs_that_write_files(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "saved"
    run(
        f"""
        engine, var, target = create_engine({kind!r}), Var(), sys.argv[1]

        def save():
            time.sleep(0.2)
            with open(target, "w") as file:
                file.write("complete")

        engine.push(lambda: time.sleep(0.05), (), (var,), LANE)
        engine.set_bulk_size(10)
        engine.push(save, (var,), (), LANE, name="save", flush=True)
        """,
        str(target),
    )
    assert target.read_text() == "complete"


def test_exit_drops_what_writes_no_file(tmp_path: Path) -> None:
    target = tmp_path / "never"
    start = time.monotonic()
    run(
        """
        engine, var, target = create_engine("ThreadedEnginePerDevice"), Var(), sys.argv[1]
        started = threading.Event()

        def hang():
            started.set()
            time.sleep(50)

        engine.push(hang, (), (var,), LANE)
        engine.push(lambda: open(target, "w").close(), (var,), (), LANE)
        engine.push(lambda: open(target, "w").close(), (), (), LANE)
        assert started.wait(30)
        """,
        str(target),
    )
    assert time.monotonic() - start < 30
    assert not target.exists()


def test_exit_handler_may_still_push_and_wait() -> None:
    said = run(
        """
        import atexit
        engine = create_engine("ThreadedEnginePerDevice")

        def last():
            var = Var()
            engine.push(lambda: print("ran"), (), (var,), LANE)
            engine.wait(var)

        atexit.register(last)
        """
    )
    assert said == "ran\n"


@fork_only
def test_fork_does_not_wait_for_a_thread_that_pushes_on_and_on() -> None:
    code = """
        engine = create_engine("ThreadedEnginePerDevice")
        stop, var = [], Var()

        def push():
            while not stop:
                engine.push(lambda: None, (), (var,), LANE)

        thread = threading.Thread(target=push, daemon=True)
        thread.start()
        time.sleep(0.1)
        times = []
        for _ in range(9):
            start = time.perf_counter()
            child = os.fork()
            if not child:
                engine.push(lambda: None, (), (var,), LANE)
                engine.wait(var)
                os._exit(0)
            times.append(time.perf_counter() - start)
            assert os.waitpid(child, 0)[1] == 0
        stop.append(1)
        thread.join()
        engine.wait_all()
        print(sorted(times)[len(times) // 2])
    """
    assert float(run(code)) < 1.0
