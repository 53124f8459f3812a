"""Scratch: the memory for temporaries of kernels that are captured as CUDA graphs.

Graphs are launched on one stream, so that one finishes before the next begins, and no temporary
outlives its graph. So all graphs share one block. During a capture each temporary gets the lowest
bytes that are free (`Ranges`), and freed neighbours merge. Kernels free their temporaries before
the next kernel runs, and therefore a capture needs hardly more than its largest kernel.

The block is from the device's pool. Its size is only known when a capture has ended, so a capture
that needs more than there is allocates the rest from the pool for the moment, and is repeated with
a larger block. Each graph holds the block of its capture, which is freed with the last of them.
"""

import weakref
from collections import deque
from collections.abc import Hashable
from types import ModuleType
from typing import Any

from gluonish.kernels.cupy.pool import Pool
from gluonish_engine import Block

_ALIGNMENT = 512  # bytes, as in CuPy's pool


class Ranges:
    """Allocates ranges of bytes, each at the lowest offset that is free.

    Invariant: one thread allocates. A range is freed by one append to a deque, which is safe
    wherever the garbage collector runs; the next allocation makes it available.

    Attributes:
        end: Largest end of a range so far, in bytes.
    """

    __slots__ = ("_freed", "_taken", "end")

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []  # start and end of each, in order
        self._freed: deque[int] = deque()
        self.end = 0

    def allocate(self, nbytes: int) -> tuple[int, int]:
        """Return offset and size of a new range of at least ``nbytes`` bytes."""
        self._sort_in()
        size = -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        start, position = 0, 0
        for begin, end in self._taken:
            if begin - start >= size:
                break
            start, position = end, position + 1
        self._taken.insert(position, (start, start + size))
        self.end = max(self.end, start + size)
        return start, size

    def free(self, offset: int) -> None:
        """Free the range that starts at ``offset``."""
        self._freed.append(offset)

    @property
    def nbytes(self) -> int:
        """Size of all allocated ranges in bytes."""
        self._sort_in()
        return sum(end - start for start, end in self._taken)

    def _sort_in(self) -> None:
        while self._freed:
            offset = self._freed.popleft()
            self._taken = [taken for taken in self._taken if taken[0] != offset]


class Segment:
    """A block of the pool, freed when the last graph that uses it is gone.

    Attributes:
        nbytes: Size in bytes.
        ptr: Address.
    """

    __slots__ = ("__weakref__", "_block", "_pool", "nbytes", "ptr")

    def __init__(self, pool: Pool, block: Block[Any]) -> None:
        self._pool = pool
        self._block = block
        self.nbytes = block.nbytes
        self.ptr = block.raw.ptr

    def __del__(self) -> None:
        self._pool.free(self._block)


class _Owner:
    """Owns the bytes of a temporary, and frees them when its last view is destroyed."""

    __slots__ = ("_offset", "_ranges", "_segment")

    def __init__(self, ranges: Ranges, offset: int, segment: Segment) -> None:
        self._ranges = ranges
        self._offset = offset
        self._segment = segment

    def __del__(self) -> None:
        self._ranges.free(self._offset)


class Temporaries:
    """Memory for the temporaries of one capture.

    Attributes:
        fits: Whether all of them were in the block so far.
        segment: The block; None if there is none yet.
    """

    __slots__ = ("_ranges", "_scratch", "fits", "segment")

    def __init__(self, scratch: "Scratch") -> None:
        self._scratch = scratch
        self._ranges = Ranges()
        self.segment = scratch.segment
        self.fits = True

    @property
    def needed(self) -> int:
        """Size of the block that the capture needs so far, in bytes."""
        return self._ranges.end

    @property
    def nbytes(self) -> int:
        """Size of the temporaries that still exist, in bytes."""
        return self._ranges.nbytes

    def allocate_pointer(self, nbytes: int) -> Any:
        """Allocate memory for CuPy; return a MemoryPointer.

        Raises:
            MemoryError: There is too little memory.
        """
        scratch = self._scratch
        if not nbytes:
            return scratch.default.malloc(0)
        offset, size = self._ranges.allocate(nbytes)
        segment, start = self.segment, offset
        if segment is None or offset + size > segment.nbytes:
            self.fits = False
            try:
                segment, start = scratch.allocate(size), 0
            except MemoryError:
                self._ranges.free(offset)
                raise
        owner = _Owner(self._ranges, offset, segment)
        memory = scratch.cuda.UnownedMemory(segment.ptr + start, size, owner, scratch.number)
        return scratch.cuda.MemoryPointer(memory, 0)


class Scratch:
    """The memory for temporaries of all graphs of one stream.

    Args:
        device: CuPy's Device.
        pool: The device's memory pool.
        stream: Key of the stream in the pool, on which the graphs are launched.

    Attributes:
        default: CuPy's own pool, for arrays without elements.
        number: Number of the device.
    """

    __slots__ = ("_latest", "_living", "_pool", "_stream", "cuda", "default", "number")

    def __init__(self, cupy: ModuleType, device: Any, pool: Pool, stream: Hashable) -> None:
        self.cuda = cupy.cuda
        self.default = cupy.get_default_memory_pool()
        self.number = device.id
        self._pool = pool
        self._stream = stream
        self._living: weakref.WeakSet[Segment] = weakref.WeakSet()
        self._latest: weakref.ref[Segment] | None = None

    @property
    def segment(self) -> Segment | None:
        """The block for new captures; None if no graph holds one."""
        return None if self._latest is None else self._latest()

    @property
    def nbytes(self) -> int:
        """Size of all blocks in bytes."""
        return sum(segment.nbytes for segment in tuple(self._living))

    def allocate(self, nbytes: int) -> Segment:
        """Allocate memory from the pool.

        Raises:
            MemoryError: The device has too little memory.
        """
        made = Segment(self._pool, self._pool.allocate(nbytes, self._stream))
        self._living.add(made)
        return made

    def grow(self, nbytes: int) -> Segment:
        """Allocate a larger block for new captures, after releasing the memory that is cached.

        The caller keeps the result until a graph holds it.

        Raises:
            MemoryError: The device has too little memory.
        """
        self._pool.release()  # blocks of the temporaries that calls without graphs had
        made = self.allocate(nbytes)
        self._latest = weakref.ref(made)
        return made
