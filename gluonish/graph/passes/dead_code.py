"""Dead code elimination."""

from gluonish.graph.ir import Graph, topological_order

__all__ = ["eliminate_dead_code"]


def eliminate_dead_code(graph: Graph) -> Graph:
    """Drop nodes whose outputs nobody needs.

    Requires: nothing.
    Ensures: every operator node leads to an output of the graph; the others keep their order. A
    node that updates moving statistics is dropped with its output: MXNet would not run it either.
    """
    needed = {id(node) for node in topological_order(graph.outputs)}
    return Graph(graph.inputs, graph.outputs, [n for n in graph.nodes if id(n) in needed])
