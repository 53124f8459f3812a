"""Imports at the first use: whatever comes in their middle, the next use finds them whole."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MODES = ("fail", "inside", "signal")
SECONDS = 1200.0


def run(mode: str, seconds: float, seed: int) -> dict[str, Any]:
    """Run the attack and return what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack.half_imports", mode, str(seconds), str(seed)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'engine'}"},
        capture_output=True,
        text=True,
        timeout=seconds + 250,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


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
