"""Graphs that cannot be planned, and run operator by operator.

In these, shapes depend on values, or an operator communicates with other devices in training.
"""

from collections.abc import Sequence

from gluonish.graph.inference import inferred_attributes
from gluonish.graph.interpreter import Monitor, report
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.rewrite import inlined
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import apply


def is_dynamic(outputs: Sequence[Value], *, train: bool = True) -> bool:
    """Whether the outputs depend on an operator that cannot be planned in this mode."""
    return any(_is_unplanned(node, train) for node in topological_order(outputs))


def _is_unplanned(node: Node, train: bool) -> bool:
    op = node.op
    if op is None:
        return False
    communicates = op.across_devices is not None and train and op.across_devices(node.attrs)
    return op.measure is not None or communicates


def run_imperatively(
    variables: Sequence[Node],
    outputs: Sequence[Value],
    inputs: Sequence[NDArray],
    monitor: tuple[Monitor, bool] | None = None,
) -> list[NDArray]:
    """Return a graph's outputs, computed by ordinary, recorded operator calls.

    Args:
        variables: Inputs of the graph.
        outputs: Outputs of the graph.
        inputs: An array for each variable.
        monitor: See `gluonish.graph.interpreter.evaluate`.

    Raises:
        OperatorError: An operator rejects its inputs.
    """
    values = {(id(node), 0): x for node, x in zip(variables, inputs, strict=True)}
    context = inputs[0].context
    outputs = inlined(outputs)
    order = topological_order(outputs)
    attributes = inferred_attributes(order, variables, [x._spec for x in inputs])
    for node in order:
        if node.op is None:
            if node.array is not None:
                values[id(node), 0] = node.array.as_in_context(context)
            continue
        read = [values[value.key] for value in node.inputs]
        if node.op.expand is not None:
            made = node.op.expand(read, node.attrs)
        elif read:
            made = apply(node.op, read, node.attrs)
        else:
            made = source(node.op, attributes.get(id(node), node.attrs), context)
        for i, array in enumerate(made if isinstance(made, list) else [made]):
            values[id(node), i] = array
    if monitor is not None:
        report(order, values, monitor)
    return [values[value.key] for value in outputs]
