"""Files as memory: mapped copy-on-write, so that what is not used is never read.

A write to the memory makes a copy of the page that it is on, and never reaches the file. A file
that is replaced, as all files of gluonish are (`gluonish.core.files.atomic_write`), lives on in the
memory. One that somebody writes into in place changes there too, and if it gets shorter, whoever
uses what it lost is ended by the system (SIGBUS), pages that were written to included; no library
can tell beforehand. So what is to be trained does not stay there (`Parameter`), and
`GLUONISH_MAP_FILES` turns mapping off.
"""

import mmap
import os
import stat
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.config import GLUONISH_MAP_FILES

__all__ = ["is_mapped", "private_map"]

# Reading so little costs less than what a map needs: a file that stays open in the system.
_LEAST_NBYTES = 1 << 20


def private_map(file: BinaryIO) -> mmap.mmap | None:
    """Map a file that is open for reading, from its first byte to what is its last one now.

    The memory may be written to, and stays when the file is closed.

    Returns:
        The memory; None for a small file, for what is no ordinary file, for a system that cannot
        map it (or, as Windows, not replace what is mapped), and while `GLUONISH_MAP_FILES` is off.
    """
    if os.name != "posix" or not GLUONISH_MAP_FILES.value:
        return None
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size < _LEAST_NBYTES:
            return None
        return mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):  # no file of the system's, or one that cannot be mapped
        return None


def is_mapped(raw: Any) -> bool:
    """Whether a raw array lies in a map of a file."""
    while isinstance(raw, np.ndarray):
        raw = raw.base
    if isinstance(raw, memoryview):
        raw = raw.obj
    return isinstance(raw, mmap.mmap)
