"""A graph as a list of nodes, so that copying and pickling it needs no recursion.

A node refers to its inputs by their indices in the list; they come before it.
"""

from collections.abc import Sequence
from typing import Any

from gluonish.graph.ir import Node, Value, topological_order

# Index of the node, index of the output, and class of the value.
_Reference = tuple[int, int, type[Value]]

# The arguments of each `Node`, with references for its inputs; and references to the outputs.
FlatGraph = tuple[list[tuple[Any, ...]], list[_Reference]]


def flattened(outputs: Sequence[Value]) -> FlatGraph:
    """Return the graph of some values as a list."""
    indices: dict[int, int] = {}
    nodes: list[tuple[Any, ...]] = []

    def references(values: Sequence[Value]) -> list[_Reference]:
        return [(indices[id(value.node)], value.index, type(value)) for value in values]

    for node in topological_order(outputs):
        fields = (node.attrs, node.specs, node.extra, node.array, node.given)
        nodes.append((node.op, node.name, references(node.inputs), *fields))
        indices[id(node)] = len(indices)
    return nodes, references(outputs)


def restored(graph: FlatGraph) -> list[Value]:
    """Return the values whose graph was flattened, on new nodes."""
    nodes, heads = graph
    made: list[Node] = []

    def values(references: Sequence[_Reference]) -> list[Value]:
        return [kind(made[position], index) for position, index, kind in references]

    for op, name, inputs, attrs, specs, extra, array, given in nodes:
        made.append(Node(op, name, values(inputs), attrs, specs, dict(extra), array, given))
    return values(heads)
