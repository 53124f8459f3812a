"""Graphs that no plan fits, so that they run operator by operator.

Shapes depend on values, or in training an operator works with calls on other devices.
"""

from collections.abc import Sequence

from gluonish.graph.inference import settled_attributes
from gluonish.graph.inlining import inlined
from gluonish.graph.interpreter import Monitor, report
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import apply


def is_dynamic(outputs: Sequence[Value], *, train: bool = True) -> bool:
    """Whether an operator on the way to the outputs fits no plan, while training or not."""
    return any(_is_unplanned(node, train) for node in topological_order(outputs))


def _is_unplanned(node: Node, train: bool) -> bool:
    op = node.op
    if op is None:
        return False
    meets = op.across_devices is not None and train and op.across_devices(node.attrs)
    return op.measure is not None or meets


def run_imperatively(
    variables: Sequence[Node],
    outputs: Sequence[Value],
    inputs: Sequence[NDArray],
    monitor: tuple[Monitor, bool] | None = None,
) -> list[NDArray]:
    """Return a graph's outputs, each operator called as a user would, recorded like any call.

    Args:
        variables: The graph's inputs.
        inputs: An array for each variable.
        monitor: As of `gluonish.graph.interpreter.evaluate`.

    Raises:
        OperatorError: as the operators say.
    """
    values = {(id(node), 0): x for node, x in zip(variables, inputs, strict=True)}
    context = inputs[0].context
    outputs = inlined(outputs)
    order = topological_order(outputs)
    settled = settled_attributes(order, variables, [x._spec for x in inputs])
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
            made = source(node.op, settled.get(id(node), node.attrs), context)
        for i, array in enumerate(made if isinstance(made, list) else [made]):
            values[id(node), i] = array
    if monitor is not None:
        report(order, values, monitor)
    return [values[value.key] for value in outputs]
