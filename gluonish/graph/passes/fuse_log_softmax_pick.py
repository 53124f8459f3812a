"""Fusion of log_softmax and the pick behind it: the cross entropy of class numbers."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.dead_code import eliminate_dead_code
from gluonish.graph.readers import count_reads
from gluonish.graph.rewrite import rebuild
from gluonish.ops.log_softmax_pick import LOG_SOFTMAX_PICK

__all__ = ["fuse_log_softmax_pick"]


def fuse_log_softmax_pick(graph: Graph) -> Graph:
    """Take one element of each row of log_softmax without making the others.

    Requires: specs on every value.
    Ensures: the outputs have the specs, values and gradients that they had, but for round-off. No
    pick is the only reader of a plain log_softmax along the same axis.
    """
    reads = count_reads(graph)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is None or node.op.name != "pick" or node.attrs["axis"] is None:
            return None
        old, new = node.inputs[0], inputs[0].node
        if reads[old.key] != 1 or not _fits(old.node, node):
            return None
        arrays = (new.inputs[0], inputs[1])
        specs = LOG_SOFTMAX_PICK.infer(*(value.spec for value in arrays), **node.attrs)
        return [Value(Node(LOG_SOFTMAX_PICK, node.name, arrays, node.attrs, specs, node.extra))]

    return eliminate_dead_code(rebuild(graph, rule))


def _fits(node: Node, pick: Node) -> bool:
    """Whether a node is a log_softmax along the axis of a pick, without options."""
    if node.op is None or node.op.name != "log_softmax" or len(node.inputs) != 1:
        return False
    spec, rank = node.inputs[0].spec, len(node.specs[0].shape)
    if node.specs[0].dtype != spec.dtype or node.attrs["temperature"] not in (None, 1.0):
        return False
    return bool(node.attrs["axis"] % rank == pick.attrs["axis"] % rank)
