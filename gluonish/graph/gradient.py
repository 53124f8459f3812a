"""Gradients of a graph by its operators' own rules: as a graph, or on any values one likes."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gluonish.graph.ir import Graph, Node, Value, variable
from gluonish.ops.support.composite import input_gradients

__all__ = ["GradientGraph", "differentiate", "walk_back"]

Grads = dict[tuple[int, int], Any]  # the gradient so far of each value


class GradientGraph:
    """Gradients of a graph's outputs.

    Attributes:
        heads: Variables for the gradients of the outputs, one each.
        gradients: For each wanted input its gradient, None where no gradient flows to it.
    """

    __slots__ = ("gradients", "heads")

    def __init__(self, heads: Sequence[Value], gradients: Sequence[Value | None]) -> None:
        self.heads = heads
        self.gradients = gradients


def differentiate(graph: Graph, wanted: Collection[int]) -> GradientGraph:
    """Return the gradients of a graph's outputs with respect to some inputs.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        wanted: Positions among the graph's inputs.

    Returns:
        Gradients in the order of ``sorted(wanted)``, as values over the same nodes: they read the
        forward nodes' values where the rules need them.
    """
    heads = [variable(f"head{i}_grad", value.spec) for i, value in enumerate(graph.outputs)]
    return GradientGraph(heads, walk_back(graph, wanted, heads, lambda value: value))


def walk_back(
    graph: Graph,
    wanted: Collection[int],
    heads: Sequence[Any],
    value_of: Callable[[Value], Any],
) -> list[Any]:
    """Apply the gradient rules of a graph's operators, from the outputs back to some inputs.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        wanted: Positions among the graph's inputs.
        heads: Gradients of the outputs, of the kind that ``value_of`` returns.
        value_of: What a value of the graph stands for: itself, or an array.

    Returns:
        Gradients in the order of ``sorted(wanted)``; None where none flows: no operator leads
        there, or only through one without a gradient.
    """
    grads: Grads = {}
    for value, head in zip(graph.outputs, heads, strict=True):
        _add(grads, value.key, head)
    targets = [graph.inputs[i] for i in sorted(wanted)]
    needed = _nodes_behind(graph, targets)
    for node in reversed(graph.nodes):
        if node.op is not None and id(node) in needed:
            _step_back(node, needed, grads, value_of)
    return [grads.get((id(node), 0)) for node in targets]


def _nodes_behind(graph: Graph, targets: Sequence[Node]) -> set[int]:
    """Return the nodes that depend on a target: only through them do gradients flow."""
    needed = {id(node) for node in targets}
    for node in graph.nodes:
        if any(id(value.node) in needed for value in node.inputs):
            needed.add(id(node))
    return needed


def _step_back(
    node: Node, needed: set[int], grads: Grads, value_of: Callable[[Value], Any]
) -> None:
    received = [grads.get((id(node), i)) for i in range(node.num_outputs)]
    op = node.op
    if op is None or op.gradient is None:
        return
    if not op.own_gradient and all(g is None for g in received):
        return
    attrs: dict[str, Any] = dict(node.attrs)
    if op.draws(attrs):
        attrs["key"] = None  # a rule reads what was drawn from the outputs, it never draws again
    outputs = [value_of(Value(node, i)) for i in range(node.num_outputs)]
    inputs = [value_of(value) for value in node.inputs]
    wanted = [id(value.node) in needed for value in node.inputs]
    found = input_gradients(op, received, inputs, outputs, attrs, wanted)
    for value, gradient in zip(node.inputs, found, strict=True):
        if gradient is not None:
            _add(grads, value.key, gradient)


def _add(grads: Grads, key: tuple[int, int], gradient: Any) -> None:
    present = grads.get(key)
    grads[key] = gradient if present is None else present + gradient
