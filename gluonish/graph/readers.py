"""How often the values of a graph are read."""

from collections import Counter

from gluonish.graph.ir import Graph

__all__ = ["Reads", "count_reads"]

Reads = Counter[tuple[int, int]]


def count_reads(graph: Graph) -> Reads:
    """Return how often each value is read, by its key; each output of the graph counts as once."""
    counts = Counter(value.key for node in graph.nodes for value in node.inputs)
    counts.update(value.key for value in graph.outputs)
    return counts
