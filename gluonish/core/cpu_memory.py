"""What the C library does with memory that arrays on the CPU gave back.

glibc returns most of it to the system at once, and the next array of that size pays a page fault
for every 4 KiB, and zeros that nobody reads: training LeNet eagerly, a fifth of all processor time;
adding arrays of 8 MiB, two thirds of it. Told to keep it, it serves the next array from there, at
no cost in Python. Kept is what was freed at the end of the heap, up to an eighth of the machine's
memory and 2 GiB. Arrays above 32 MiB, the largest that glibc allows, go back at once. Other C
libraries decide for themselves, and so does a user who set glibc's own variables.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache

from gluonish.core.config import is_set
from gluonish.core.control_groups import memory_bounds
from gluonish.core.memory_info import MemoryInfo

__all__ = ["keep_freed_memory", "kept_limit", "memory_info", "release_freed_memory"]

# Parameters of mallopt.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3

_LARGEST_ON_HEAP = 32 << 20  # bytes; glibc refuses more
_LARGEST_INT = (1 << 31) - 1
_SHARE = 8  # of the memory that there is

_DECIDED_BY = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None


def kept_limit() -> int:
    """Return how many bytes of freed memory are kept at most."""
    memory = min([_machine_nbytes(), *(bound.limit for bound in memory_bounds())])
    return min(memory // _SHARE, _LARGEST_INT)


def _machine_nbytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@cache
def keep_freed_memory() -> bool:
    """Have glibc keep freed memory for the next arrays.

    Returns:
        Whether it does so now; False with another C library, and where glibc's variables are set.
    """
    library = _glibc()
    if library is None or is_set(*_DECIDED_BY):
        return False
    both = (_MMAP_THRESHOLD, _LARGEST_ON_HEAP), (_TRIM_THRESHOLD, kept_limit())
    return all(library.mallopt(name, value) for name, value in both)


def release_freed_memory() -> None:
    """Give freed memory back to the system, where the C library can be asked to."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


class _Counts(ctypes.Structure):
    """What glibc's ``mallinfo2`` returns: ten sizes, of which some are numbers of blocks."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("heap", "free_blocks", "fast_blocks", "mappings", "mapped"),
            *("unused", "fast_free", "in_use", "free", "top"),
        )
    ]


@cache
def _counter() -> Callable[[], _Counts] | None:
    """Return glibc's function for its counts, None before 2.33 and elsewhere."""
    library = _glibc()
    if library is None or not hasattr(library, "mallinfo2"):
        return None
    function = library.mallinfo2
    function.restype = _Counts
    count: Callable[[], _Counts] = function
    return count


def memory_info() -> MemoryInfo:
    """Return the memory of the machine and of this process.

    Control groups, as of a container, bound what is there and what is free. Without glibc's counts,
    what is used is what is resident, and 0 is held; where the system has no ``/proc`` either,
    nothing is known but the total.
    """
    bounds, machine = memory_bounds(), _machine_nbytes()
    total = min([machine, *(bound.limit for bound in bounds)])
    available = _kibibytes("/proc/meminfo", "MemAvailable", total)
    available = min([total, available, *(bound.free for bound in bounds)])
    peak = _kibibytes("/proc/self/status", "VmHWM", 0)
    counter = _counter()
    if counter is None:
        return MemoryInfo(available, total, _kibibytes("/proc/self/status", "VmRSS", 0), 0, peak)
    counts = counter()
    return MemoryInfo(available, total, counts.in_use + counts.mapped, counts.free, peak)


def _kibibytes(path: str, name: str, missing: int) -> int:
    """Return a line of a file of the kernel's, in bytes."""
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return missing
