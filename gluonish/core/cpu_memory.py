"""Memory of the CPU: what is free, and what a control group allows.

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
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gluonish.core.config import is_set


class MemoryInfo(NamedTuple):
    """Memory of a device, in bytes.

    Attributes:
        free: What the driver or the system could still give.
        total: What the device has.
        used: What this process has in use: on a GPU, blocks of arrays; on a CPU, all that the C
            library gave out.
        held: What it keeps for later arrays, and `Context.empty_cache` gives back.
        peak: On a GPU, the most that was used at once; on a CPU, the most that was resident.
    """

    free: int
    total: int
    used: int
    held: int
    peak: int

    @property
    def reserved(self) -> int:
        """Used and held together: what the process has of the device."""
        return self.used + self.held


ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
# Without a limit, the older control groups say the largest number of pages there is.
_NO_LIMIT = 1 << 60


class MemoryBound(NamedTuple):
    """What a group bounds memory to, in bytes.

    Attributes:
        folder: Where the group is described.
        limit: What all its processes may have together.
        free: How much of that they could still get.
    """

    folder: Path
    limit: int
    free: int


def control_groups(root: Path, own: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the groups around this process, whose limits all hold, innermost first.

    Version 2 has one tree for everything, version 1 one for each controller; both may be mounted. A
    container may see its own group as the root, under a path that leads nowhere.

    Args:
        root: Where the control groups are mounted.
        own: Which groups this process is in, as Linux lists them.
        controller: ``"cpu"`` or ``"memory"``.
    """
    for line in _text(own).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        trees = [root / controllers, root / controller] if controllers else [root, root / "unified"]
        for tree in dict.fromkeys(trees):
            group = tree / path.lstrip("/")
            yield from (one for one in (group, *group.parents) if one.is_relative_to(tree))


def memory_bounds() -> list[MemoryBound]:
    """Return what bounds this process's memory; nothing where no group sets a limit."""
    found = []
    for folder in control_groups(ROOT, OWN, "memory"):
        limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
        used = _number(folder / "memory.current", folder / "memory.usage_in_bytes")
        if limit is not None and used is not None and limit < _NO_LIMIT:
            # Pages of files on disk are given up before anybody is killed.
            rows = (line.split() for line in _text(folder / "memory.stat").splitlines())
            pages = {"active_file", "inactive_file"}
            cached = sum(int(row[1]) for row in rows if len(row) == 2 and row[0] in pages)
            found.append(MemoryBound(folder, limit, max(0, limit - used + cached)))
    return found


def _number(*paths: Path) -> int | None:
    """Return the number in the first of some files that holds one."""
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
