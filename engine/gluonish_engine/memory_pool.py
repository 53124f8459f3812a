"""MemoryPool: blocks of a device's memory, given out, taken back and given out again.

It knows sizes and queues, and no library: a `Source` gets blocks from the driver. A *queue* is
whatever orders the work on a block (a GPU's stream): a block that comes back may still have work
pending there, so that it serves the same queue only. A *strategy* says what size of block an
allocation gets; blocks of one size serve one another.

Invariants: a block comes back by one append to ``_returned``, whatever the thread was doing at that
moment (the garbage collector may run anywhere), and whoever takes next sorts it in. A block is
given out once until it comes back. There is no lock, as a handler or a destructor that makes arrays
may come anywhere, and wait for another thread: between reading and writing a count, or looking for
a block and taking it out, nothing else is called (docs/engine.md says why that is
enough). Lists in ``_free`` stay there when they are empty, as somebody may be about to fill them.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, Protocol, TypeVar

Raw = TypeVar("Raw")
RawOut = TypeVar("RawOut", covariant=True)
Sizes = Callable[[int], int]


class Source(Protocol[RawOut]):
    """Where a pool's blocks come from; a block goes back to it when nobody refers to it."""

    def allocate(self, nbytes: int, /) -> RawOut:
        """Return new memory.

        Raises:
            MemoryError: if there is none.
        """
        raise NotImplementedError

    def free_and_total(self) -> tuple[int, int]:
        """Return the driver's free and total bytes."""
        raise NotImplementedError


class Block(Generic[Raw]):
    """Memory that belongs to who took it, until `MemoryPool.give`.

    Attributes:
        raw: What the source returned.
        nbytes: Its size, at least what was asked for.
        queue: The queue that it was taken for.
    """

    __slots__ = ("nbytes", "queue", "raw")

    def __init__(self, raw: Raw, nbytes: int, queue: Hashable) -> None:
        self.raw = raw
        self.nbytes = nbytes
        self.queue = queue


class PoolStatistics(NamedTuple):
    """What a pool has, in bytes.

    Attributes:
        used: Blocks that were taken and did not come back.
        held: Blocks that wait to be taken again.
        peak_used: The most that was ever used.
        peak_reserved: The most that was ever used and held.
        allocations: How often the source was asked.
    """

    used: int
    held: int
    peak_used: int
    peak_reserved: int
    allocations: int

    @property
    def reserved(self) -> int:
        """Used and held: what the pool has of the driver."""
        return self.used + self.held


def linear_sizes(page: int, large: int) -> Sizes:
    """Return the strategy Naive: whole pages; above ``large`` bytes, multiples of that."""

    def size_of(nbytes: int) -> int:
        paged = -(-nbytes // page) * page
        return paged if paged <= large else -(-paged // large) * large

    return size_of


def power_of_two_sizes(page: int, cutoff: int) -> Sizes:
    """Return the strategy Round: powers of two, from a page's on; above 2**cutoff, multiples of it.

    It needs fewer different sizes than Naive, so that more blocks serve again, and each wastes up
    to half of itself.
    """
    least = (page - 1).bit_length()

    def size_of(nbytes: int) -> int:
        exponent = max((nbytes - 1).bit_length(), least)
        return 1 << exponent if exponent <= cutoff else -(-nbytes >> cutoff) << cutoff

    return size_of


class MemoryPool(Generic[Raw]):
    """Blocks of one device.

    Args:
        source: Where they come from.
        sizes: The strategy; None keeps no blocks (Unpooled).
        reserve: Share of the device's memory, 0 to 1: where a new block would leave less than that
            free, what is held goes back to the driver first.
    """

    def __init__(self, source: Source[Raw], sizes: Sizes | None, reserve: float = 0.0) -> None:
        self._source = source
        self._sizes = sizes
        self._reserve = reserve
        self._returned: deque[Block[Raw]] = deque()
        self._free: dict[tuple[Hashable, int], list[Block[Raw]]] = {}
        self._used = self._held = self._peak_used = self._peak_reserved = self._allocations = 0

    def take(self, nbytes: int, queue: Hashable = None) -> Block[Raw]:
        """Return a block of ``nbytes`` or more.

        Args:
            nbytes: More than 0.
            queue: What will order the work on it.

        Raises:
            MemoryError: if the source has no more, also after what is held went back to it.
        """
        size = nbytes if self._sizes is None else self._sizes(nbytes)
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

    def give(self, block: Block[Raw]) -> None:
        """Take a block back; work on it may be pending in its queue."""
        if self._sizes is None:
            del block.raw
        self._returned.append(block)

    def release(self) -> int:
        """Give what is held back to the source; return how many bytes that was."""
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
        return nbytes  # the blocks go

    def statistics(self) -> PoolStatistics:
        """Return the counts of now."""
        self._sort_in()
        return PoolStatistics(
            self._used, self._held, self._peak_used, self._peak_reserved, self._allocations
        )

    def _new(self, size: int) -> Raw:
        """Return memory of the source, after what is held went back if that is short of it."""
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
        """Make the blocks that came back free; a pool that keeps none only counts them."""
        while True:
            try:  # a loop turns where others may come: no look before it is taken out
                block = self._returned.popleft()
            except IndexError:
                return
            self._used -= block.nbytes
            if self._sizes is not None:
                self._held += block.nbytes
                self._free.setdefault((block.queue, block.nbytes), []).append(block)
