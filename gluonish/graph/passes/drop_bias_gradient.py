"""The gradient of a bias that a batch normalization takes away again: zero."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.registry import apply, find_operator

_WEIGHT = find_operator("_convolution_backward_weight")
_ZEROS = find_operator("zeros_like")


def drop_bias_gradient(graph: Graph) -> Graph:
    """Do without the sums for the gradient of a bias in front of BatchNorm.

    The output of BatchNorm with statistics of the batch does not depend on what is added to a
    channel, so that the gradient it hands on sums to zero over each channel; summing it gives
    nothing but round-off.

    Requires: specs on every value, and BatchNorm's gradient by its parts.
    Ensures: outputs as before within round-off. Where only such a gradient reaches a convolution,
    its weight's is computed alone.
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
        return [weight, apply(_ZEROS, (beta,), {})]

    return rebuild(graph, rule)


def _sums_to_zero(node: Node) -> bool:
    """Whether a node is the gradient of BatchNorm's data with statistics of the batch."""
    if node.op is None or node.op.name != "_batch_norm_data_gradient":
        return False
    return not node.inputs[5].node.attrs["use_global_stats"]
