"""Casts of parameters, and changes of their memory layout, by one operator for all of them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.core.dtype import is_floating
from gluonish.core.spec import Spec
from gluonish.graph.gradient import overwritten
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import rebuild
from gluonish.ops.fused.cast_weights import CAST_WEIGHTS
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.memory_layout import has_channels

_CASTS = ("Cast", "amp_cast")
# The position of the weight of convolutions.
_WEIGHTS = {
    "Convolution": 1,
    "Deconvolution": 1,
    "_convolution_backward_data": 1,
    "_fused_convolution": 1,
}

Key = tuple[int, int]
Group = tuple[np.dtype[Any], np.dtype[Any]]  # dtypes before and after
Starts = Callable[[Operator, Attrs, Sequence[Spec], Any], bool]


def cast_weights(
    graph: Graph, *, starts: Starts, parameters: Collection[Node] = (), xp: Any = None
) -> Graph:
    """Replace casts of parameters with one operator, and let convolutions read its outputs.

    Args:
        graph: The graph.
        starts: Returns whether an operator, given its attributes, the specs of its inputs and
            ``xp``, reads its weight channels last.
        parameters: The inputs of the graph that are parameters.
        xp: The device's array module.

    Requires: specs on every value; gradients are in the graph already, since the new operator has
    none.
    Ensures: the same values. There is one `_cast_weights` for each pair of dtypes. It computes all
    casts of parameters between floating dtypes and, for convolutions that read weights channels
    last, the weights whose two memory layouts differ. So each of them is computed once.
    ``MXNET_DISABLED_GRAPH_PASSES=channels_last`` leaves the latter out.
    """
    if "channels_last" in MXNET_DISABLED_GRAPH_PASSES.value:
        starts = _never
    changed = overwritten([node for node in graph.nodes if node.op is not None])
    stable = {id(node) for node in parameters} - {node for node, _ in changed}
    groups: dict[Group, dict[Key, Value]] = {}
    for node in graph.nodes:
        for value, dtype in _cast(node, stable, starts, xp):
            groups.setdefault((value.spec.dtype, dtype), {})[value.key] = value
    made: dict[tuple[Key, np.dtype[Any]], Value] = {}
    for (before, after), values in groups.items():
        if before == after or len(values) > 1:
            made |= _joined(list(values.values()), after)
    if not made:
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        found = [made.get((x.key, dtype)) for x, dtype in _cast(node, stable, starts, xp)]
        if node.op is None or not found or found[0] is None:
            return None
        if node.op.name in _CASTS:
            return [found[0]]
        read = list(inputs)
        read[_WEIGHTS[node.op.name]] = found[0]
        copy = Node(node.op, node.name, read, node.attrs, node.specs, node.extra)
        return [Value(copy, i) for i in range(copy.num_outputs)]

    return rebuild(graph, rule)


def _never(*_: object) -> bool:
    return False


def _cast(
    node: Node, stable: Collection[int], starts: Starts, xp: Any
) -> Iterator[tuple[Value, np.dtype[Any]]]:
    """Yield a parameter that a node casts, or reads channels last, and the dtype to cast it to."""
    op = node.op
    if op is None:
        return
    if op.name in _CASTS:
        value = node.inputs[0]
        dtypes = value.spec.dtype, node.specs[0].dtype
        if id(value.node) in stable and all(map(is_floating, dtypes)):
            yield value, dtypes[1]
    elif op.name in _WEIGHTS:
        value = node.inputs[_WEIGHTS[op.name]]
        specs = [x.spec for x in node.inputs]
        differs = id(value.node) in stable and has_channels(value.spec)
        if differs and starts(op, node.attrs, specs, xp):
            yield value, value.spec.dtype


def _joined(
    values: Sequence[Value], dtype: np.dtype[Any]
) -> dict[tuple[Key, np.dtype[Any]], Value]:
    """Return the cast of each value, by its key and the dtype."""
    attrs = {"num_args": len(values), "dtype": dtype}
    specs = CAST_WEIGHTS.infer(*(value.spec for value in values), **attrs)
    node = Node(CAST_WEIGHTS, "cast_weights", values, attrs, specs)
    return {(value.key, dtype): Value(node, i) for i, value in enumerate(values)}
