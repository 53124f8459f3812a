"""The folder of compiled kernels on disks that are full or read-only, and with two users."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attack.test_full_disk import UNSHARE, can_mount

ROOT = Path(__file__).parents[2]


def run(command: list[str]) -> dict[str, Any]:
    """Run the attack and return what it says."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'engine'}"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes another user"
)
def test_each_of_two_users_has_own_kernels_or_none(
    record_property: Callable[[str, object], None],
) -> None:
    with tempfile.TemporaryDirectory() as folder:  # where the other user gets to
        Path(folder).chmod(0o755)
        said = run([sys.executable, "-m", "tests.attack.kernel_cache_program", "users", folder])
    record_property("tried", said["tried"])
    assert said["tried"] > 20
    assert said["problems"] == []


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="no mount namespace for this user")
def test_kernels_are_right_and_whole_whatever_the_disk_takes(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    program = f"{sys.executable} -m tests.attack.kernel_cache_program disk {tmp_path}"
    script = f"mount -t tmpfs -o size=2m none {tmp_path} && exec {program}"
    said = run([*UNSHARE, "sh", "-c", script])
    record_property("tried", said["tried"])
    assert said["tried"] > 20
    assert said["problems"] == []
