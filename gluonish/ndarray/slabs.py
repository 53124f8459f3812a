"""Slabs: memory for many arrays that are written once and live together, such as weights.

Linux gives memory at the first write to each page. Pages of 2 MB, which NumPy asks for where an
array has at least 4 MB, make products of one row 5 to 10 % faster than pages of 4 KB; but they must
be found first, which takes a second for 500 MB where memory is fragmented, as on a machine that has
run for some hours. So these arrays get small pages, and some seconds later, when the first results
are there, a thread asks Linux to put large pages in their place. So do single arrays that live long
(`small_pages`).
"""

import ctypes
import math
import mmap
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import Any
from weakref import ref

import numpy as np

from gluonish.core.file_map import AnonymousMap
from gluonish.core.operating_system import LINUX

Array = np.ndarray[Any, Any]

_SLAB_NBYTES = 32 << 20
_MIN_NBYTES = 1 << 12  # A smaller array shares its pages with others in any case.
_ALIGNMENT = 64  # a cache line, and the widest vector register
_DELAY = 3.0  # seconds until large pages are asked for
_STEP_NBYTES = 2 << 20
LARGE_NBYTES = 4 << 20  # from which NumPy asks for large pages
_COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1


class Slabs:
    """Allocates arrays next to each other; a slab's memory is freed with its last array.

    Use it as a context manager, which the arrays outlive.

    Args:
        nbytes: About how much will be allocated; the first slab is not larger.
    """

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes
        self._free: Array = np.empty(0, np.uint8)
        self._maps: list[ref[AnonymousMap]] = []

    def __enter__(self) -> "Slabs":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._free = np.empty(0, np.uint8)
        if self._maps:
            _join_later(self._maps)

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
        if nbytes < _MIN_NBYTES or not LINUX:
            return np.empty(shape, kind)
        taken = -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        self._nbytes -= taken
        if taken > _SLAB_NBYTES // 2:
            part = self._map(taken)
        else:
            if taken > len(self._free):
                self._free = self._map(taken + max(0, min(_SLAB_NBYTES - taken, self._nbytes)))
            part, self._free = self._free[:taken], self._free[taken:]
        found: Array = part[:nbytes].view(kind).reshape(shape)
        return found

    def _map(self, nbytes: int) -> Array:
        memory = _mapped(nbytes)
        self._maps.append(ref(memory))
        return np.frombuffer(memory, np.uint8)


def small_pages(shape: tuple[int, ...], dtype: Any, *, join: bool = False) -> Array:
    """Return zeros for long use, whose memory is committed at first use, without large pages.

    Args:
        shape: The shape.
        dtype: The element type.
        join: Whether to ask for large pages some seconds later: for operands of products.

    Raises:
        MemoryError: There is not enough memory.
    """
    kind = np.dtype(dtype)
    nbytes = math.prod(shape) * kind.itemsize
    if nbytes < LARGE_NBYTES or not _CAN_MAP:
        return np.zeros(shape, kind)
    memory = _mapped(-(-nbytes // _STEP_NBYTES) * _STEP_NBYTES)
    if join:
        _join_later([ref(memory)])
    return np.frombuffer(memory, np.uint8)[:nbytes].view(kind).reshape(shape)


def _mapped(nbytes: int) -> AnonymousMap:
    try:
        return AnonymousMap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"Unable to allocate {nbytes} bytes") from error


def _join_later(maps: Sequence[ref[AnonymousMap]]) -> None:
    thread = Thread(target=_join_pages, args=(maps,), name="gluonish pages", daemon=True)
    with suppress(RuntimeError):  # no thread can start
        thread.start()


def _join_pages(maps: Sequence[ref[AnonymousMap]]) -> None:
    """Put large pages in the place of small ones, where Linux can; values do not change."""
    time.sleep(_DELAY)
    for found in maps:
        memory = found()
        if memory is not None:
            _join(memory)
        del memory  # it may be freed while the others are joined


def _join(memory: AnonymousMap) -> None:
    advise = ctypes.CDLL(None).madvise  # that of `mmap` would hold the interpreter's lock
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    values: Array = np.frombuffer(memory, np.uint8)
    for start in range(0, len(values), _STEP_NBYTES):
        part = values[start : start + _STEP_NBYTES]
        advise(part.ctypes.data, len(part), _COLLAPSE)
