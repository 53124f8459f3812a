"""Dropout that stores the key of its random numbers instead of its factors."""

from collections.abc import Sequence

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.nn.dropout import DROPOUT, DROPOUT_FACTORS, DROPOUT_KEYED, drops
from gluonish.ops.registry import apply


def redraw_masks(graph: Graph) -> Graph:
    """Compute the factors of Dropout again where they are read, rather than store them.

    Pointwise kernels draw the same numbers again, from the key that the forward pass stores.

    Requires: specs on every value, training mode on every node that depends on it; gradients are
    in the graph already, since the new operator has none. Pointwise operators are fused later;
    without that pass the graph is left unchanged.
    Ensures: the same bits; the same random numbers, which are drawn in the same order. A Dropout
    that zeroes anything, without shared axes, stores its factors only if they are an output.
    """
    if "fuse_pointwise" in MXNET_DISABLED_GRAPH_PASSES.value or not has_operator(
        graph, (DROPOUT.name,)
    ):
        return graph
    outputs = {value.key for value in graph.outputs}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if (
            node.op is not DROPOUT
            or node.attrs["axes"]
            or not drops(node.attrs)
            or (id(node), 1) in outputs
        ):
            return None
        p, (data,) = node.attrs["p"], inputs
        out, key = apply(DROPOUT_KEYED, (data,), {"p": p})
        attrs = {"p": p, "shape": data.shape, "dtype": data.spec.dtype}
        return [out, apply(DROPOUT_FACTORS, (key,), attrs)]

    return rebuild(graph, rule)
