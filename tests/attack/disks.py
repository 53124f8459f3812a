"""Disks that are full."""

import errno
from pathlib import Path


def fill(folder: Path, free: int) -> None:
    """Write a file ``fill`` until the disk is full, then free some bytes of it again."""
    path = folder / "fill"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 12))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        file.truncate(max(0, file.tell() - free))
