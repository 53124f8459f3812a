"""Graphs whose shapes depend on values: no plan fits them, so they run operator by operator."""

from collections.abc import Sequence

from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import apply

__all__ = ["is_dynamic", "run_imperatively"]


def is_dynamic(outputs: Sequence[Value]) -> bool:
    """Whether an operator on the way to the outputs decides its shape by values."""
    return any(
        node.op is not None and node.op.measure is not None for node in topological_order(outputs)
    )


def run_imperatively(
    variables: Sequence[Node], outputs: Sequence[Value], inputs: Sequence[NDArray]
) -> list[NDArray]:
    """Return a graph's outputs, each operator called as a user would, recorded like any call.

    Args:
        variables: The graph's inputs.
        outputs: Its outputs.
        inputs: An array for each variable.

    Raises:
        OperatorError: as the operators say.
    """
    values = {(id(node), 0): x for node, x in zip(variables, inputs, strict=True)}
    context = inputs[0].context
    for node in topological_order(outputs):
        if node.op is None:
            if node.array is not None:
                values[id(node), 0] = node.array.as_in_context(context)
            continue
        made = apply(node.op, [values[value.key] for value in node.inputs], node.attrs)
        for i, array in enumerate(made if isinstance(made, list) else [made]):
            values[id(node), i] = array
    return [values[value.key] for value in outputs]
