"""Imports at the first use: whatever comes in their middle, the next use finds them whole."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.attack.processes import run_program

MODES = ("fail", "inside", "signal")
SECONDS = 1200.0


def run(mode: str, seconds: float, seed: int) -> dict[str, Any]:
    """Run the attack and return what it says."""
    program = ("-m", "tests.attack.half_imports", mode, seconds, seed)
    return run_program(*program, timeout_s=seconds + 250)


@pytest.mark.timeout(260)
@pytest.mark.parametrize("mode", MODES)
def test_a_few_half_imports_are_whole_at_the_next_use(mode: str) -> None:
    seed = int(time.time() // 3600)  # others each hour
    said = run(mode, 1.5, seed)
    assert said["tried"], seed
    assert said["broke"] == [], seed


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 300)
@pytest.mark.parametrize("mode", MODES)
def test_half_imports_are_whole_at_the_next_use(
    mode: str, record_property: Callable[[str, object], None]
) -> None:
    said = run(mode, SECONDS, 33)
    record_property("modules", said["modules"])
    record_property("tried", said["tried"])
    assert said["broke"] == []
