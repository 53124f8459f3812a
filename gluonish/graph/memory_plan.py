"""The memory plan: which bytes of one arena hold which intermediate value, and when.

Values live from the step that makes them to the last step that reads them. Memory of a dead value
is given to the next value that fits: in place where an elementwise operator's input dies with it,
else the free block that fits best, within a factor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    in_place: bool = False
    alias: bool = False


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


class _Block:
    """A piece of the arena, as large as the largest value that it ever holds."""

    __slots__ = ("nbytes", "users")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.users = 0  # values that live in it now


def plan_memory(
    steps: Sequence[Step], sizes: Mapping[int, int], *, match_range: int = 16, in_place: bool = True
) -> MemoryPlan:
    """Give every planned value its place.

    Args:
        steps: In order of execution.
        sizes: Bytes of each value that is to be planned; others (inputs, outputs, what the backward
            pass keeps) have memory of their own.
        match_range: A free block is taken if it is at most this many times smaller or larger than
            the value (``NNVM_EXEC_MATCH_RANGE``); 0 turns sharing off.
        in_place: Whether in-place outputs are allowed (``MXNET_EXEC_ENABLE_INPLACE``).

    Returns:
        The plan. Two values share bytes only if one is dead before the other is made, or by an
        in-place step or an alias.
    """
    last_read = {v: i for i, step in enumerate(steps) for v in (*step.writes, *step.reads)}
    blocks: list[_Block] = []
    free: list[_Block] = []
    home: dict[int, _Block] = {}
    for i, step in enumerate(steps):
        dying = {v for v in step.reads if v in home and last_read[v] == i}
        for value in step.writes:
            if value not in sizes:
                continue
            block = _inherited(step, value, sizes, home, dying if in_place else set())
            if block is None:
                block = _best_fit(free, sizes[value], match_range)
            if block is None:
                block = _Block(sizes[value])
                blocks.append(block)
            block.nbytes = max(block.nbytes, sizes[value])
            block.users += 1
            home[value] = block
        ended = dying | {v for v in step.writes if v in home and last_read[v] == i}
        for value in ended:
            home[value].users -= 1
            if home[value].users == 0 and match_range:
                free.append(home[value])
    return _laid_out(blocks, home, sizes)


def _inherited(
    step: Step, value: int, sizes: Mapping[int, int], home: Mapping[int, _Block], dying: set[int]
) -> _Block | None:
    """Return the block of an input that the value may lie on."""
    if step.alias and step.reads[0] in home:
        return home[step.reads[0]]
    if step.in_place:
        for source in step.reads:
            if source in dying and sizes[source] == sizes[value] and home[source].users == 1:
                return home[source]
    return None


def _best_fit(free: list[_Block], nbytes: int, match_range: int) -> _Block | None:
    """Take the smallest free block that is large enough, else the largest; within the range."""
    if not match_range:
        return None
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


def _laid_out(
    blocks: Sequence[_Block], home: Mapping[int, _Block], sizes: Mapping[int, int]
) -> MemoryPlan:
    offsets: dict[int, int] = {}
    end = 0
    for block in blocks:
        offsets[id(block)] = end
        end += -(-block.nbytes // ALIGNMENT) * ALIGNMENT
    slots = {v: Slot(offsets[id(block)], sizes[v]) for v, block in home.items()}
    return MemoryPlan(slots, end)
