"""The memory plan: the bytes of each intermediate value.

A value lives from the step that computes it to the last step that reads it. A *buffer* is the
memory of one value and of values that inherit it: reshapes, and in-place results of an elementwise
operator whose input dies. Buffers that never live at the same time may share bytes. There are two
spaces of bytes; a buffer is in one of them.

In the *state*, which lasts from a forward pass to its backward pass, saved values have fixed
offsets. Before they are computed and after their last reader, their bytes are available to other
buffers. Buffers that do not fit there are in the *arena*.

Two strategies place the buffers, and the smaller arena wins. One goes step by step: each buffer
goes to the dead block of the best size, all in the arena. The other places the largest buffer
first, each at the lowest offset that is free while it lives, in the state if possible. The first
reuses recently used memory, and is as good for a chain; the second leaves fewer gaps between
different sizes; it is skipped if the first needs no more than the bytes that live at once.
"""

import heapq
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

# Maximum number of buffers to pack; the time is quadratic, and ten thousand take half a second. If
# there are more, the smaller ones go to blocks behind these.
_MAX_PACKED = 8192

ALIGNMENT = 64  # bytes; a cache line, for vector loads


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a memory plan.

    Attributes:
        reads: Numbers of the values that the operator reads.
        writes: Numbers of the values that it writes.
        in_place: Whether an output may reuse the memory of an input of its size.
        alias: Whether the only output is the first input in another shape.
        over: Position of the only input whose memory an output may reuse, if there is one.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    in_place: bool = False
    alias: bool = False
    over: int | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A range of bytes in the arena or the state: ``offset`` and ``nbytes``."""

    offset: int
    nbytes: int
    in_state: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The slot of every planned value.

    Attributes:
        slots: The slot of each value, by number; values without bytes have offset 0.
        nbytes: Size of the arena.
    """

    slots: Mapping[int, Slot]
    nbytes: int


class _Buffer:
    """Memory that is in use from the step ``start`` to the step ``end``, both included.

    A ``fixed`` buffer is in the state at its ``offset``.
    """

    __slots__ = ("end", "fixed", "in_state", "nbytes", "offset", "start", "users")

    def __init__(self, nbytes: int, start: int) -> None:
        self.nbytes = nbytes
        self.start = start
        self.end = start
        self.users = 0  # values that live in the buffer at the current step
        self.offset = 0
        self.in_state = self.fixed = False

    def fix(self, offset: int) -> None:
        """Set a fixed offset in the state."""
        self.offset = offset
        self.in_state = self.fixed = True


class _Block:
    """A block of the arena, as large as the largest of the buffers placed on it."""

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
    """Return a slot for every planned value.

    Args:
        steps: Steps in execution order.
        sizes: Bytes of each planned value; other values, such as inputs, are not in the plan.
        state: Fixed offsets of values in the state; ``sizes`` includes them. Values that no step
            writes are there from the start. The state ends with the last of them.
        lasting: Values of the state that must be there after the last step.
        match_range: A buffer reuses bytes of a dead value that was at most this many times smaller
            or larger (``NNVM_EXEC_MATCH_RANGE``); 0 turns sharing off. The state is one block of
            memory, for which any value other than 0 allows sharing.
        in_place: Whether in-place outputs are allowed (``MXNET_EXEC_ENABLE_INPLACE``).

    Returns:
        The plan. Two values share bytes only if one is dead before the other is computed, or by an
        in-place step or an alias.
    """
    fixed_offsets = state or {}
    owners = _buffers(steps, sizes, in_place, fixed_offsets, lasting)
    state_nbytes = max((padded(fixed_offsets[v] + sizes[v]) for v in fixed_offsets), default=0)
    buffers = list(dict.fromkeys(owners.values()))
    nbytes = _place([b for b in buffers if not b.fixed], match_range)
    if match_range and nbytes > _most_living(buffers) - state_nbytes:
        nbytes = _pack(buffers, nbytes, state_nbytes, match_range)
    slots = {v: Slot(b.offset, sizes[v], b.in_state) for v, b in owners.items()}
    return MemoryPlan(slots, nbytes)


def _buffers(
    steps: Sequence[Step],
    sizes: Mapping[int, int],
    in_place: bool,
    fixed_offsets: Mapping[int, int],
    lasting: Collection[int],
) -> dict[int, _Buffer]:
    """Return the buffer of every planned value, in order of computation."""
    last_read = {v: i for i, step in enumerate(steps) for v in (*step.writes, *step.reads)}
    last_read |= dict.fromkeys(lasting, len(steps))
    owners = _initial_buffers(steps, sizes, fixed_offsets, last_read)
    for i, step in enumerate(steps):
        dying = {v for v in step.reads if v in owners and last_read[v] == i}
        for value in step.writes:
            if value not in sizes:
                continue
            buffer = _inherited(step, value, sizes, owners, dying if in_place else set())
            if buffer is None or (buffer.fixed and value in fixed_offsets):
                buffer = _Buffer(sizes[value], i)
            if value in fixed_offsets:
                buffer.fix(fixed_offsets[value])
            buffer.nbytes = max(buffer.nbytes, sizes[value])
            buffer.users += 1
            buffer.end = max(buffer.end, last_read[value])
            owners[value] = buffer
        for value in dying | {v for v in step.writes if v in owners and last_read[v] == i}:
            owners[value].users -= 1
    return owners


def _initial_buffers(
    steps: Sequence[Step],
    sizes: Mapping[int, int],
    fixed_offsets: Mapping[int, int],
    last_read: Mapping[int, int],
) -> dict[int, _Buffer]:
    """Return buffers of the values in the state before the first step."""
    made = {v for step in steps for v in step.writes}
    owners = {}
    for value, offset in fixed_offsets.items():
        if value not in made:
            buffer = owners[value] = _Buffer(sizes[value], -1)
            buffer.fix(offset)
            buffer.users = 1
            buffer.end = last_read.get(value, -1)
    return owners


def _inherited(
    step: Step,
    value: int,
    sizes: Mapping[int, int],
    owners: Mapping[int, _Buffer],
    dying: set[int],
) -> _Buffer | None:
    """Return the buffer of an input that the value may inherit."""
    if step.alias and step.reads[0] in owners:
        return owners[step.reads[0]]
    if step.in_place or step.over is not None:
        for source in step.reads if step.over is None else (step.reads[step.over],):
            if source in dying and sizes[source] == sizes[value] and owners[source].users == 1:
                return owners[source]
    return None


def _most_living(buffers: Sequence[_Buffer]) -> int:
    """Return the most bytes that live at once, a lower bound of arena and state together."""
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
    """Place buffers again, the largest first, if that makes the arena smaller; return its size."""
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
    used: list[tuple[int, int]] = []  # a heap: the last step of a buffer, and its number
    owners: list[_Block] = []
    for number, buffer in enumerate(buffers):
        dead = []
        while match_range and used and used[0][0] < buffer.start:
            dead.append(heapq.heappop(used)[1])
        for earlier in sorted(dead):
            free.add(owners[earlier])
        block = free.pop(buffer.nbytes)
        if block is None:
            block = _Block(buffer.nbytes)
            blocks.append(block)
        block.nbytes = max(block.nbytes, buffer.nbytes)
        heapq.heappush(used, (buffer.end, number))
        owners.append(block)
    end = 0
    for block in blocks:
        block.offset = end
        end += padded(block.nbytes)
    return [block.offset for block in owners], end


class _FreeBlocks:
    """Free blocks by size; of blocks of equal size, the first added is used first."""

    def __init__(self, match_range: int) -> None:
        self._match_range = match_range
        self._blocks: dict[int, deque[_Block]] = {}
        self._sizes: list[int] = []  # in order, each once

    def add(self, block: _Block) -> None:
        """Add a free block."""
        if block.nbytes not in self._blocks:
            self._blocks[block.nbytes] = deque()
            insort(self._sizes, block.nbytes)
        self._blocks[block.nbytes].append(block)

    def pop(self, nbytes: int) -> _Block | None:
        """Remove the smallest large enough block, else the largest; None if out of range."""
        position = bisect_left(self._sizes, nbytes)
        for i in (position, position - 1):
            if 0 <= i < len(self._sizes):
                size = self._sizes[i]
                if max(size, nbytes) <= min(size, nbytes) * self._match_range:
                    return self._first(i)
        return None

    def _first(self, index: int) -> _Block:
        size = self._sizes[index]
        block = self._blocks[size].popleft()
        if not self._blocks[size]:
            del self._blocks[size], self._sizes[index]
        return block


def _packed(
    buffers: Sequence[_Buffer], state_nbytes: int, match_range: int
) -> tuple[list[int], int]:
    """Return an offset for each buffer, the largest placed first, and the size of the arena.

    Offsets continue from the state into the arena, with a gap of `ALIGNMENT` bytes in between.
    """
    wall = _Buffer(ALIGNMENT, -1)
    wall.fix(state_nbytes)
    wall.end = np.iinfo(np.int64).max
    base = state_nbytes + ALIGNMENT
    walled = [*buffers, wall]
    sizes = np.array([padded(buffer.nbytes) for buffer in walled], np.int64)
    starts = np.array([buffer.start for buffer in walled], np.int64)
    ends = np.array([buffer.end for buffer in walled], np.int64)
    fixed = np.array([buffer.fixed for buffer in walled])
    offsets = np.array([b.offset if b.fixed else base for b in walled], np.int64)
    order = np.lexsort((starts, starts - ends, -sizes))
    order = order[sizes[order] > 0]
    placed = order[fixed[order]]
    placed = placed[np.argsort(offsets[placed])]
    for index in order[~fixed[order]]:
        together = (starts[placed] <= ends[index]) & (ends[placed] >= starts[index])
        # Buffers that were placed before, and are not fixed, are at least as large.
        too_large = ~fixed[placed] & (sizes[placed] > sizes[index] * match_range)
        apart = placed[together | too_large]
        # Gaps begin at 0, and at each end that no earlier buffer exceeds.
        begins = np.maximum.accumulate(np.append(0, offsets[apart] + sizes[apart]))
        space = np.append(offsets[apart], np.iinfo(np.int64).max) - begins
        offsets[index] = begins[np.argmax(space >= sizes[index])]
        placed = np.insert(placed, np.searchsorted(offsets[placed], offsets[index]), index)
    return offsets[:-1].tolist(), int((offsets + sizes).max() - base)


def padded(nbytes: int) -> int:
    """Round a size up, so that the bytes behind it are aligned."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
