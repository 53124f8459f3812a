"""Memory in small pages at first: of weights that are loaded together, and of single large arrays.

Linux gives memory at the first write to each page. Pages of 2 MB, which NumPy asks for where an
array has at least 4 MB, make products of one row 5 to 10 % faster than pages of 4 KB; but they are
slow to get on a machine that has run for some hours: they must be found first, and a virtual
machine that returns free memory to its host gets it back slowly (measured: 2.7 seconds
for a GB; the scattered small pages that it keeps take 0.27). So these arrays get
small pages, and some seconds later, when the first results are there, a thread asks Linux to put
large pages in their place.
"""

import ctypes
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Thread
from typing import Any
from weakref import ref

import numpy as np

from gluonish.core.file_map import AnonymousMap, memory_of
from gluonish.core.operating_system import LINUX

Array = np.ndarray[Any, Any]

_SLAB_NBYTES = 32 << 20
_MIN_NBYTES = 1 << 12  # A smaller array shares its pages with others in any case.
_ALIGNMENT = 64  # a cache line, and the widest vector register
_DELAY = 3.0  # seconds until large pages are asked for
_LONGER_DELAY = 10.0  # of arrays for training: after the first steps
_STEP_NBYTES = 2 << 20
LARGE_NBYTES = 4 << 20  # from which NumPy asks for large pages
_COMMIT_NBYTES = 32 << 20
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14
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
        self._maps: list[tuple[ref[AnonymousMap], int]] = []  # with their sizes

    def __enter__(self) -> "Slabs":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._free = np.empty(0, np.uint8)
        _join_later(self._maps, _DELAY)

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
        self._maps.append((ref(memory), nbytes))
        return np.frombuffer(memory, np.uint8)


def small_pages(
    shape: tuple[int, ...], dtype: Any, *, join: bool = False, commit: bool = False
) -> Array:
    """Return zeros for long use, at a cache line; large arrays get small pages at first.

    Args:
        shape: The shape.
        dtype: The element type.
        join: Whether to ask for large pages some seconds later.
        commit: Whether to commit the memory now, rather than page by page at the first use. Values
            that are read before they are written would otherwise cost two page faults a page.

    Raises:
        MemoryError: There is not enough memory.
    """
    kind = np.dtype(dtype)
    nbytes = math.prod(shape) * kind.itemsize
    if nbytes < LARGE_NBYTES or not LINUX:
        return _aligned_zeros(shape, kind, nbytes)
    memory = _mapped(nbytes)
    values: Array = np.frombuffer(memory, np.uint8)[:nbytes]
    if commit:
        _advise(values.ctypes.data, nbytes, _POPULATE_WRITE, _COMMIT_NBYTES)
    if join:
        _join_later([(ref(memory), nbytes)], _LONGER_DELAY)
    found: Array = values.view(kind).reshape(shape)
    return found


def _aligned_zeros(shape: tuple[int, ...], kind: Any, nbytes: int) -> Array:
    """Return zeros that begin at a cache line, unless they are few.

    NumPy's begin at a multiple of 16 bytes, and every other vector that is read or written is in
    two lines then: a step of a small network took 1.15 times as long.
    """
    if nbytes < _MIN_NBYTES:
        return np.zeros(shape, kind)
    memory = np.zeros(nbytes + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    found: Array = memory[start : start + nbytes].view(kind).reshape(shape)
    return found


def commit_soon(arrays: Iterable[Any]) -> None:
    """Have a thread commit the memory of arrays that `small_pages` returned; ignore others."""
    found = [x for x in map(memory_of, arrays) if isinstance(x, AnonymousMap)]
    if found:
        _start(_commit, found)


def _mapped(nbytes: int) -> AnonymousMap:
    # Since version 6.7, Linux aligns a multiple of large pages to them.
    whole = -(-nbytes // _STEP_NBYTES) * _STEP_NBYTES
    try:
        return AnonymousMap(whole)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"Unable to allocate {nbytes} bytes") from error


def _start(work: Callable[..., None], *arguments: Any) -> Thread | None:
    thread = Thread(target=work, args=arguments, name="gluonish pages", daemon=True)
    with suppress(RuntimeError):  # no thread can start
        thread.start()
        return thread
    return None


_waiting: deque[tuple[float, ref[AnonymousMap], int]] = deque()  # when, and how many bytes


class _State:
    joining: Thread | None = None


def _join_later(maps: Iterable[tuple[ref[AnonymousMap], int]], delay: float) -> None:
    """Have a thread join the pages of maps and sizes after a delay; one thread does so for all."""
    due = time.monotonic() + delay
    _waiting.extend((due, *one) for one in maps)
    if _waiting and not (_State.joining is not None and _State.joining.is_alive()):
        _State.joining = _start(_join_waiting)


def _join_waiting() -> None:
    """Put large pages in the place of small ones, where Linux can; values do not change."""
    with suppress(IndexError):  # none is left
        while True:
            due, found, nbytes = _waiting.popleft()
            time.sleep(max(0.0, due - time.monotonic()))
            memory = found()
            if memory is not None:
                _join(_span(memory)[0], nbytes)
            del memory  # it may be freed while the others are joined


def _join(address: int, nbytes: int) -> None:
    # Linux takes whole large pages only, and one behind the values would commit memory.
    start = -(-address // _STEP_NBYTES) * _STEP_NBYTES
    _advise(start, address + nbytes - start, _COLLAPSE, _STEP_NBYTES)


def _commit(maps: Iterable[AnonymousMap]) -> None:
    # Few calls, as this thread waits for the interpreter's lock after each.
    spans = sorted(map(_span, maps))
    start, nbytes = spans[0]
    for following, more in spans[1:]:
        if following != start + nbytes:
            _advise(start, nbytes, _POPULATE_WRITE, _COMMIT_NBYTES)
            start, nbytes = following, 0
        nbytes += more
    _advise(start, nbytes, _POPULATE_WRITE, _COMMIT_NBYTES)


def _span(memory: AnonymousMap) -> tuple[int, int]:
    """Return the address and the size of memory."""
    values: Array = np.frombuffer(memory, np.uint8)
    return values.ctypes.data, values.nbytes


def _advise(address: int, nbytes: int, advice: int, most: int) -> None:
    """Advise Linux on whole pages, on ``most`` bytes at a time: meanwhile no thread maps memory."""
    advise = ctypes.CDLL(None).madvise  # that of `mmap` would hold the interpreter's lock
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for start in range(address, address + nbytes, most):
        advise(start, min(most, address + nbytes - start), advice)
