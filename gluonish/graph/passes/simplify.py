"""Simplification: what computes nothing goes."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import rebuild

__all__ = ["simplify"]


def simplify(graph: Graph) -> Graph:
    """Drop copies, dropout outside training, reshapes and casts that change nothing, and all but
    the last of a reshape chain.

    Requires: specs on every value, and the training mode on every node that depends on it.
    Ensures: the outputs have the specs and values that they had.
    """
    read = {value.key for node in graph.nodes for value in node.inputs}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        return _simpler(node, inputs, mask_is_read=(id(node), 1) in read)

    return rebuild(graph, rule)


def _simpler(node: Node, inputs: Sequence[Value], *, mask_is_read: bool) -> Sequence[Value] | None:
    """Return values that stand for a node's outputs; None to keep it."""
    op = node.op
    if op is None or not inputs:
        return None
    source = inputs[0]
    if op.name == "_copy" or (op.name in ("Reshape", "Cast") and source.spec == node.specs[0]):
        return [source]
    if op.name == "Dropout" and not mask_is_read and _does_nothing(node):
        return [source, source]
    if op.name == "Reshape" and source.node.op is not None and source.node.op.identity:
        kept = Node(op, node.name, source.node.inputs[:1], _plain(node), node.specs, node.extra)
        return [Value(kept)]
    return None


def _does_nothing(node: Node) -> bool:
    return not node.attrs.get("train", True) and node.attrs["mode"] == "training"


def _plain(node: Node) -> dict[str, object]:
    """Return attributes of a Reshape that names its target without codes, so that it fits any
    source."""
    attrs = dict(node.attrs)
    return attrs | {"shape": node.specs[0].shape, "reverse": False}
