"""A graph as a list of its nodes, so that copying and pickling it needs no recursion.

A node refers to its inputs by their numbers in the list, where they stand before it.
"""

from collections.abc import Sequence
from typing import Any

from gluonish.graph.ir import Node, Value, topological_order

# Number of the node, which of its outputs, and the class of the value.
_Place = tuple[int, int, type[Value]]

# The arguments of each `Node`, with places in place of inputs; and the places of the outputs.
FlatGraph = tuple[list[tuple[Any, ...]], list[_Place]]


def flattened(outputs: Sequence[Value]) -> FlatGraph:
    """Return the graph of some values as a list."""
    numbers: dict[int, int] = {}
    nodes: list[tuple[Any, ...]] = []

    def places(values: Sequence[Value]) -> list[_Place]:
        return [(numbers[id(value.node)], value.index, type(value)) for value in values]

    for node in topological_order(outputs):
        fields = (node.attrs, node.specs, node.extra, node.array, node.given)
        nodes.append((node.op, node.name, places(node.inputs), *fields))
        numbers[id(node)] = len(numbers)
    return nodes, places(outputs)


def restored(graph: FlatGraph) -> list[Value]:
    """Return the values whose graph was flattened, on new nodes."""
    nodes, heads = graph
    made: list[Node] = []

    def values(places: Sequence[_Place]) -> list[Value]:
        return [kind(made[number], index) for number, index, kind in places]

    for op, name, inputs, attrs, specs, extra, array, given in nodes:
        made.append(Node(op, name, values(inputs), attrs, specs, dict(extra), array, given))
    return values(heads)
