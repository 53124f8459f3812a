"""What a plan of a training step costs in memory, from specs alone: nothing runs."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.graph.ir import Node, Value
from gluonish.graph.liveness import planner_steps
from gluonish.graph.memory_plan import plan_memory
from gluonish.graph.partition import Partition
from gluonish.graph.state import state_places

Key = tuple[int, int]


class MemoryFigures(NamedTuple):
    """Bytes of the two passes, without inputs, outputs and gradients, which a call brings.

    Attributes:
        kept: The state: what the forward pass keeps for the backward pass.
        forward: What the forward pass needs besides: its arena.
        backward: What a backward pass needs besides that may overwrite the state.
        retaining: What one needs that may not.
        joint: One arena for both passes and what is kept, with no place fixed.
    """

    kept: int
    forward: int
    backward: int
    retaining: int
    joint: int

    @property
    def planned(self) -> int:
        """The state and the arena that both passes share."""
        return self.kept + max(self.forward, self.backward)


def memory_figures(parts: Partition) -> MemoryFigures:
    """Return the bytes that the passes of a graph need, planned as the environment says now."""
    kept = parts.kept
    given = {value.key for value in (*parts.outputs, *parts.gradients)}
    every = range(len(kept))
    delivered = {value.key for value in parts.gradients}
    lasting = [i for i in every if kept[i].key in delivered]
    return MemoryFigures(
        state_places([value.spec for value in kept])[1],
        _arena(parts.forward, given, kept, every),
        _arena(parts.backward, given, kept, lasting),
        _arena(parts.backward, given, kept, every),
        _arena([*parts.forward, *parts.backward], given),
    )


def _arena(
    nodes: Sequence[Node],
    given: Collection[Key],
    kept: Sequence[Value] = (),
    lasting: Collection[int] = (),
) -> int:
    steps, sizes = planner_steps(nodes, given, kept)
    plan = plan_memory(
        steps,
        sizes,
        state=dict(enumerate(state_places([value.spec for value in kept])[0])),
        lasting=lasting,
        match_range=NNVM_EXEC_MATCH_RANGE.value,
        in_place=MXNET_EXEC_ENABLE_INPLACE.value,
    )
    return plan.nbytes
