"""Memory of a training step, computed from specs alone."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.graph.ir import Node, Value
from gluonish.graph.liveness import planner_steps
from gluonish.graph.memory_plan import plan_memory
from gluonish.graph.partition import Partition
from gluonish.graph.state import state_offsets

Key = tuple[int, int]


class MemoryFigures(NamedTuple):
    """Memory of the two passes in bytes, without inputs, outputs and gradients.

    Attributes:
        saved: The state: values that the forward pass saves for the backward pass.
        forward: Arena of the forward pass.
        backward: Arena of a backward pass that may overwrite the state.
        retaining: Arena of a backward pass that must leave the state unchanged.
        joint: One arena for both passes and the saved values, without fixed offsets.
    """

    saved: int
    forward: int
    backward: int
    retaining: int
    joint: int

    @property
    def planned(self) -> int:
        """Bytes of the state, and of the arena that both passes share."""
        return self.saved + max(self.forward, self.backward)


def memory_figures(partition: Partition) -> MemoryFigures:
    """Return the bytes that the passes of a graph need with the current options."""
    saved = partition.saved
    external = {value.key for value in (*partition.outputs, *partition.gradients)}
    every = range(len(saved))
    delivered = {value.key for value in partition.gradients}
    lasting = [i for i in every if saved[i].key in delivered]
    return MemoryFigures(
        state_offsets([value.spec for value in saved])[1],
        _arena(partition.forward, external, saved, every),
        _arena(partition.backward, external, saved, lasting),
        _arena(partition.backward, external, saved, every),
        _arena([*partition.forward, *partition.backward], external),
    )


def _arena(
    nodes: Sequence[Node],
    external: Collection[Key],
    saved: Sequence[Value] = (),
    lasting: Collection[int] = (),
) -> int:
    steps, sizes = planner_steps(nodes, external, saved)
    plan = plan_memory(
        steps,
        sizes,
        state=dict(enumerate(state_offsets([value.spec for value in saved])[0])),
        lasting=lasting,
        match_range=NNVM_EXEC_MATCH_RANGE.value,
        in_place=MXNET_EXEC_ENABLE_INPLACE.value,
    )
    return plan.nbytes
