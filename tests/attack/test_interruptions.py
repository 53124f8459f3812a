"""Signals, destructors and Ctrl-C while a network trains: no hang, no false error, no dead thread.

Each run is a process of its own, so that a hang ends with the stacks of all its threads.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.attack.processes import run_program

RUNS, SECONDS = 30, 15.0
COUNTED = {"signals": "saved", "destructors": "destroyed", "ctrl_c": "interrupts"}


def run(program: str, seconds: float, seed: int) -> dict[str, Any]:
    """Run a program and return what it says."""
    command = ("-m", "tests.attack.interruptions", program, seconds, seed)
    return run_program(*command, timeout_s=seconds + 120)


@pytest.mark.timeout(280)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("program", list(COUNTED))
def test_a_short_run_goes_on(program: str, seed: int) -> None:
    said = run(program, 1.5, seed)
    assert said[COUNTED[program]] > 5
    assert said["steps"] > 5


@pytest.mark.slow
@pytest.mark.timeout(RUNS * (SECONDS + 60))
@pytest.mark.parametrize("program", list(COUNTED))
def test_long_runs_go_on(program: str, record_property: Callable[[str, object], None]) -> None:
    said = [run(program, SECONDS, seed) for seed in range(RUNS)]
    record_property("runs", len(said))
    record_property(COUNTED[program], sum(one[COUNTED[program]] for one in said))
    assert min(one["steps"] for one in said) > 5
