"""The gradient of a bias in front of batch normalization, which is zero."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.registry import apply, find_operator

_WEIGHT = find_operator("_convolution_backward_weight")
_ZEROS = find_operator("zeros_like")
_FULL = find_operator("_npi_full_like")


def drop_bias_gradient(graph: Graph) -> Graph:
    """Replace the gradient of a bias in front of BatchNorm with zeros.

    BatchNorm with batch statistics does not depend on a constant added to a channel, so its data
    gradient sums to zero over each channel, except for round-off.

    Requires: specs on every value, and the gradient of BatchNorm split into its operators.
    Ensures: the same outputs within round-off. A convolution that only such a gradient reaches
    computes the gradient of its weight alone.
    """
    if not has_operator(graph, ("_convolution_backward_weight_bias",)):
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is None or node.op.name != "_convolution_backward_weight_bias":
            return None
        if not _sums_to_zero(inputs[0].node):
            return None
        weight = apply(_WEIGHT, inputs, node.attrs)
        beta = inputs[0].node.inputs[4]
        return [weight, _zeros(beta, Value(node, 1).spec.dtype)]

    return rebuild(graph, rule)


def _zeros(like: Value, dtype: np.dtype[Any]) -> Value:
    """Return zeros in the shape of ``like``, which is float32 even if the bias has 16 bits."""
    if like.spec.dtype == dtype:
        zeros: Value = apply(_ZEROS, (like,), {})
    else:
        zeros = apply(_FULL, (like,), {"fill_value": 0.0, "ctx": "", "dtype": dtype})
    return zeros


def _sums_to_zero(node: Node) -> bool:
    """Whether a node is the data gradient of BatchNorm with batch statistics."""
    if node.op is None or node.op.name != "_batch_norm_data_gradient":
        return False
    return not node.inputs[5].node.attrs["use_global_stats"]
