"""Checks of a graph's invariants, between passes and in tests."""

from gluonish.core.errors import GraphError
from gluonish.graph.ir import Graph, infer_specs


def lint(graph: Graph) -> Graph:
    """Return the graph if it is valid.

    Every input of a node is an output of an earlier node; every variable that is read is an input
    of the graph; every output is a value of the graph; every node has the specs that its operator
    infers.

    Raises:
        GraphError: A node breaks a rule; the message names it.
    """
    variables = {id(node) for node in graph.inputs}
    earlier: set[int] = set()
    for node in graph.nodes:
        for value in node.inputs:
            if id(value.node) not in earlier or value.index >= value.node.num_outputs:
                raise GraphError(
                    f"lint: expected inputs of {node.name} to come earlier, got {value.node.name}"
                )
        if node.op is None and node.array is None and id(node) not in variables:
            raise GraphError(f"lint: expected {node.name} among the graph's inputs, got a stranger")
        if node.op is not None and node.specs:
            expected = infer_specs(node.op, [value.spec for value in node.inputs], node.attrs)
            if tuple(expected) != node.specs:
                raise GraphError(
                    f"lint: expected {node.name} to give {[*map(str, expected)]}, got "
                    f"{[*map(str, node.specs)]}"
                )
        earlier.add(id(node))
    for value in graph.outputs:
        if id(value.node) not in earlier:
            raise GraphError(f"lint: expected output {value.node.name} in the graph, got none")
    return graph
