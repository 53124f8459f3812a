"""Memory-mapped files: copy-on-write, and opt-in.

A write to the memory copies its page and never reaches the file. If a file is replaced, as
`gluonish.core.files.atomic_write` does, the memory keeps the old content. If another process writes
to the file in place, the memory changes, too; and if it truncates the file, an access to the lost
pages kills this process (SIGBUS), which no library can prevent. So files are read, unless the
caller or `GLUONISH_MAP_FILES` requests a map; and a network copies its weights in any case
(`Parameter`).
"""

import mmap
import os
import stat
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np

from gluonish.core.config import GLUONISH_MAP_FILES
from gluonish.core.operating_system import WINDOWS

# A smaller file is read: a map would cost more.
_LEAST_NBYTES = 1 << 20


def private_map(file: BinaryIO, enabled: bool | None = None) -> mmap.mmap | None:
    """Map a file that is open for reading.

    The memory is writable, and outlives the file object.

    Args:
        enabled: Whether to map it; None for the value of `GLUONISH_MAP_FILES`.

    Returns:
        The memory; None if disabled, for a small or special file, and on systems that cannot map
        it, or cannot replace a mapped file (Windows).
    """
    if WINDOWS or not (GLUONISH_MAP_FILES.value if enabled is None else enabled):
        return None
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size < _LEAST_NBYTES:
            return None
        return mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):  # not a file of the system, or not mappable
        return None


class AnonymousMap(mmap.mmap):
    """Memory of no file, which the system gives directly, and which no allocator counts.

    Args:
        nbytes: The size.

    Raises:
        OSError: The system has no such memory.
        OverflowError: No system has it.
    """

    _sizes: ClassVar[dict[int, int]] = {}  # in bytes, of all that exist

    def __new__(cls, nbytes: int) -> Self:
        """Map the memory."""
        made = super().__new__(cls, -1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        cls._sizes[id(made)] = nbytes
        return made

    def __del__(self) -> None:
        self._sizes.pop(id(self), None)

    @classmethod
    def total_nbytes(cls) -> int:
        """Return the size of all of them together."""
        return sum([*cls._sizes.values()])  # a copy, as other threads may add some


def memory_of(raw: Any) -> Any:
    """Return the object that owns the memory of a raw array."""
    while isinstance(raw, np.ndarray) and raw.base is not None:
        raw = raw.base
    return raw.obj if isinstance(raw, memoryview) else raw


def is_mapped(raw: Any) -> bool:
    """Whether the memory of a raw array is a mapped file."""
    memory = memory_of(raw)
    return isinstance(memory, mmap.mmap) and not isinstance(memory, AnonymousMap)
