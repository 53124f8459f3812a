"""The memory plan: which bytes of one arena hold which intermediate value, and when.

Values live from the step that makes them to the last step that reads them. A *buffer* is the memory
of one value, and of those that take it over: other shapes of it, and in-place results where an
elementwise operator's input dies with it. Buffers that never live together may lie on the same
bytes. They are placed in two ways, and the smaller arena is taken: step by step, each on the dead
block that fits best, and, of all known beforehand, the largest first, each at the lowest place that
is free while it lives. The first keeps what is used in turn in the same place, and is as good for a
chain; the second leaves fewer gaps where sizes differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["ALIGNMENT", "MemoryPlan", "Slot", "Step", "plan_memory"]

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
    """Bytes of the arena: ``offset`` and ``nbytes``."""

    offset: int
    nbytes: int


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
    """Memory from the step ``start`` to the step ``end``, both included."""

    __slots__ = ("end", "nbytes", "offset", "start", "users")

    def __init__(self, nbytes: int, start: int) -> None:
        self.nbytes = nbytes
        self.start = start
        self.end = start
        self.users = 0  # values that live in it at the step that is looked at
        self.offset = 0


class _Block:
    """A piece of the arena, as large as the largest buffer that it ever holds."""

    __slots__ = ("nbytes", "offset")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.offset = 0


def plan_memory(
    steps: Sequence[Step], sizes: Mapping[int, int], *, match_range: int = 16, in_place: bool = True
) -> MemoryPlan:
    """Give every planned value its place.

    Args:
        steps: In order of execution.
        sizes: Bytes of each value that is to be planned; others (inputs, outputs, what the backward
            pass keeps) have memory of their own.
        match_range: Bytes of a dead value are taken if it was at most this many times smaller or
            larger (``NNVM_EXEC_MATCH_RANGE``); 0 turns sharing off.
        in_place: Whether in-place outputs are allowed (``MXNET_EXEC_ENABLE_INPLACE``).

    Returns:
        The plan. Two values share bytes only if one is dead before the other is made, or by an
        in-place step or an alias.
    """
    homes = _buffers(steps, sizes, in_place)
    buffers = list(dict.fromkeys(homes.values()))
    nbytes = _place_by_blocks(buffers, match_range)
    if match_range:
        offsets, packed = _packed(buffers, match_range)
        if packed < nbytes:
            nbytes = packed
            for buffer, offset in zip(buffers, offsets, strict=True):
                buffer.offset = offset
    return MemoryPlan({v: Slot(b.offset, sizes[v]) for v, b in homes.items()}, nbytes)


def _buffers(steps: Sequence[Step], sizes: Mapping[int, int], in_place: bool) -> dict[int, _Buffer]:
    """Return the buffer of every planned value, in the order in which they are made."""
    last_read = {v: i for i, step in enumerate(steps) for v in (*step.writes, *step.reads)}
    homes: dict[int, _Buffer] = {}
    for i, step in enumerate(steps):
        dying = {v for v in step.reads if v in homes and last_read[v] == i}
        for value in step.writes:
            if value not in sizes:
                continue
            buffer = _inherited(step, value, sizes, homes, dying if in_place else set())
            if buffer is None:
                buffer = _Buffer(sizes[value], i)
            buffer.nbytes = max(buffer.nbytes, sizes[value])
            buffer.users += 1
            buffer.end = max(buffer.end, last_read[value])
            homes[value] = buffer
        for value in dying | {v for v in step.writes if v in homes and last_read[v] == i}:
            homes[value].users -= 1
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


def _place_by_blocks(buffers: Sequence[_Buffer], match_range: int) -> int:
    """Place buffers on blocks, step by step, and return the size of the arena."""
    blocks: list[_Block] = []
    free: list[_Block] = []
    taken: list[tuple[_Buffer, _Block]] = []
    homes = []
    for buffer in buffers:
        if match_range:
            free += [block for other, block in taken if other.end < buffer.start]
            taken = [pair for pair in taken if pair[0].end >= buffer.start]
        block = _best_fit(free, buffer.nbytes, match_range)
        if block is None:
            block = _Block(buffer.nbytes)
            blocks.append(block)
        block.nbytes = max(block.nbytes, buffer.nbytes)
        taken.append((buffer, block))
        homes.append(block)
    end = 0
    for block in blocks:
        block.offset = end
        end += _padded(block.nbytes)
    for buffer, block in zip(buffers, homes, strict=True):
        buffer.offset = block.offset
    return end


def _best_fit(free: list[_Block], nbytes: int, match_range: int) -> _Block | None:
    """Take the smallest free block that is large enough, else the largest; within the range."""
    fitting = [b for b in free if nbytes <= b.nbytes <= nbytes * match_range]
    smaller = [b for b in free if b.nbytes < nbytes <= b.nbytes * match_range]
    best = None
    if fitting:
        best = min(fitting, key=_size)
    elif smaller:
        best = max(smaller, key=_size)
    if best is not None:
        free.remove(best)
    return best


def _size(block: _Block) -> int:
    return block.nbytes


def _packed(buffers: Sequence[_Buffer], match_range: int) -> tuple[list[int], int]:
    """Return an offset for each buffer, the largest placed first, and the size of the arena."""
    sizes = np.array([_padded(buffer.nbytes) for buffer in buffers], np.int64)
    starts = np.array([buffer.start for buffer in buffers], np.int64)
    ends = np.array([buffer.end for buffer in buffers], np.int64)
    offsets = np.zeros(len(buffers), np.int64)
    order = np.lexsort((starts, starts - ends, -sizes))
    placed = np.zeros(0, np.int64)  # in the order of their offsets
    for index in order[sizes[order] > 0]:
        together = (starts[placed] <= ends[index]) & (ends[placed] >= starts[index])
        # Those placed before are at least as large.
        apart = placed[together | (sizes[placed] > sizes[index] * match_range)]
        # Gaps begin at 0 and where something ends that nothing before it reaches beyond.
        begins = np.maximum.accumulate(np.append(0, offsets[apart] + sizes[apart]))
        room = np.append(offsets[apart], np.iinfo(np.int64).max) - begins
        offsets[index] = begins[np.argmax(room >= sizes[index])]
        placed = np.insert(placed, np.searchsorted(offsets[placed], offsets[index]), index)
    return offsets.tolist(), int((offsets + sizes).max(initial=0))


def _padded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
