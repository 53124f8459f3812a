"""Extraction of a control-flow body from the graph that its function was traced into."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value, topological_order


class CutBody(NamedTuple):
    """An extracted body.

    Attributes:
        inputs: Variables, depth first, as in files.
        outputs: Outputs.
        free: The outer value of each input, except loop variables.
    """

    inputs: list[Node]
    outputs: list[Value]
    free: dict[int, Value]


def cut_body(
    outputs: Sequence[Value],
    loop_variables: Collection[Node],
    inside: Callable[[Node], bool],
    name_of: Callable[[Value], str],
) -> CutBody:
    """Return the subgraph that was traced for a body.

    Outer variables keep their names; a value computed outside becomes a variable with the name of
    the value.

    Args:
        outputs: Results of the traced function.
        loop_variables: The loop variables.
        inside: Whether an operator node belongs to the body.
        name_of: Returns the name of a value.
    """
    made: dict[tuple[int, int], Value] = {}
    free: dict[int, Value] = {}
    variables = {id(node) for node in loop_variables}

    def inner(value: Value) -> Value:
        found = made.get(value.key)
        if found is None:
            specs = value.node.specs
            spec = (value.spec,) if specs else ()
            found = made[value.key] = Value(Node(None, name_of(value), specs=spec))
            free[id(found.node)] = value
        return found

    def before(node: Node) -> list[Node]:
        belongs = node.op is not None and inside(node)
        return [value.node for value in node.inputs] if belongs else []

    for node in post_order([value.node for value in outputs], before):
        if node.op is None:
            made[id(node), 0] = Value(node)
            if node.array is None and id(node) not in variables:
                free[id(node)] = Value(node)
        elif inside(node):
            inputs = [inner(value) for value in node.inputs]
            copy = Node(
                *(node.op, node.name, inputs, node.attrs, node.specs, node.extra), given=node.given
            )
            made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    results = [inner(value) for value in outputs]
    variables_in_order = [x for x in topological_order(results) if x.op is None and x.array is None]
    return CutBody(variables_in_order, results, free)
