"""What `import gluonish` makes is no work for the garbage collector."""

import subprocess
import sys

import pytest


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def test_modules_are_set_aside() -> None:
    frozen, left = run(
        "import gc, gluonish\nprint(gc.get_freeze_count(), len(gc.get_objects()))"
    ).split()
    assert int(frozen) > 10_000 > int(left)


def test_what_a_program_made_in_large_numbers_before_is_not() -> None:
    program = "import gc\nbefore = gc.get_freeze_count()\nmade = [[] for _ in range(200_000)]\n"
    program += "import gluonish\nprint(gc.get_freeze_count() - before)"
    assert run(program) == "0"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_fork_finds_variables_that_were_set_aside() -> None:
    program = """
import gc, os, threading
from gluonish import nd
from gluonish.engine import current_engine
from gluonish_engine import forking
x = nd.zeros((4,))
gc.freeze()
go = threading.Event()
x._write(lambda raw: None)
x.asnumpy()
lane = x._device.lane
engine = current_engine()
engine.push(lambda: go.wait(30), (), (x._var,), lane)
forking._FORK_S = 0.05
if os.fork() == 0:
    try:
        x.asnumpy()
    except Exception as error:
        os.write(1, type(error).__name__.encode())
    os._exit(0)
os.wait()
go.set()
"""
    assert run(program).endswith("Error")
