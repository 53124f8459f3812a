"""Memory that several processes map: anonymous files, and the memory available for them.

Such a file is in memory and is passed as a descriptor; it is freed when the last process that maps
it ends. On Linux it is not part of ``/dev/shm`` (``docker --shm-size`` does not apply); the limits
are the memory of the machine and of the process's control groups. A system that runs out of memory
kills a process without a message, so the available memory is checked first, and the pages of a file
are allocated on creation.
"""

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gluonish.core.cpu_memory import memory_bounds
from gluonish.core.errors import GluonishError

# Smaller files are created without a check, which would take longer than creating the file.
_SMALL_NBYTES = 1 << 20

_PROC = Path("/proc")


class SharedMemoryError(GluonishError, MemoryError):
    """Raised if there is not enough memory to pass batches from worker processes."""


class Segment:
    """Memory mapped from a file; ``descriptor`` is closed, as the mapping has its own.

    Args:
        descriptor: Descriptor of the file.
        private: Whether writes stay in this process.
        touch: Whether to map all pages now instead of each at its first use.
    """

    def __init__(self, descriptor: int, private: bool = False, touch: bool = False) -> None:
        try:
            if touch and hasattr(mmap, "MAP_POPULATE"):
                flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
                self.memory = mmap.mmap(descriptor, 0, flags=flags)
            else:
                access = mmap.ACCESS_COPY if private else mmap.ACCESS_WRITE
                self.memory = mmap.mmap(descriptor, 0, access=access)
        finally:
            os.close(descriptor)
        self.nbytes = len(self.memory)


def new_file(nbytes: int, purpose: str, remedy: str = "free memory") -> int:
    """Create an anonymous file of zeros with its memory allocated; return its descriptor.

    Args:
        nbytes: Size of the file, in bytes.
        purpose: Purpose of the file, for the error message.
        remedy: Advice for the error message.

    Raises:
        SharedMemoryError: There is not enough memory.
    """
    if nbytes > _SMALL_NBYTES:
        available, where = available_nbytes()
        if nbytes > available:
            raise SharedMemoryError(
                f"DataLoader: expected {nbytes} bytes of shared memory for {purpose}, "
                f"got {available} in {where}; {remedy}"
            )
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("gluonish-batch")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, max(1, nbytes))
        else:
            os.ftruncate(descriptor, max(1, nbytes))
    except OSError as error:
        os.close(descriptor)
        raise SharedMemoryError(
            f"DataLoader: expected {nbytes} bytes of shared memory for {purpose}, "
            f"got {error.strerror}; {remedy}"
        ) from error
    return descriptor


def available_nbytes() -> tuple[int, str]:
    """Return the available shared memory in bytes, and the name of its limit.

    Limits that cannot be determined are ignored; without any limit the size is 2 ** 62 bytes.
    """
    return min([*_limits(), (1 << 62, "an unknown system")])


def _limits() -> Iterator[tuple[int, str]]:
    if not hasattr(os, "memfd_create"):
        folder = tempfile.gettempdir()
        yield shutil.disk_usage(folder).free, folder
    machine = _table(_PROC / "meminfo")
    if "MemAvailable:" in machine:
        yield (machine["MemAvailable:"] + machine.get("SwapFree:", 0)) * 1024, "the machine"
    for bound in memory_bounds():
        yield bound.free, f"control group {bound.folder}"


def _table(path: Path) -> dict[str, int]:
    try:
        text = path.read_text("utf-8")
    except OSError:
        return {}
    rows = (line.split() for line in text.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}
