"""The memory plan: which bytes hold which intermediate value, and when.

Values live from the step that makes them to the last step that reads them. A *buffer* is the memory
of one value, and of those that take it over: other shapes of it, and in-place results where an
elementwise operator's input dies with it. Buffers that never live together may lie on the same
bytes. There are two spaces of bytes, and no buffer lies in both.

In the *state*, which lasts from a forward pass to its backward pass, what the one keeps for the
other has fixed places. Until it is made and when nobody needs it any more, its bytes are as good as
others. The *arena* has whatever finds no room there.

Buffers are placed in two ways, and the smaller arena is taken. Step by step, each goes on the dead
block that fits best, all in the arena. Or, all known beforehand, the largest first, each goes to
the lowest place that is free while it lives, of the state if there is one. The first keeps what is
used in turn in the same place, and is as good for a chain; the second leaves fewer gaps where sizes
differ. It is left out where the first needs no more than what lives at once.
"""

import heapq
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

# Buffers that are packed; the time grows with the square, and ten thousand take half a second. Of
# more, the others, which are smaller, go on blocks behind these.
_MAX_PACKED = 8192

ALIGNMENT = 64  # bytes; a cache line, and what vector loads like


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a plan, as the planner sees it.

    Attributes:
        reads: Values by number.
        writes: Values by number.
        in_place: Whether an output may take the memory of an input of its size.
        alias: Whether the only output is the first input under another shape.
        over: Position of the one read whose memory an output may take; None for no such.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    in_place: bool = False
    alias: bool = False
    over: int | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """Bytes of the arena or the state: ``offset`` and ``nbytes``."""

    offset: int
    nbytes: int
    in_state: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Where every planned value lies.

    Attributes:
        slots: By value number; values of no bytes have offset 0.
        nbytes: Size of the arena.
    """

    slots: Mapping[int, Slot]
    nbytes: int


class _Buffer:
    """Memory from the step ``start`` to the step ``end``, both included.

    One that is ``fixed`` lies in the state at its ``offset``.
    """

    __slots__ = ("end", "fixed", "in_state", "nbytes", "offset", "start", "users")

    def __init__(self, nbytes: int, start: int) -> None:
        self.nbytes = nbytes
        self.start = start
        self.end = start
        self.users = 0  # values that live in it at the step that is looked at
        self.offset = 0
        self.in_state = self.fixed = False

    def fix(self, offset: int) -> None:
        """Give it a place in the state."""
        self.offset = offset
        self.in_state = self.fixed = True


class _Block:
    """A piece of the arena, as large as the largest buffer that it ever holds."""

    __slots__ = ("nbytes", "offset")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.offset = 0


def plan_memory(
    steps: Sequence[Step],
    sizes: Mapping[int, int],
    *,
    state: Mapping[int, int] | None = None,
    lasting: Collection[int] = (),
    match_range: int = 16,
    in_place: bool = True,
) -> MemoryPlan:
    """Give every planned value its place.

    Args:
        steps: In order of execution.
        sizes: Bytes of each value that is to be planned; others (inputs, outputs) have memory of
            their own.
        state: Offsets of values that have fixed places in the state; ``sizes`` has them, too. What
            no step writes of them is there from the start. The state ends where the last ends.
        lasting: Those of them that must be there after the last step.
        match_range: Bytes of a dead value are taken if it was at most this many times smaller or
            larger (``NNVM_EXEC_MATCH_RANGE``); 0 turns sharing off. The state is one block of
            memory: other than 0, it lets everything in.
        in_place: Whether in-place outputs are allowed (``MXNET_EXEC_ENABLE_INPLACE``).

    Returns:
        The plan. Two values share bytes only if one is dead before the other is made, or by an
        in-place step or an alias.
    """
    places = state or {}
    homes = _buffers(steps, sizes, in_place, places, lasting)
    state_nbytes = max((padded(places[v] + sizes[v]) for v in places), default=0)
    buffers = list(dict.fromkeys(homes.values()))
    nbytes = _place([b for b in buffers if not b.fixed], match_range)
    if match_range and nbytes > _most_living(buffers) - state_nbytes:
        nbytes = _pack(buffers, nbytes, state_nbytes, match_range)
    slots = {v: Slot(b.offset, sizes[v], b.in_state) for v, b in homes.items()}
    return MemoryPlan(slots, nbytes)


def _buffers(
    steps: Sequence[Step],
    sizes: Mapping[int, int],
    in_place: bool,
    places: Mapping[int, int],
    lasting: Collection[int],
) -> dict[int, _Buffer]:
    """Return the buffer of every planned value, in the order in which they are made."""
    last_read = {v: i for i, step in enumerate(steps) for v in (*step.writes, *step.reads)}
    last_read |= dict.fromkeys(lasting, len(steps))
    homes = _given_buffers(steps, sizes, places, last_read)
    for i, step in enumerate(steps):
        dying = {v for v in step.reads if v in homes and last_read[v] == i}
        for value in step.writes:
            if value not in sizes:
                continue
            buffer = _inherited(step, value, sizes, homes, dying if in_place else set())
            if buffer is None or (buffer.fixed and value in places):
                buffer = _Buffer(sizes[value], i)
            if value in places:
                buffer.fix(places[value])
            buffer.nbytes = max(buffer.nbytes, sizes[value])
            buffer.users += 1
            buffer.end = max(buffer.end, last_read[value])
            homes[value] = buffer
        for value in dying | {v for v in step.writes if v in homes and last_read[v] == i}:
            homes[value].users -= 1
    return homes


def _given_buffers(
    steps: Sequence[Step],
    sizes: Mapping[int, int],
    places: Mapping[int, int],
    last_read: Mapping[int, int],
) -> dict[int, _Buffer]:
    """Return buffers of what is in the state before the first step."""
    made = {v for step in steps for v in step.writes}
    homes = {}
    for value, offset in places.items():
        if value not in made:
            buffer = homes[value] = _Buffer(sizes[value], -1)
            buffer.fix(offset)
            buffer.users = 1
            buffer.end = last_read.get(value, -1)
    return homes


def _inherited(
    step: Step,
    value: int,
    sizes: Mapping[int, int],
    homes: Mapping[int, _Buffer],
    dying: set[int],
) -> _Buffer | None:
    """Return the buffer of an input that the value may lie on."""
    if step.alias and step.reads[0] in homes:
        return homes[step.reads[0]]
    if step.in_place or step.over is not None:
        for source in step.reads if step.over is None else (step.reads[step.over],):
            if source in dying and sizes[source] == sizes[value] and homes[source].users == 1:
                return homes[source]
    return None


def _most_living(buffers: Sequence[_Buffer]) -> int:
    """Return the most bytes that live at once: no arena and state together can be smaller."""
    changes: Counter[int] = Counter()
    for buffer in buffers:
        changes[buffer.start] += padded(buffer.nbytes)
        changes[buffer.end + 1] -= padded(buffer.nbytes)
    return max(accumulate(changes[step] for step in sorted(changes)), default=0)


def _place(buffers: Sequence[_Buffer], match_range: int) -> int:
    """Place buffers on blocks, and return the size of the arena."""
    offsets, nbytes = _by_blocks(buffers, match_range)
    for buffer, offset in zip(buffers, offsets, strict=True):
        buffer.offset = offset
    return nbytes


def _pack(buffers: Sequence[_Buffer], nbytes: int, state_nbytes: int, match_range: int) -> int:
    """Place buffers anew, the largest first, if the arena is smaller by that; return its size."""
    loose = [buffer for buffer in buffers if not buffer.fixed]
    largest = set(map(id, heapq.nlargest(_MAX_PACKED, loose, key=lambda buffer: buffer.nbytes)))
    packed = [buffer for buffer in buffers if buffer.fixed or id(buffer) in largest]
    rest = [buffer for buffer in loose if id(buffer) not in largest]
    offsets, end = _packed(packed, state_nbytes, match_range)
    above, more = _by_blocks(rest, match_range)
    if end + more >= nbytes:
        return nbytes
    for buffer, offset in zip(packed, offsets, strict=True):
        if not buffer.fixed:
            buffer.in_state = offset < state_nbytes
            buffer.offset = offset - (0 if buffer.in_state else state_nbytes + ALIGNMENT)
    for buffer, offset in zip(rest, above, strict=True):
        buffer.offset = end + offset
    return end + more


def _by_blocks(buffers: Sequence[_Buffer], match_range: int) -> tuple[list[int], int]:
    """Return an offset for each buffer, placed step by step, and the size of the arena."""
    blocks: list[_Block] = []
    free = _FreeBlocks(match_range)
    taken: list[tuple[int, int]] = []  # a heap: the step when a buffer dies, and its number
    homes: list[_Block] = []
    for number, buffer in enumerate(buffers):
        dead = []
        while match_range and taken and taken[0][0] < buffer.start:
            dead.append(heapq.heappop(taken)[1])
        for earlier in sorted(dead):
            free.add(homes[earlier])
        block = free.take(buffer.nbytes)
        if block is None:
            block = _Block(buffer.nbytes)
            blocks.append(block)
        block.nbytes = max(block.nbytes, buffer.nbytes)
        heapq.heappush(taken, (buffer.end, number))
        homes.append(block)
    end = 0
    for block in blocks:
        block.offset = end
        end += padded(block.nbytes)
    return [block.offset for block in homes], end


class _FreeBlocks:
    """Blocks that nobody lives on, by their sizes; of equal ones, the first is taken first."""

    def __init__(self, match_range: int) -> None:
        self._match_range = match_range
        self._blocks: dict[int, deque[_Block]] = {}
        self._sizes: list[int] = []  # in order, each once

    def add(self, block: _Block) -> None:
        """Take a block back."""
        if block.nbytes not in self._blocks:
            self._blocks[block.nbytes] = deque()
            insort(self._sizes, block.nbytes)
        self._blocks[block.nbytes].append(block)

    def take(self, nbytes: int) -> _Block | None:
        """Give the smallest block that is large enough, else the largest; within the range."""
        place = bisect_left(self._sizes, nbytes)
        for i in (place, place - 1):
            if 0 <= i < len(self._sizes):
                size = self._sizes[i]
                if max(size, nbytes) <= min(size, nbytes) * self._match_range:
                    return self._first(i)
        return None

    def _first(self, place: int) -> _Block:
        size = self._sizes[place]
        block = self._blocks[size].popleft()
        if not self._blocks[size]:
            del self._blocks[size], self._sizes[place]
        return block


def _packed(
    buffers: Sequence[_Buffer], state_nbytes: int, match_range: int
) -> tuple[list[int], int]:
    """Return an offset for each buffer, the largest placed first, and the size of the arena.

    Offsets count on from the state into the arena; between them stands a wall of `ALIGNMENT` bytes.
    """
    wall = _Buffer(ALIGNMENT, -1)
    wall.fix(state_nbytes)
    wall.end = np.iinfo(np.int64).max
    base = state_nbytes + ALIGNMENT
    every = [*buffers, wall]
    sizes = np.array([padded(buffer.nbytes) for buffer in every], np.int64)
    starts = np.array([buffer.start for buffer in every], np.int64)
    ends = np.array([buffer.end for buffer in every], np.int64)
    fixed = np.array([buffer.fixed for buffer in every])
    offsets = np.array([b.offset if b.fixed else base for b in every], np.int64)
    order = np.lexsort((starts, starts - ends, -sizes))
    order = order[sizes[order] > 0]
    placed = order[fixed[order]]
    placed = placed[np.argsort(offsets[placed])]
    for index in order[~fixed[order]]:
        together = (starts[placed] <= ends[index]) & (ends[placed] >= starts[index])
        # Those that are not fixed, and were placed before, are at least as large.
        too_large = ~fixed[placed] & (sizes[placed] > sizes[index] * match_range)
        apart = placed[together | too_large]
        # Gaps begin at 0 and where something ends that nothing before it reaches beyond.
        begins = np.maximum.accumulate(np.append(0, offsets[apart] + sizes[apart]))
        room = np.append(offsets[apart], np.iinfo(np.int64).max) - begins
        offsets[index] = begins[np.argmax(room >= sizes[index])]
        placed = np.insert(placed, np.searchsorted(offsets[placed], offsets[index]), index)
    return offsets[:-1].tolist(), int((offsets + sizes).max() - base)


def padded(nbytes: int) -> int:
    """Return a size rounded up, so that what lies behind it starts aligned."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
