"""One allocation of Python's fails, each in turn: a program ends with an error or goes on.

It never hangs, and afterwards everything works as before. CPython's own tests count and refuse
allocations; each run here is a process of its own, so that a hang ends with the stacks of all
threads.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.attack.processes import run_program

pytest.importorskip("_testcapi", reason="this Python comes without CPython's test module")

# How many allocations each program makes, about, in this process and its workers.
ALLOCATIONS = {"pushes": 500, "gradients": 700, "sgd": 2000, "adam": 1000, "loader": 200}


def run(program: str, first: int, step: int, count: int, timeout_s: float) -> dict[str, Any]:
    """Run a program and return what it says."""
    command = ("-m", "tests.attack.no_memory_program", program, first, step, count)
    return run_program(*command, timeout_s=timeout_s)


# Pure Python that some versions of CPython, 3.13.0 for one, crash in.
_PROBE = """
import _testcapi

def run():
    return [str(x) for x in (1, 2, 3) if x], tuple(x for x in "abc"), f"{run}"

for first in range(200):
    _testcapi.set_nomemory(first, first + 1)
    try:
        run()
    except BaseException:
        pass
    finally:
        _testcapi.remove_mem_hooks()
"""


@pytest.fixture(scope="module")
def python_survives() -> None:
    """Skip where CPython itself crashes in a program without us."""
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, check=False)
    if done.returncode < 0:
        pytest.skip(f"Python {sys.version.split()[0]} itself crashes where an allocation fails")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("program", list(ALLOCATIONS))
@pytest.mark.usefixtures("python_survives")
def test_a_program_goes_on_where_some_allocations_failed(program: str) -> None:
    count = 40
    said = run(program, 0, ALLOCATIONS[program] // count, count, 100.0)
    assert not said["problems"], "\n".join(said["problems"])
    assert said["ended"] > 5


@pytest.mark.slow
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("program", list(ALLOCATIONS))
def test_a_program_goes_on_wherever_an_allocation_failed(
    program: str, record_property: Callable[[str, object], None]
) -> None:
    said = run(program, 0, 1, ALLOCATIONS[program], 900.0)
    record_property("runs that ended with an error", said["ended"])
    assert not said["problems"], "\n".join(said["problems"])
