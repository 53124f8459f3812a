"""Slabs: memory for many arrays that are written once and live together, such as weights.

The system gives memory at the first write to each page. On Linux NumPy asks for pages of 2 MB for
arrays of at least 4 MB, which are fast to use, but take the longer to get the more fragmented the
memory is: a second for 500 MB on a machine that has run for some hours, 0.3 seconds with pages of
4 KB. So these arrays get small pages, which Linux may join in the background when they are written.
"""

import mmap
from types import TracebackType
from typing import Any

import numpy as np

from gluonish.core.file_map import AnonymousMap

Array = np.ndarray[Any, Any]

_SLAB_NBYTES = 32 << 20
_MIN_NBYTES = 1 << 12  # A smaller array shares its pages with others in any case.
_ALIGNMENT = 64  # a cache line, and the widest vector register
_CAN_MAP = hasattr(mmap, "MADV_HUGEPAGE")


class Slabs:
    """Allocates arrays next to each other; a slab's memory is freed with its last array.

    Use it as a context manager, which the arrays outlive.

    Args:
        nbytes: About how much will be allocated; the first slab is not larger.
    """

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes
        self._free: Array = np.empty(0, np.uint8)
        self._written: list[mmap.mmap] = []

    def __enter__(self) -> "Slabs":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for memory in self._written:
            try:
                memory.madvise(mmap.MADV_HUGEPAGE)
            except OSError:  # a kernel without large pages
                break
        self._written.clear()

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return a contiguous array whose values are not set.

        Args:
            shape: Its shape.
            dtype: Its element type.

        Raises:
            MemoryError: There is not enough memory.
        """
        kind = np.dtype(dtype)
        nbytes = kind.itemsize
        for size in shape:
            nbytes *= size
        if nbytes < _MIN_NBYTES or not _CAN_MAP:
            return np.empty(shape, kind)
        taken = -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        self._nbytes -= taken
        if taken > _SLAB_NBYTES // 2:
            part = self._map(taken)
        else:
            if taken > len(self._free):
                self._free = self._map(taken + max(0, min(_SLAB_NBYTES - taken, self._nbytes)))
            part, self._free = self._free[:taken], self._free[taken:]
        return part[:nbytes].view(kind).reshape(shape)

    def _map(self, nbytes: int) -> Array:
        try:
            memory = AnonymousMap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError as error:
            raise MemoryError(f"Unable to allocate {nbytes} bytes") from error
        self._written.append(memory)
        return np.frombuffer(memory, np.uint8)
