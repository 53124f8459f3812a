"""The gradient graph, and the graph of outputs and gradients together."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gluonish.graph.ir import Graph, Node, Value, topological_order, variable
from gluonish.ops.support.composite import input_gradients

Grads = dict[tuple[int, int], Any]  # sum of the gradients of each value so far
Observe = Callable[[Node, Sequence[Any], Sequence[Any]], None]


class GradientGraph:
    """The gradients of a graph's outputs with respect to some inputs.

    Attributes:
        heads: A variable for the gradient of each output.
        gradients: The gradient of each requested input; None if no gradient flows to it.
    """

    __slots__ = ("gradients", "heads")

    def __init__(self, heads: Sequence[Value], gradients: Sequence[Value | None]) -> None:
        self.heads = heads
        self.gradients = gradients


def differentiate(graph: Graph, positions: Collection[int]) -> GradientGraph:
    """Return the gradients of a graph's outputs with respect to some inputs.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        positions: Positions of inputs of the graph.

    Returns:
        Gradients in the order of ``sorted(positions)``, as values over the same nodes: rules may
        read values of the forward nodes.
    """
    heads = [variable(f"head{i}_grad", value.spec) for i, value in enumerate(graph.outputs)]
    return GradientGraph(heads, walk_back(graph, positions, heads, lambda value: value))


def walk_back(
    graph: Graph,
    positions: Collection[int],
    heads: Sequence[Any],
    value_of: Callable[[Value], Any],
    observe: Observe | None = None,
) -> list[Any]:
    """Apply the gradient rules of a graph's operators, from the outputs to some inputs.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        positions: Positions of inputs of the graph.
        heads: Gradients of the outputs, of the type that ``value_of`` returns.
        value_of: Returns the operand of rules for a value of the graph: the value, or an array.
        observe: Receives each node, the gradients of its outputs, and the gradients of its inputs.

    Returns:
        Gradients in the order of ``sorted(positions)``; None if no gradient flows to an input.
    """
    grads: Grads = {}
    for value, head in zip(graph.outputs, heads, strict=True):
        _add(grads, value.key, head)
    targets = [graph.inputs[i] for i in sorted(positions)]
    needed = _nodes_behind(graph, targets)
    for node in reversed(graph.nodes):
        if node.op is not None and id(node) in needed:
            _step_back(node, needed, grads, value_of, observe)
    return [grads.get((id(node), 0)) for node in targets]


def _nodes_behind(graph: Graph, targets: Sequence[Node]) -> set[int]:
    """Return the targets and the nodes that depend on them, through which gradients flow."""
    needed = {id(node) for node in targets}
    for node in graph.nodes:
        if any(id(value.node) in needed for value in node.inputs):
            needed.add(id(node))
    return needed


def _step_back(
    node: Node,
    needed: set[int],
    grads: Grads,
    value_of: Callable[[Value], Any],
    observe: Observe | None,
) -> None:
    received = [grads.get((id(node), i)) for i in range(node.num_outputs)]
    op = node.op
    if op is None or op.gradient is None:
        return
    if not op.ignores_head_gradient and all(g is None for g in received):
        return
    attrs: dict[str, Any] = dict(node.attrs)
    if op.draws(attrs):
        attrs["key"] = None  # rules read random numbers from the outputs, and never draw new ones
    outputs = [value_of(Value(node, i)) for i in range(node.num_outputs)]
    inputs = [value_of(value) for value in node.inputs]
    requires_grad = [id(value.node) in needed for value in node.inputs]
    found = input_gradients(op, received, inputs, outputs, attrs, requires_grad)
    if observe is not None:
        observe(node, received, found)
    for value, gradient in zip(node.inputs, found, strict=True):
        if gradient is not None:
            _add(grads, value.key, gradient)


def _add(grads: Grads, key: tuple[int, int], gradient: Any) -> None:
    present = grads.get(key)
    grads[key] = gradient if present is None else present + gradient


Key = tuple[int, int]


class Joint:
    """A graph of outputs and gradients, divided into a forward and a backward pass.

    Args:
        graph: The variables are inputs, then gradients of the outputs (heads); the outputs are
            those of the forward pass, then gradients of inputs.
        input_count: Number of inputs.
        output_count: Number of outputs of the forward pass.

    Attributes:
        forward: Operators that the outputs depend on, in order.
        backward: The other operators, in order.
        read: Values of forward operators that the backward pass reads or delivers, in order.
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
        behind = {id(node) for node in topological_order(self.outputs)}
        operators = [node for node in graph.nodes if node.op is not None]
        self.forward = [node for node in operators if id(node) in behind]
        self.backward = [node for node in operators if id(node) not in behind]
        reads = [value for node in self.backward for value in node.inputs]
        self.read: dict[Key, Value] = {
            value.key: value
            for value in [*reads, *self.gradients]
            if value.node.op is not None and id(value.node) in behind
        }


def overwritten(nodes: Sequence[Node]) -> set[Key]:
    """Return the keys of the values that some nodes overwrite."""
    return {
        node.inputs[i].key
        for node in nodes
        if node.op is not None
        for i in node.op.mutated_inputs(node.attrs)
    }
