"""The folder of compiled kernels on disks that are full or read-only, and with two users."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attack.processes import run_program
from tests.attack.test_full_disk import UNSHARE, can_mount

PROGRAM = ("-m", "tests.attack.kernel_cache_program")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes another user"
)
def test_each_of_two_users_has_own_kernels_or_none(
    record_property: Callable[[str, object], None],
) -> None:
    with tempfile.TemporaryDirectory() as folder:  # where the other user gets to
        Path(folder).chmod(0o755)
        said = run_program(*PROGRAM, "users", folder, timeout_s=200)
    record_property("tried", said["tried"])
    assert said["tried"] > 20
    assert said["problems"] == []


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="no mount namespace for this user")
def test_kernels_are_right_and_whole_whatever_the_disk_takes(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    program = " ".join((sys.executable, *PROGRAM, "disk", str(tmp_path)))
    script = f"mount -t tmpfs -o size=2m none {tmp_path} && exec {program}"
    said = run_program(*UNSHARE, "sh", "-c", script, timeout_s=200)
    record_property("tried", said["tried"])
    assert said["tried"] > 20
    assert said["problems"] == []
