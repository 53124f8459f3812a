"""BatchNorm split into sums over the batch and elementwise arithmetic, which can be fused."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.pointwise import CLIP_BACKWARD
from gluonish.ops.registry import apply, find_operator
from gluonish.ops.shape.reshape import reshape

_STATISTICS = find_operator("_batch_norm_statistics")
_SUMS = find_operator("_batch_norm_sums")
_DATA_GRADIENT = find_operator("_batch_norm_data_gradient")


def split_batch_norm(graph: Graph, dtypes: Collection[np.dtype[Any]] = (FLOAT32,)) -> Graph:
    """Replace BatchNorm over axis 1, and its gradient, with several operators.

    Args:
        graph: The graph.
        dtypes: Dtypes of data whose normalization is split.

    Requires: specs on every value, training mode on every node that depends on it; gradients are
    in the graph already, since the new operators have none.
    Ensures: the same values within round-off. The gradient of a relu or clip that only the gradient
    of BatchNorm reads is included, and is computed from the input of BatchNorm: it reads neither
    input nor output of the function.
    """
    if not has_operator(graph, ("BatchNorm",)):
        return graph
    readers = Counter(value.key for node in graph.nodes for value in node.inputs)
    readers.update(value.key for value in graph.outputs)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is None:
            return None
        if is_split(node, dtypes):
            return _forward(node, inputs)
        if node.op.name == "_batch_norm_backward" and inputs[3].node.op is _STATISTICS:
            return _backward(node, inputs, sole_reader=readers[node.inputs[0].key] == 1)
        return None

    return rebuild(graph, rule)


def is_split(node: Node, dtypes: Collection[np.dtype[Any]] = (FLOAT32,)) -> bool:
    """Whether `split_batch_norm` splits a node."""
    if node.op is None or node.op.name != "BatchNorm":
        return False
    data = node.inputs[0].spec
    rank = len(data.shape)
    return rank >= 2 and node.attrs["axis"] % rank == 1 and data.dtype in dtypes and data.size > 0


def _forward(node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    data, gamma, beta, *moving = inputs
    names = ("eps", "momentum", "fix_gamma", "use_global_stats", "train")
    attrs = {name: node.attrs[name] for name in names}
    attrs["has_bias"] = False
    mean, inverse_std, scale = apply(_STATISTICS, (data, gamma, *moving), attrs)
    shape = (1, -1, *(1,) * (len(data.shape) - 2))
    wide = mean.spec.dtype
    centred = (data if data.spec.dtype == wide else cast(data, wide)) - reshape(mean, shape)
    out = centred * reshape(scale, shape) + reshape(beta, shape)
    return [out if data.spec.dtype == wide else cast(out, data.spec.dtype), mean, inverse_std]


def _backward(node: Node, inputs: Sequence[Value], *, sole_reader: bool) -> Sequence[Value]:
    grad, data, _, mean, inverse_std = inputs
    statistics = mean.node
    scale = Value(statistics, 2)
    old = node.inputs[0].node
    forward = node.inputs[3].node
    bounds = _bounds(old, Value(forward, 0)) if sole_reader else ()
    if bounds:
        grad = grad.node.inputs[0]
    beta = forward.inputs[2]
    flags = {name: node.attrs[name] for name in ("fix_gamma", "use_global_stats")}
    d_gamma, d_beta, slope, offset = apply(
        _SUMS, (grad, data, mean, inverse_std, scale, beta), {"bounds": bounds, **flags}
    )
    d_data = apply(
        _DATA_GRADIENT, (grad, data, mean, scale, beta, slope, offset), {"bounds": bounds}
    )
    return [d_data, d_gamma, d_beta]


def _bounds(node: Node, x: Value) -> tuple[float, ...]:
    """Return the bounds of a relu or clip of ``x`` if the node is its gradient, else ()."""
    if node.op is None:
        return ()
    if node.op is CLIP_BACKWARD and node.inputs[1].key == x.key:
        found = node.attrs["a_min"], node.attrs["a_max"]
        return found if all(map(math.isfinite, found)) else ()
    if node.op.name != "_activation_backward" or node.attrs["act_type"] != "relu":
        return ()
    relu = node.inputs[1].node  # its gradient reads the output
    names = ("relu", "Activation")
    is_of = relu.op is not None and relu.op.name in names and relu.inputs[0].key == x.key
    return (0.0,) if is_of else ()
