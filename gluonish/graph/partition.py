"""Partition: one graph of outputs and gradients, parted into a forward and a backward pass."""

from collections.abc import Sequence

from gluonish.graph.gradient import differentiate
from gluonish.graph.ir import Graph, Node, Value, topological_order
from gluonish.graph.pipeline import optimize

__all__ = ["Partition"]

Key = tuple[int, int]


class Partition:
    """The two passes of a graph.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        wanted: Positions of the inputs whose gradient is wanted; may be empty.

    Attributes:
        forward: Operators of the forward pass, in order.
        backward: Operators of the backward pass, in order.
        inputs: The graph's inputs.
        outputs: The graph's outputs.
        heads: Gradients of the outputs, one each, which the backward pass is given.
        gradients: What the backward pass computes.
        gradient_positions: For each gradient, which input it belongs to.
        kept: Values, other than inputs and outputs, that the backward pass reads or delivers.
        read_inputs: Positions of the inputs that the backward pass reads or delivers.
        read_outputs: The same of the outputs.
    """

    def __init__(self, graph: Graph, wanted: Sequence[int]) -> None:
        count = len(graph.inputs)
        flowing: list[tuple[int, Value]] = []
        joint = graph
        if wanted:
            found = differentiate(graph, wanted)
            pairs = zip(sorted(wanted), found.gradients, strict=True)
            flowing = [(i, g) for i, g in pairs if g is not None]
            heads = [head.node for head in found.heads]
            joint = optimize(_joined(graph, heads, [g for _, g in flowing]))
        self.inputs = [Value(node) for node in joint.inputs[:count]]
        self.heads = [Value(node) for node in joint.inputs[count:]]
        self.outputs = joint.outputs[: len(graph.outputs)]
        self.gradients = joint.outputs[len(graph.outputs) :]
        self.gradient_positions = [i for i, _ in flowing]
        ahead = {id(node) for node in topological_order(self.outputs)}
        operators = [node for node in joint.nodes if node.op is not None]
        self.forward = [node for node in operators if id(node) in ahead]
        self.backward = [node for node in operators if id(node) not in ahead]
        read = self._read_by_backward()
        self.read_inputs = [
            i for i, value in enumerate(self.inputs) if read.pop(value.key, None) is not None
        ]
        self.read_outputs = [
            i
            for i, value in enumerate(self.outputs)
            if value.node.op is not None and read.pop(value.key, None) is not None
        ]
        self.kept = list(read.values())

    def _read_by_backward(self) -> dict[Key, Value]:
        """Return the values from before the backward pass that it reads or delivers."""
        own = {id(node) for node in self.backward} | {id(head.node) for head in self.heads}
        reads = [value for node in self.backward for value in node.inputs]
        return {
            value.key: value
            for value in [*reads, *self.gradients]
            if id(value.node) not in own and value.node.array is None
        }


def _joined(graph: Graph, heads: Sequence[Node], gradients: Sequence[Value]) -> Graph:
    """Return the graph with gradients among its outputs, forward nodes first."""
    outputs = [*graph.outputs, *gradients]
    known = {id(node) for node in graph.nodes}
    behind = [node for node in topological_order(outputs) if id(node) not in known]
    return Graph([*graph.inputs, *heads], outputs, [*graph.nodes, *behind])
