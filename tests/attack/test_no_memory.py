"""One allocation of Python's fails, each in turn: a program ends with an error or goes on.

It never hangs, and afterwards everything works as before. CPython's own tests count and refuse
allocations; each run here is a process of its own, so that a hang ends with the stacks of all
threads.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("_testcapi", reason="this Python comes without CPython's test module")

ROOT = Path(__file__).parents[2]
# How many allocations each program makes, about, in this process and its workers.
ALLOCATIONS = {"pushes": 500, "gradients": 700, "sgd": 2000, "adam": 1000, "loader": 200}


def run(program: str, first: int, step: int, count: int, timeout_s: float) -> dict[str, Any]:
    """Run a program and return what it says."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.attack.no_memory_program", program),
            *map(str, (first, step, count)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'engine'}"},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-4000:]}"
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.mark.timeout(120)
@pytest.mark.parametrize("program", list(ALLOCATIONS))
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
