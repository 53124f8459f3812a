"""The gradient pass: from a graph to the graph of its gradients, by the operators' own rules."""

from collections.abc import Collection, Sequence
from typing import Any

from gluonish.core.errors import AutogradError
from gluonish.graph.ir import Graph, Node, Value, variable
from gluonish.ops.composite import input_gradients

__all__ = ["GradientGraph", "differentiate"]


class GradientGraph:
    """Gradients of a graph's outputs.

    Attributes:
        heads: Variables for the gradients of the outputs, one each.
        gradients: For each wanted input its gradient, None where the outputs do not depend on it.
    """

    __slots__ = ("gradients", "heads")

    def __init__(self, heads: Sequence[Value], gradients: Sequence[Value | None]) -> None:
        self.heads = heads
        self.gradients = gradients


def differentiate(graph: Graph, wanted: Collection[int]) -> GradientGraph:
    """Return the gradients of a graph's outputs with respect to some inputs, as values over the
    same nodes.

    Args:
        graph: Specs on every value, training mode on every node that depends on it.
        wanted: Positions among the graph's inputs.

    Returns:
        Gradients in the order of ``sorted(wanted)``; they read the forward nodes' values where the
        rules need them.

    Raises:
        AutogradError: if a wanted gradient passes through an operator that has none.
    """
    heads = [variable(f"head{i}_grad", value.spec) for i, value in enumerate(graph.outputs)]
    grads: dict[tuple[int, int], Value] = {}
    for value, head in zip(graph.outputs, heads, strict=True):
        _add(grads, value.key, head)
    targets = [graph.inputs[i] for i in sorted(wanted)]
    needed = _nodes_behind(graph, targets)
    for node in reversed(graph.nodes):
        if node.op is not None and id(node) in needed:
            _step_back(node, needed, grads)
    return GradientGraph(heads, [grads.get((id(node), 0)) for node in targets])


def _nodes_behind(graph: Graph, targets: Sequence[Node]) -> set[int]:
    """Return the nodes that depend on a target: only through them do gradients flow."""
    needed = {id(node) for node in targets}
    for node in graph.nodes:
        if any(id(value.node) in needed for value in node.inputs):
            needed.add(id(node))
    return needed


def _step_back(node: Node, needed: set[int], grads: dict[tuple[int, int], Value]) -> None:
    received = [grads.get((id(node), i)) for i in range(node.num_outputs)]
    op = node.op
    if op is None or all(g is None for g in received):
        return
    wanted = [id(value.node) in needed for value in node.inputs]
    if op.gradient is None:
        if any(value.node.op is None for value in node.inputs):
            raise AutogradError(f"{node.name}: expected a differentiable operator, got {op.name}")
        return
    attrs: dict[str, Any] = dict(node.attrs)
    if op.random:
        attrs["key"] = None  # a rule reads what was drawn from the outputs, it never draws again
    outputs = [Value(node, i) for i in range(node.num_outputs)]
    found = input_gradients(op, received, node.inputs, outputs, attrs, wanted)
    for value, gradient in zip(node.inputs, found, strict=True):
        if gradient is not None:
            _add(grads, value.key, gradient)


def _add(grads: dict[tuple[int, int], Value], key: tuple[int, int], gradient: Value) -> None:
    present = grads.get(key)
    grads[key] = gradient if present is None else present + gradient
