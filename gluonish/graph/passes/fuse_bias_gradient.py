"""The gradients of a dense layer's weight and bias, which read the same array."""

from collections.abc import Sequence

from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.nn.dense import FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS
from gluonish.ops.registry import apply

# Sums of float32 are formed in float64, which products are not.
_DTYPES = (FLOAT16, BFLOAT16)

Key = tuple[int, int]


def fuse_bias_gradient(graph: Graph) -> Graph:
    """Make one operator of a product with a transposed matrix and the sums of its columns.

    Requires: specs on every value.
    Ensures: the same outputs within round-off; for 16-bit floats no dot of two matrices with only
    the first transposed is followed by a sum over the first axis of the same matrix.
    """
    if not has_operator(graph, ("sum",)):
        return graph
    sums = {node.inputs[0].key for node in graph.nodes if _sums_columns(node)}
    made: dict[Key, Node] = {}  # by the key of the matrix in the old graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if _is_weight_gradient(node) and node.inputs[0].key in sums:
            weight, bias = apply(FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS, tuple(inputs), {})
            made.setdefault(node.inputs[0].key, bias.node)
            return [weight]
        if _sums_columns(node) and node.inputs[0].key in made:
            return [Value(made[node.inputs[0].key], 1)]
        return None

    return rebuild(graph, rule) if sums else graph


def _sums_columns(node: Node) -> bool:
    if node.op is None or node.op.name != "sum" or node.specs[0].dtype not in _DTYPES:
        return False
    attrs, rank = node.attrs, len(node.inputs[0].spec.shape)
    return rank == 2 and attrs["axis"] == (0,) and not (attrs["keepdims"] or attrs["exclude"])


def _is_weight_gradient(node: Node) -> bool:
    if node.op is None or node.op.name != "dot" or node.specs[0].dtype not in _DTYPES:
        return False
    matrices = all(len(value.spec.shape) == 2 for value in node.inputs)
    return matrices and node.attrs["transpose_a"] and not node.attrs["transpose_b"]
