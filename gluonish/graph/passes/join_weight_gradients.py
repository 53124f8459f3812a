"""Gradients of weights that are computed channels last, copied to their arrays by one operator."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.core.spec import Spec
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import count_reads
from gluonish.ops.fused.cast_weights import CAST_WEIGHTS
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.memory_layout import has_channels

_NAMES = ("_convolution_backward_weight", "_convolution_backward_weight_bias")
# Bytes per operator at least: a store sums the first gradients while the last are computed.
_ENOUGH = 16 << 20

Starts = Callable[[Operator, Attrs, Sequence[Spec], Any], bool]


def join_weight_gradients(graph: Graph, *, starts: Starts, xp: Any = None) -> Graph:
    """Copy gradients of weights that are laid out channels last by few operators.

    Args:
        graph: The graph.
        starts: Returns whether an operator, given its attributes, the specs of its inputs and
            ``xp``, computes the weight's gradient channels last.
        xp: The device's array module.

    Requires: specs on every value; gradients are in the graph already, since the new operator has
    none.
    Ensures: the same values. An output of the graph that is such a gradient is that of a
    `_cast_weights` over neighbours of the same dtype, of 16 MB or more if there are as many.
    ``MXNET_DISABLED_GRAPH_PASSES=channels_last`` leaves the graph unchanged.
    """
    if "channels_last" in MXNET_DISABLED_GRAPH_PASSES.value:
        return graph
    made: dict[tuple[int, int], Value] = {}
    for values in _groups(_found(graph, starts, xp)):
        attrs = {"num_args": len(values), "dtype": values[0].spec.dtype}
        specs = CAST_WEIGHTS.infer(*(value.spec for value in values), **attrs)
        joined = Node(CAST_WEIGHTS, "weight_gradients", values, attrs, specs)
        made |= {value.key: Value(joined, i) for i, value in enumerate(values)}
    if not made:
        return graph
    outputs = [made.get(value.key, value) for value in graph.outputs]
    new = dict.fromkeys(value.node for value in made.values())
    return Graph(graph.inputs, outputs, [*graph.nodes, *new])


def _found(graph: Graph, starts: Starts, xp: Any) -> Iterator[Value]:
    """Yield gradients that nothing else reads, in order of their computation."""
    reads = count_reads(graph)
    outputs = {value.key for value in graph.outputs}
    for node in graph.nodes:
        value = Value(node)
        if (
            node.op is not None
            and node.op.name in _NAMES
            and value.key in outputs
            and reads[value.key] == 1
            and has_channels(value.spec)
            and starts(node.op, node.attrs, [x.spec for x in node.inputs], xp)
        ):
            yield value


def _groups(values: Iterator[Value]) -> Iterator[list[Value]]:
    """Yield values to join, of one dtype each."""
    by_dtype: dict[np.dtype[Any], list[Value]] = {}
    for value in values:
        group = by_dtype.setdefault(value.spec.dtype, [])
        group.append(value)
        if sum(x.spec.nbytes for x in group) >= _ENOUGH:
            yield by_dtype.pop(value.spec.dtype)
    yield from by_dtype.values()
