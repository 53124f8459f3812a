"""CPU memory: how much is free, limits of control groups, and caching of freed memory.

By default glibc returns most memory to the system at once, and the next array of that size pays a
page fault for every 4 KiB, including the zeroing: a fifth of all processor time in eager LeNet
training, two thirds when adding arrays of 8 MiB. `cache_freed_memory` makes glibc keep memory that
was freed at the end of the heap for the next arrays, up to an eighth of the machine's memory and
2 GiB. Arrays above 32 MiB, glibc's maximum, are returned at once. Other C libraries are left alone,
and so is glibc if the user has set its variables.
"""

import ctypes
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gluonish.core.config import is_set
from gluonish.core.file_map import AnonymousMap
from gluonish.core.operating_system import LINUX, machine_nbytes


class MemoryInfo(NamedTuple):
    """Memory of a device, in bytes.

    Attributes:
        free: Memory that the driver or the system can still allocate.
        total: Memory of the device.
        used: Memory in use by this process: on a GPU, blocks of arrays; on a CPU, all allocations
            of the C library, and arrays in memory of their own.
        held: Cached memory, which `Context.empty_cache` releases.
        peak: Maximum of ``used`` on a GPU; of resident memory on a CPU.
    """

    free: int
    total: int
    used: int
    held: int
    peak: int

    @property
    def reserved(self) -> int:
        """Memory of the device that this process occupies: used plus held."""
        return self.used + self.held


ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
# Without a limit, control groups of version 1 report the largest number of pages.
_NO_LIMIT = 1 << 60


class MemoryBound(NamedTuple):
    """Memory limit of a control group, in bytes.

    Attributes:
        folder: The group's folder.
        limit: Limit for all its processes together.
        free: The unused part of the limit.
    """

    folder: Path
    limit: int
    free: int


def control_groups(root: Path, own: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the control groups of this process, innermost first; all limits apply.

    Version 2 has one tree, version 1 one for each controller; both may be mounted. A container may
    see its own group as the root, although the listed path does not exist.

    Args:
        root: Where the control groups are mounted.
        own: The file that lists the groups of this process.
        controller: ``"cpu"`` or ``"memory"``.
    """
    for line in _text(own).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        trees = [root / controllers, root / controller] if controllers else [root, root / "unified"]
        for tree in dict.fromkeys(trees):
            group = tree / path.lstrip("/")
            yield from (path for path in (group, *group.parents) if path.is_relative_to(tree))


def memory_bounds() -> list[MemoryBound]:
    """Return the memory limits of this process's control groups."""
    found = []
    for folder in control_groups(ROOT, OWN, "memory"):
        limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
        used = _number(folder / "memory.current", folder / "memory.usage_in_bytes")
        if limit is not None and used is not None and limit < _NO_LIMIT:
            # The kernel drops pages of files on disk before it kills a process.
            rows = (line.split() for line in _text(folder / "memory.stat").splitlines())
            pages = {"active_file", "inactive_file"}
            cached = sum(int(row[1]) for row in rows if len(row) == 2 and row[0] in pages)
            found.append(MemoryBound(folder, limit, max(0, limit - used + cached)))
    return found


def _number(*paths: Path) -> int | None:
    """Return the number from the first file that has one."""
    texts = (_text(path).strip() for path in paths)
    return next((int(text) for text in texts if text.isdecimal()), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# Parameters of mallopt.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3

_LARGEST_ON_HEAP = 32 << 20  # bytes; the maximum that glibc accepts
_LARGEST_INT = (1 << 31) - 1
_SHARE = 8  # cache at most 1/8 of the memory

_DECIDED_BY = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def _glibc() -> ctypes.CDLL | None:
    if not LINUX:
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None


def cached_limit() -> int:
    """Return the maximum number of bytes of freed memory to cache."""
    memory = min([machine_nbytes(), *(bound.limit for bound in memory_bounds())])
    return min(memory // _SHARE, _LARGEST_INT)


@cache
def cache_freed_memory() -> bool:
    """Make glibc cache freed memory for the next arrays.

    Returns:
        Whether it does now; False with another C library, or if the user set glibc's variables.
    """
    library = _glibc()
    if library is None or is_set(*_DECIDED_BY):
        return False
    both = (_MMAP_THRESHOLD, _LARGEST_ON_HEAP), (_TRIM_THRESHOLD, cached_limit())
    return all(library.mallopt(name, value) for name, value in both)


def release_freed_memory(least: int = 0) -> None:
    """Release freed memory to the system, if the C library supports it.

    Args:
        least: How many bytes there must be; counting them takes less time than releasing them.
    """
    library = _glibc()
    if library is None:
        return
    counter = _counter()
    if least and counter is not None and counter().free < least:
        return
    library.malloc_trim(0)


class _Counts(ctypes.Structure):
    """The result of glibc's ``mallinfo2``: sizes in bytes, and numbers of blocks."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("heap", "free_blocks", "fast_blocks", "mappings", "mapped"),
            *("unused", "fast_free", "in_use", "free", "top"),
        )
    ]


@cache
def _counter() -> Callable[[], _Counts] | None:
    """Return glibc's ``mallinfo2``; None before 2.33 and with other libraries."""
    library = _glibc()
    if library is None or not hasattr(library, "mallinfo2"):
        return None
    function = library.mallinfo2
    function.restype = _Counts
    count: Callable[[], _Counts] = function
    return count


def memory_info() -> MemoryInfo:
    """Return the memory of the machine and of this process.

    Limits of control groups apply to total and free memory. Without glibc's counts, ``used`` is the
    resident memory and ``held`` is 0; without ``/proc`` only the total is known.
    """
    bounds, machine = memory_bounds(), machine_nbytes()
    total = min([machine, *(bound.limit for bound in bounds)])
    available = _kibibytes("/proc/meminfo", "MemAvailable", total)
    available = min([total, available, *(bound.free for bound in bounds)])
    peak = _kibibytes("/proc/self/status", "VmHWM", 0)
    counter = _counter()
    if counter is None:
        return MemoryInfo(available, total, _kibibytes("/proc/self/status", "VmRSS", 0), 0, peak)
    counts = counter()
    used = counts.in_use + counts.mapped + AnonymousMap.total_nbytes()
    return MemoryInfo(available, total, used, counts.free, peak)


def _kibibytes(path: str, name: str, missing: int) -> int:
    """Return an entry of a file in /proc, in bytes; ``missing`` if there is no such entry."""
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return missing
