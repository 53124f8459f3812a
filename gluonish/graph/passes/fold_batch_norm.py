"""Folding of batch normalization into the layer before it."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import Reads, count_reads, has_operator, rebuild
from gluonish.ops.nn.activation import ACTIVATION
from gluonish.ops.nn.dense import has_vector_bias
from gluonish.ops.normalization.fold_batch_norm import FOLD_BATCH_NORM

_NORMALIZATIONS = ("BatchNorm", "_contrib_BatchNormWithReLU")
_LAYERS = ("Convolution", "FullyConnected")


def fold_batch_norm(graph: Graph) -> Graph:
    """Normalize the weight and bias of a Convolution or FullyConnected instead of its output.

    Requires: specs on every value, the training mode on every node that depends on it, and that no
    gradient is required.
    Ensures: the outputs have the same specs and, within round-off, the same values. No BatchNorm
    with fixed statistics, whose statistics nothing reads, is the only reader of such a layer along
    its channels. The operators in its place depend on parameters only.
    """
    if not has_operator(graph, _NORMALIZATIONS):
        return graph
    reads = count_reads(graph)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if not _is_foldable(node, reads) or not _is_layer(node, inputs[0].node):
            return None
        return [_folded(node, inputs)]

    return eliminate_dead_code(rebuild(graph, rule))


def _is_foldable(node: Node, reads: Reads) -> bool:
    """Whether a node is a normalization with fixed statistics, and the only reader of its data."""
    if node.op is None or node.op.name not in _NORMALIZATIONS:
        return False
    fixed = not node.attrs.get("train", True) or node.attrs["use_global_stats"]
    alone = reads[node.inputs[0].key] == 1
    return fixed and alone and not any(reads[id(node), i] for i in range(1, node.num_outputs))


def _is_layer(node: Node, layer: Node) -> bool:
    """Whether a node is a layer with its output channels along the axis of a normalization."""
    if layer.op is None or layer.op.name not in _LAYERS:
        return False
    if layer.op.name == "FullyConnected" and not has_vector_bias(*(x.spec for x in layer.inputs)):
        return False
    rank = len(layer.specs[0].shape)
    layout = layer.attrs.get("layout") or ""
    last = layer.op.name == "FullyConnected" or layout.endswith("C")
    return bool(node.attrs["axis"] % rank == (rank - 1 if last else 1))


def _folded(node: Node, inputs: Sequence[Value]) -> Value:
    layer = inputs[0].node
    assert layer.op is not None
    data, weight, *bias = layer.inputs
    attrs = {name: node.attrs[name] for name in ("eps", "fix_gamma")}
    attrs["no_bias"] = layer.attrs["no_bias"]
    vector = FOLD_BATCH_NORM.infer(weight.spec, *(x.spec for x in (*bias, *inputs[1:])), **attrs)
    fold = Node(FOLD_BATCH_NORM, f"{node.name}_fold", (weight, *bias, *inputs[1:]), attrs, vector)
    made = Node(
        layer.op,
        layer.name,
        (data, Value(fold, 0), Value(fold, 1)),
        {**layer.attrs, "no_bias": False},
        layer.specs,
        layer.extra,
    )
    if node.op is not None and node.op.name == "BatchNorm":
        return Value(made)
    relu = {"act_type": "relu"}
    return Value(Node(ACTIVATION, node.name, (Value(made),), relu, layer.specs))
