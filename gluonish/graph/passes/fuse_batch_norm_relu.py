"""Fusion of batch normalization and a following ReLU, for training."""

from collections.abc import Callable, Sequence

from gluonish.core.spec import Spec
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import count_reads, has_operator, rebuild
from gluonish.ops.normalization.batch_norm_relu import BATCH_NORM_RELU


def fuse_batch_norm_relu(graph: Graph, leave: Callable[[Node], bool] = lambda node: False) -> Graph:
    """Compute BatchNorm and a following ReLU in one operator.

    Args:
        leave: Whether to leave a BatchNorm unchanged.

    Requires: specs on every value, and the training mode on every node that depends on it.
    Ensures: the outputs have the same specs, values and gradients. No ReLU is the only reader of a
    BatchNorm in training whose statistics nothing reads, except for those left unchanged.
    """
    if not has_operator(graph, ("BatchNorm",)):
        return graph
    reads = count_reads(graph)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if not _is_relu(node) or reads[node.inputs[0].key] != 1:
            return None
        old, new = node.inputs[0].node, inputs[0].node
        if old.op is None or old.op.name != "BatchNorm" or not old.attrs.get("train", False):
            return None
        if leave(old):
            return None
        if any(reads[id(old), i] for i in range(1, old.num_outputs)):
            return None
        specs: tuple[Spec, ...] = BATCH_NORM_RELU.infer(
            *(value.spec for value in new.inputs),
            **{name: new.attrs[name] for name in BATCH_NORM_RELU.schema.attributes},
        )
        return [Value(Node(BATCH_NORM_RELU, new.name, new.inputs, new.attrs, specs, new.extra))]

    return eliminate_dead_code(rebuild(graph, rule))


def _is_relu(node: Node) -> bool:
    if node.op is None:
        return False
    return node.op.name == "relu" or (
        node.op.name == "Activation" and node.attrs["act_type"] == "relu"
    )
