"""What a plan of a training step costs in memory, from specs alone: nothing runs."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.graph.ir import Node
from gluonish.graph.liveness import planner_steps
from gluonish.graph.memory_plan import plan_memory
from gluonish.graph.partition import Partition

__all__ = ["MemoryFigures", "memory_figures"]

Key = tuple[int, int]


class MemoryFigures(NamedTuple):
    """Bytes of the two passes, without inputs, outputs and gradients, which a call brings.

    Attributes:
        kept: What the forward pass keeps for the backward pass.
        forward: The forward pass's arena.
        backward: The backward pass's arena.
        joint: One arena for all three, where what was kept gives way as the backward pass goes on.
    """

    kept: int
    forward: int
    backward: int
    joint: int


def memory_figures(parts: Partition) -> MemoryFigures:
    """Return the bytes that the passes of a graph need, planned as the environment says now."""
    kept = {value.key for value in parts.kept}
    given = {value.key for value in (*parts.outputs, *parts.gradients)}
    return MemoryFigures(
        sum(value.spec.nbytes for value in parts.kept),
        _arena(parts.forward, given | kept),
        _arena(parts.backward, given),
        _arena([*parts.forward, *parts.backward], given),
    )


def _arena(nodes: Sequence[Node], given: Collection[Key]) -> int:
    steps, sizes = planner_steps(nodes, given)
    plan = plan_memory(
        steps,
        sizes,
        match_range=NNVM_EXEC_MATCH_RANGE.value,
        in_place=MXNET_EXEC_ENABLE_INPLACE.value,
    )
    return plan.nbytes
