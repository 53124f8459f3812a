"""Fusion of RNN and the operators that join its parameters into one vector."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import has_operator, rebuild
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.recurrent.fused_rnn import FUSED_RNN, param_shapes
from gluonish.ops.recurrent.layout import dims_of

FLATTENING = ("Reshape", "_reshape_exact", "Flatten")


def fuse_rnn(graph: Graph) -> Graph:
    """Run recurrent layers on separate weights and biases.

    Requires: specs on every value, and the training mode on every node that depends on it.
    Ensures: the outputs have the same specs, values and gradients. No RNN reads a
    _rnn_param_concat of all its weights and biases, nor a cast of one.
    """
    if not has_operator(graph, ("RNN",)):
        return graph

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is None or node.op.name != "RNN":
            return None
        params = _separate_params(node, inputs)
        if params is None:
            return None
        arrays = (inputs[0], *inputs[2:], *params)
        made = Node(FUSED_RNN, node.name, arrays, node.attrs, node.specs, node.extra)
        return [Value(made, i) for i in range(made.num_outputs)]

    return eliminate_dead_code(rebuild(graph, rule))


def _separate_params(node: Node, inputs: Sequence[Value]) -> list[Value] | None:
    """Return the weights and biases of an RNN node in their shapes; None if they are not joined."""
    vector = inputs[1]
    narrow = vector.node.op is not None and vector.node.op.name == "Cast"
    joined = vector.node.inputs[0].node if narrow else vector.node
    if joined.op is None or joined.op.name != "_rnn_param_concat":
        return None
    shapes = param_shapes(dims_of(inputs[0].spec.shape, node.attrs))
    params = []
    for value in joined.inputs:
        source = value.node
        if source.op is not None and source.op.name in FLATTENING:
            value = source.inputs[0]
        params.append(cast(value, vector.spec.dtype) if narrow else value)
    return params if [x.spec.shape for x in params] == shapes else None
