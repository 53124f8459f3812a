"""Graphs of outputs and gradients for tests."""

from collections.abc import Collection

from gluonish.graph.gradient import Joint, differentiate
from gluonish.graph.ir import Graph


def joint_of(graph: Graph, wanted: Collection[int]) -> Joint:
    """Return a graph with the gradients of the wanted inputs."""
    found = differentiate(graph, wanted)
    gradients = [value for value in found.gradients if value is not None]
    heads = [head.node for head in found.heads]
    whole = Graph([*graph.inputs, *heads], [*graph.outputs, *gradients])
    return Joint(whole, len(graph.inputs), len(graph.outputs))
