"""MemoryPool: a caching allocator for blocks of a device's memory.

The pool is independent of any library: a `Source` gets blocks from the driver. A *queue* orders the
work on a block (a GPU's stream): a freed block may still have pending work there, so it is reused
on the same queue only. A *strategy* rounds the size of an allocation; blocks of equal size are
interchangeable.

Invariants: a block is freed by one append to ``_returned``, which is safe wherever the garbage
collector runs; the next allocation makes it available. There is no lock, because handlers and
destructors that make arrays may run anywhere, and wait for another thread: between reading and
writing a count, or finding and removing a block, nothing else is called (docs/engine.md says why
that is enough). Empty lists stay in ``_free``, as another thread may be about to fill them.
"""

from collections import deque
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Generic, NamedTuple, Protocol, TypeVar

Raw = TypeVar("Raw")
RawOut = TypeVar("RawOut", covariant=True)
Sizes = Callable[[int], int]

_MAX_SIZES = 1024  # sizes whose rounding is remembered


class Source(Protocol[RawOut]):
    """Source of a pool's memory; a block returns to it when the block's reference count is 0."""

    def allocate(self, nbytes: int, /) -> RawOut:
        """Return new memory.

        Raises:
            MemoryError: There is not enough memory.
        """
        raise NotImplementedError

    def free_and_total(self) -> tuple[int, int]:
        """Return the driver's free and total bytes."""
        raise NotImplementedError


class Block(Generic[Raw]):
    """A block of memory, allocated until `MemoryPool.free`.

    Attributes:
        raw: The object that the source returned.
        nbytes: Size of the block, at least the requested size.
        queue: The queue that the block was allocated for.
    """

    __slots__ = ("nbytes", "queue", "raw")

    def __init__(self, raw: Raw, nbytes: int, queue: Hashable) -> None:
        self.raw = raw
        self.nbytes = nbytes
        self.queue = queue


class PoolStatistics(NamedTuple):
    """Statistics of a pool, in bytes.

    Attributes:
        used: Memory in allocated blocks.
        held: Memory in cached blocks.
        peak_used: Maximum of ``used``.
        peak_reserved: Maximum of ``used + held``.
        allocations: Number of allocations from the source.
    """

    used: int
    held: int
    peak_used: int
    peak_reserved: int
    allocations: int

    @property
    def reserved(self) -> int:
        """Used and cached bytes: the memory that the pool has from the driver."""
        return self.used + self.held


def linear_sizes(page: int, large: int) -> Sizes:
    """Return the strategy Naive: multiples of ``page``, or of ``large`` above ``large`` bytes."""

    def size_of(nbytes: int) -> int:
        paged = -(-nbytes // page) * page
        return paged if paged <= large else -(-paged // large) * large

    return size_of


def power_of_two_sizes(page: int, cutoff: int) -> Sizes:
    """Return the strategy Round: powers of two from ``page`` on; above 2**cutoff, multiples of it.

    There are fewer sizes than in Naive, so more blocks are reused; each wastes up to half its size.
    """
    least = (page - 1).bit_length()

    def size_of(nbytes: int) -> int:
        exponent = max((nbytes - 1).bit_length(), least)
        return 1 << exponent if exponent <= cutoff else -(-nbytes >> cutoff) << cutoff

    return size_of


class MemoryPool(Generic[Raw]):
    """Caching allocator of one device.

    Args:
        source: Source of new blocks.
        sizes: The strategy, which rounds sizes; None caches no blocks (Unpooled).
        reserve: Fraction of the device's memory, 0 to 1: if a new block would leave less than that
            free, the cached blocks are released first.

    Attributes:
        caches: Whether freed blocks are cached.
        free: Function that frees a block; work on it may be pending in its queue.
    """

    def __init__(self, source: Source[Raw], sizes: Sizes | None, reserve: float = 0.0) -> None:
        self._source = source
        self._sizes = None if sizes is None else lru_cache(_MAX_SIZES)(sizes)
        self.caches = sizes is not None
        self._reserve = reserve
        self._returned: deque[Block[Raw]] = deque()
        # Frees a block; work on it may be pending in its queue. One append where blocks are cached.
        self.free = self._drop if sizes is None else self._returned.append
        self._free: dict[tuple[Hashable, int], list[Block[Raw]]] = {}
        self._used = self._held = self._peak_used = self._peak_reserved = self._allocations = 0

    def allocate(self, nbytes: int, queue: Hashable = None) -> Block[Raw]:
        """Return a block of ``nbytes`` or more.

        Args:
            nbytes: Requested size, more than 0.
            queue: The queue that will order the work on the block.

        Raises:
            MemoryError: The source has no memory, even after the cached blocks were released.
        """
        size = nbytes if self._sizes is None else self._sizes(nbytes)
        if self._returned:
            self._sort_in()
        blocks = self._free.get((queue, size))
        if blocks:  # a step, up to the call
            self._held -= size
            block = blocks.pop()
        else:
            block = Block(self._new(size), size, queue)
            self._allocations += 1
        self._used += size
        if self._used > self._peak_used:
            self._peak_used = self._used
        if self._used + self._held > self._peak_reserved:
            self._peak_reserved = self._used + self._held
        return block

    def _drop(self, block: Block[Raw]) -> None:
        """Free a block of an unpooled pool."""
        del block.raw
        self._returned.append(block)

    def release(self) -> int:
        """Release the cached blocks to the source, and return their size in bytes."""
        self._sort_in()
        nbytes = 0
        gone = []
        for (_, size), blocks in tuple(self._free.items()):
            while True:
                if not blocks:  # a step, up to the call
                    break
                self._held -= size
                nbytes += size
                gone.append(blocks.pop())
        return nbytes  # drops the blocks

    def statistics(self) -> PoolStatistics:
        """Return the current counts."""
        self._sort_in()
        return PoolStatistics(
            self._used, self._held, self._peak_used, self._peak_reserved, self._allocations
        )

    def _new(self, size: int) -> Raw:
        """Allocate from the source; if memory is short, release the cached blocks first."""
        if self._reserve and self._held:
            free, total = self._source.free_and_total()
            if free - size < total * self._reserve:
                self.release()
        try:
            return self._source.allocate(size)
        except MemoryError:
            if not self.release():
                raise
        return self._source.allocate(size)

    def _sort_in(self) -> None:
        """Move the returned blocks to the free lists; an unpooled pool only counts them."""
        while True:
            try:  # no test before `popleft`: other code may run at each turn of a loop
                block = self._returned.popleft()
            except IndexError:
                return
            self._used -= block.nbytes
            if self._sizes is not None:
                self._held += block.nbytes
                self._free.setdefault((block.queue, block.nbytes), []).append(block)
