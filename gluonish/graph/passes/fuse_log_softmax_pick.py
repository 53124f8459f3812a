"""Fusion of log_softmax and a following pick: the cross entropy of class indices."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import count_reads, has_operator, rebuild
from gluonish.ops.nn.log_softmax_pick import LOG_SOFTMAX_PICK

_RESHAPES = ("Reshape", "_reshape_exact", "squeeze")


def fuse_log_softmax_pick(graph: Graph) -> Graph:
    """Compute one element of each row of log_softmax without the others.

    The operator includes a following factor, such as the -1 of a loss, then a reshape that drops
    the axis, and a preceding cast of the scores from 16 bits to float32.

    Requires: specs on every value.
    Ensures: the outputs have the same specs, values and gradients, except for round-off. No pick is
    the only reader of a log_softmax without options along the same axis.
    """
    if not has_operator(graph, ("pick", LOG_SOFTMAX_PICK.name)):
        return graph
    reads = count_reads(graph)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is LOG_SOFTMAX_PICK:
            narrow = _before_widening(inputs[0])
            if narrow is None:
                return None
            return _made(node, (narrow, inputs[1]), {**node.attrs, "wide": True})
        if node.op is None or not inputs or reads[node.inputs[0].key] != 1:
            return None
        if inputs[0].node.op is LOG_SOFTMAX_PICK and not inputs[0].index:
            return _with_next(inputs[0].node, node)
        if not _is_pick(node) or not _fits(inputs[0].node, node):
            return None
        data = inputs[0].node.inputs[0]
        narrow = _before_widening(data)
        arrays = (data if narrow is None else narrow, inputs[1])
        return _made(node, arrays, {**node.attrs, "scale": 1.0, "wide": narrow is not None})

    return eliminate_dead_code(rebuild(graph, rule))


def _made(node: Node, inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Sequence[Value]:
    specs = LOG_SOFTMAX_PICK.infer(*(value.spec for value in inputs), **attrs)
    return [Value(Node(LOG_SOFTMAX_PICK, node.name, inputs, attrs, specs, node.extra))]


def _with_next(fused: Node, node: Node) -> Sequence[Value] | None:
    """Return the fused operator with the following node included; None if that is not possible."""
    assert node.op is not None
    attrs = dict(fused.attrs)
    if node.op.name in ("negative", "_mul_scalar"):
        factor = node.attrs.get("scalar", -1.0)
        if abs(factor) != 1 and node.specs[0].dtype.itemsize < 4:
            return None  # the product would have been rounded to this type
        attrs["scale"] *= factor
        return _made(node, fused.inputs, attrs)
    without_axis = list(fused.specs[1].shape)
    del without_axis[attrs["axis"]]
    if node.op.name not in _RESHAPES or list(node.specs[0].shape) != without_axis:
        return None
    return _made(node, fused.inputs, attrs | {"keepdims": False})


def _before_widening(value: Value) -> Value | None:
    """Return the source of a cast from 16-bit floats to float32; None for other values."""
    node = value.node
    if node.op is None or node.op.name != "Cast" or value.spec.dtype != FLOAT32:
        return None
    before = node.inputs[0]
    return before if before.spec.dtype in (FLOAT16, BFLOAT16) else None


def _is_pick(node: Node) -> bool:
    return node.op is not None and node.op.name == "pick" and node.attrs["axis"] is not None


def _fits(node: Node, pick: Node) -> bool:
    """Whether a node is a log_softmax along the axis of a pick, without options."""
    if node.op is None or node.op.name != "log_softmax" or len(node.inputs) != 1:
        return False
    spec, rank = node.inputs[0].spec, len(node.specs[0].shape)
    if node.specs[0].dtype != spec.dtype or node.attrs["temperature"] not in (None, 1.0):
        return False
    return bool(node.attrs["axis"] % rank == pick.attrs["axis"] % rank)
