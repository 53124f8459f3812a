"""Products of stacked matrices with several batch axes, as in attention."""

import math
from collections.abc import Sequence

from gluonish.core.spec import Shape
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.linalg.matmul import BATCH_DOT
from gluonish.ops.registry import apply
from gluonish.ops.shape.reshape import reshape

_RESHAPES = ("Reshape", "_reshape_exact")
_MOVES = ("transpose", "SwapAxis", "SliceChannel")  # operators that can be views


def keep_batch_axes(graph: Graph) -> Graph:
    """Multiply matrices over the batch axes that a reshape merged into one.

    Attention heads come from a transposed array (N, heads, T, C), which users reshape to
    (N heads, T, C). Only an array of four axes can be a view of the array before the transpose.

    Requires: specs on every value.
    Ensures: the outputs have the same specs, values and gradients. No ``batch_dot`` reads a reshape
    of a transposed or split array that keeps the last two axes.
    """
    if not (has_operator(graph, ("batch_dot",)) and has_operator(graph, _MOVES)):
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is not BATCH_DOT:
            return None
        stacks = [_stack_of(value) for value in inputs]
        stack = stacks[0] or stacks[1]
        if stack is None or any(other not in (None, stack) for other in stacks):
            return None
        operands = [
            reshape(value, (*stack, *value.shape[-2:])) if axes is None else value.node.inputs[0]
            for value, axes in zip(inputs, stacks, strict=True)
        ]
        return [reshape(apply(BATCH_DOT, operands, node.attrs), node.specs[0].shape)]

    return rebuild(graph, rule)


def _stack_of(value: Value) -> Shape | None:
    """Return the batch axes of an operand before its reshape; None if they were not moved."""
    op = value.node.op
    if op is None or op.name not in _RESHAPES:
        return None
    source = value.node.inputs[0]
    if source.node.op is None or source.node.op.name not in _MOVES:
        return None
    before, after = source.shape, value.shape
    joins_batch_axes = len(before) > len(after) == 3 and before[-2:] == after[-2:]
    return before[:-2] if joins_batch_axes and math.prod(before[:-2]) == after[0] else None
