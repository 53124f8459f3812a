"""Full and read-only disks under everything that writes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
UNSHARE = ["unshare", "--map-root-user", "--mount"]


def can_mount() -> bool:
    """Whether this user may have a disk in a mount namespace."""
    try:
        command = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not can_mount(), reason="no mount namespace for this user")
def test_old_files_stay_whole_and_errors_are_clear(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size=3m none {disk} && exec {sys.executable} "
        f"{Path(__file__).with_name('full_disk_program.py')} {disk}"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    result = subprocess.run(
        [*UNSHARE, "sh", "-c", script],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    record_property("full disks tried", found["tried"])
    assert not found["problems"], "\n".join(found["problems"])
