"""Symbols without inputs, such as random numbers, whose shape follows from their readers."""

from collections.abc import Sequence

from gluonish.core.errors import GraphError
from gluonish.core.spec import Spec
from gluonish.graph.inference import settled_attributes, undetermined
from gluonish.graph.ir import Node, Value, topological_order

__all__ = ["check_open_shapes", "with_found_shapes"]


def check_open_shapes(
    caller: str, outputs: Sequence[Value], variables: Sequence[Node], specs: Sequence[Spec]
) -> None:
    """Check that the shape of every operator without inputs and shape follows from its readers.

    Args:
        caller: The method's name, for the message.
        outputs: The graph.
        variables: Its variables.
        specs: A spec for each.

    Raises:
        GraphError: That of one does not.
        OperatorError: An operator refuses what reaches it.
    """
    found = undetermined(topological_order(outputs), variables, specs)
    if found:
        names = ", ".join(node.name for node in found)
        raise GraphError(
            f"{caller}: expected a shape for {names}, or operators that read it and determine its "
            "shape, got only operators that take any shape; pass shape="
        )


def with_found_shapes(
    outputs: Sequence[Value], variables: Sequence[Node], specs: Sequence[Spec]
) -> Sequence[Value]:
    """Return a graph that can be divided: arrays from nothing have the shape of their readers.

    Args:
        outputs: The graph; it is returned as it is where no shape is missing.
        variables: Its variables.
        specs: A spec for each.

    Raises:
        OperatorError: An operator refuses what reaches it.
    """
    order = topological_order(outputs)
    attributes = settled_attributes(order, variables, specs)
    if not attributes:
        return outputs
    made: dict[int, Node] = {}
    for node in order:
        made[id(node)] = node
        if node.op is not None:
            inputs = [Value(made[id(value.node)], value.index) for value in node.inputs]
            attrs = attributes.get(id(node), node.attrs)
            made[id(node)] = Node(
                node.op, node.name, inputs, attrs, extra=node.extra, given=node.given
            )
    return [Value(made[id(value.node)], value.index) for value in outputs]
