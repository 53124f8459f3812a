"""Loops and branches that save no values for gradients."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.rewrite import rebuild


def drop_history(graph: Graph) -> Graph:
    """Drop the saved values of control flow that nothing reads.

    Requires: specs on every value, and that no gradient will be computed.
    Ensures: all values that are read are the same.
    """
    if not any("subgraphs" in node.attrs for node in graph.nodes):
        return graph
    read = {x.key for node in graph.nodes for x in node.inputs} | {x.key for x in graph.outputs}

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if "subgraphs" not in node.attrs or not node.attrs.get("keep", True):
            return None
        visible, total = node.num_visible, node.num_outputs
        if any((id(node), i) in read for i in range(visible, total)):
            return None
        attrs = {**node.attrs, "keep": False}
        made = Node(node.op, node.name, inputs, attrs, node.specs[:visible], node.extra)
        return [Value(made, i) for i in range(visible)]

    return rebuild(graph, rule)
