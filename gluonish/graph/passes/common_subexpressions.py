"""Common-subexpression elimination."""

from collections.abc import Sequence
from operator import is_
from typing import Any

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import rebuild

__all__ = ["eliminate_common_subexpressions"]


def eliminate_common_subexpressions(graph: Graph) -> Graph:
    """Compute the same operator on the same inputs once.

    Requires: nothing.
    Ensures: no two nodes of the graph have the same operator, inputs and attributes, but for those
    that draw random numbers or overwrite an input.
    """
    first: dict[Any, Sequence[Value]] = {}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        op = node.op
        if op is None or op.draws(node.attrs) or op.mutates:
            return None
        # By their text: 0.0 equals -0.0, and 1 equals True.
        attrs = node.attrs
        texts = [(name, repr(attrs[name])) for name in sorted(attrs)] if attrs else ()
        key = (op.name, tuple([x.key for x in inputs]), tuple(texts))
        values = first.get(key)
        if values is not None:
            return values
        if inputs is node.inputs or all(map(is_, inputs, node.inputs)):
            first[key] = _outputs(node)
            return None
        kept = Node(op, node.name, inputs, node.attrs, node.specs, node.extra)
        first[key] = _outputs(kept)
        return first[key]

    return rebuild(graph, rule)


def _outputs(node: Node) -> Sequence[Value]:
    return [Value(node, i) for i in range(node.num_outputs)]
