"""Files as memory, for those who ask for it: mapped copy-on-write, what is not used is never read.

A write to the memory makes a copy of the page that it is on, and never reaches the file. A file
that is replaced, as all files of gluonish are (`gluonish.core.files.atomic_write`), lives on in the
memory. One that somebody writes into in place changes there too, and if it gets shorter, whoever
uses what it lost is ended by the system (SIGBUS), pages that were written to included; no library
can tell beforehand. So files are read, and mapped only where the caller or `GLUONISH_MAP_FILES`
says so; and what a network keeps is copied in any case (`Parameter`).
"""

import mmap
import os
import stat
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.config import GLUONISH_MAP_FILES

# Reading so little costs less than what a map needs: a file that stays open in the system.
_LEAST_NBYTES = 1 << 20


def private_map(file: BinaryIO, wanted: bool | None = None) -> mmap.mmap | None:
    """Map a file that is open for reading, from its first byte to what is its last one now.

    The memory may be written to, and stays when the file is closed.

    Args:
        wanted: Whether to map it; None for what `GLUONISH_MAP_FILES` says.

    Returns:
        The memory; None if it is not wanted, for a small file, for what is no ordinary file, and
        for a system that cannot map it (or, as Windows, not replace what is mapped).
    """
    if os.name != "posix" or not (GLUONISH_MAP_FILES.value if wanted is None else wanted):
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
