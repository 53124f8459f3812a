"""SIGTERM at any point of a save: old files or new ones, whole, and nothing else is left."""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.attack.processes import run_program

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")

POINTS = 60  # operations on files, and as many lines, of each saver


def run(savers: str, points: int, seed: int) -> dict[str, Any]:
    """Run the attack and return what it says."""
    return run_program("-m", "tests.attack.terminated_saves", savers, points, seed, timeout_s=3000)


@pytest.mark.timeout(200)
def test_a_few_terminated_saves_leave_whole_files() -> None:
    seed = int(time.time() // 3600)  # others each hour
    said = run("2", 2, seed)
    assert said["tried"], seed
    assert said["broke"] == [], seed


@pytest.mark.slow
@pytest.mark.timeout(3100)
def test_terminated_saves_leave_whole_files(
    record_property: Callable[[str, object], None],
) -> None:
    said = run("all", POINTS, 33)
    record_property("tried", said["tried"])
    assert said["broke"] == []
