"""Joint: a graph of outputs and their gradients, whose nodes belong to two passes."""

from collections.abc import Sequence

from gluonish.graph.ir import Graph, Node, Value, topological_order

__all__ = ["Joint", "overwritten"]

Key = tuple[int, int]


class Joint:
    """The two sides of a graph of outputs and gradients.

    Args:
        graph: Inputs, then gradients of the outputs as further variables (heads); outputs, then
            the gradients that are wanted.
        input_count: How many of its variables are inputs.
        output_count: How many of its outputs are outputs of the forward pass.

    Attributes:
        graph: The graph.
        inputs: The inputs.
        heads: The heads.
        outputs: The outputs.
        gradients: The gradients.
        forward: Operators that the outputs need, in order.
        backward: The other operators, in order.
        read: Values of forward operators that the backward side reads or delivers, in the order in
            which it first does.
    """

    __slots__ = (
        "backward",
        "forward",
        "gradients",
        "graph",
        "heads",
        "inputs",
        "outputs",
        "read",
    )

    def __init__(self, graph: Graph, input_count: int, output_count: int) -> None:
        self.graph = graph
        self.inputs = graph.inputs[:input_count]
        self.heads = graph.inputs[input_count:]
        self.outputs = graph.outputs[:output_count]
        self.gradients = graph.outputs[output_count:]
        ahead = {id(node) for node in topological_order(self.outputs)}
        operators = [node for node in graph.nodes if node.op is not None]
        self.forward = [node for node in operators if id(node) in ahead]
        self.backward = [node for node in operators if id(node) not in ahead]
        reads = [value for node in self.backward for value in node.inputs]
        self.read: dict[Key, Value] = {
            value.key: value
            for value in [*reads, *self.gradients]
            if value.node.op is not None and id(value.node) in ahead
        }


def overwritten(nodes: Sequence[Node]) -> set[Key]:
    """Return the keys of the values that some nodes overwrite."""
    return {
        node.inputs[i].key
        for node in nodes
        if node.op is not None
        for i in node.op.mutated_inputs(node.attrs)
    }
