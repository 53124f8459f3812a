"""The gradient of a bias in front of batch normalization, which is zero."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import rebuild
from gluonish.ops.registry import apply, find_operator

_WEIGHT = find_operator("_convolution_backward_weight")
_ZEROS = find_operator("_zeros_like_many")


def drop_bias_gradient(graph: Graph) -> Graph:
    """Replace the gradient of a bias in front of BatchNorm with zeros.

    BatchNorm with batch statistics does not depend on a constant added to a channel, so its data
    gradient sums to zero over each channel, except for round-off.

    Requires: specs on every value, and the gradient of BatchNorm split into its operators.
    Ensures: the same outputs within round-off. A convolution that only such a gradient reaches
    computes the gradient of its weight alone, and one operator makes the zeros of all biases.
    """
    found = [node for node in graph.nodes if _is_dropped(node)]
    zeros = _zeros(found)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if id(node) not in zeros:
            return None
        return [apply(_WEIGHT, inputs, node.attrs), zeros[id(node)]]

    return rebuild(graph, rule) if zeros else graph


def _is_dropped(node: Node) -> bool:
    """Whether a node computes the gradient of such a bias."""
    if node.op is None or node.op.name != "_convolution_backward_weight_bias":
        return False
    return _sums_to_zero(node.inputs[0].node)


def _zeros(nodes: Sequence[Node]) -> dict[int, Value]:
    """Return zeros for the bias of each node, from one operator for all biases of a dtype."""
    groups: dict[np.dtype[Any], list[Node]] = {}
    for node in nodes:
        groups.setdefault(Value(node, 1).spec.dtype, []).append(node)
    found: dict[int, Value] = {}
    for dtype, group in groups.items():
        # The scale of BatchNorm has the shape of the bias, but is float32 even if that has 16 bits.
        like = [node.inputs[0].node.inputs[4] for node in group]
        attrs = {"num_args": len(like), "dtype": dtype}
        specs = _ZEROS.infer(*(value.spec for value in like), **attrs)
        zeros = Node(_ZEROS, "zeros", like, attrs, specs)
        found |= {id(node): Value(zeros, i) for i, node in enumerate(group)}
    return found


def _sums_to_zero(node: Node) -> bool:
    """Whether a node is the data gradient of BatchNorm with batch statistics."""
    if node.op is None or node.op.name != "_batch_norm_data_gradient":
        return False
    return not node.inputs[5].node.attrs["use_global_stats"]
