"""Cutting a control-flow operator's body out of the graph that its function was traced into."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value, topological_order


class CutBody(NamedTuple):
    """A body on its own.

    Attributes:
        inputs: Its variables, depth first, as files list them.
        outputs: Its outputs.
        free: What each input stands for outside; loop variables are not among them.
    """

    inputs: list[Node]
    outputs: list[Value]
    free: dict[int, Value]


def cut_body(
    outputs: Sequence[Value],
    own: Collection[Node],
    inside: Callable[[Node], bool],
    name_of: Callable[[Value], str],
) -> CutBody:
    """Return the part of a graph that was traced for a body.

    Variables from outside keep their names; what was computed outside becomes a variable that is
    called like the value.

    Args:
        outputs: What the traced function returned.
        own: The loop variables.
        inside: Whether an operator node belongs to the body.
        name_of: Gives a value's name.
    """
    made: dict[tuple[int, int], Value] = {}
    free: dict[int, Value] = {}
    variables = {id(node) for node in own}

    def moved(value: Value) -> Value:
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
            inputs = [moved(value) for value in node.inputs]
            copy = Node(
                *(node.op, node.name, inputs, node.attrs, node.specs, node.extra), given=node.given
            )
            made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    results = [moved(value) for value in outputs]
    variables_in_order = [x for x in topological_order(results) if x.op is None and x.array is None]
    return CutBody(variables_in_order, results, free)
