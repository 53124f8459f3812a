"""Bodies of control flow in files: subgraphs and the indices of their inputs."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.graph.body import Body
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.symbol.json_format import NodeData

# Operators whose body reads the first inputs of the node, in order.
_IN_ORDER = ("_sg_mkldnn_conv", "_sg_mkldnn_fully_connected", "_CachedOp")
BODY_COUNTS: Mapping[str, int] = {
    "_foreach": 1,
    "_while_loop": 2,
    "_cond": 3,
    **dict.fromkeys(_IN_ORDER, 1),
}
# Attributes with the indices of each body's inputs among those of the node.
_LOCATIONS = {
    "_while_loop": ("cond_input_locs", "func_input_locs"),
    "_cond": ("cond_input_locs", "then_input_locs", "else_input_locs"),
}


def bodies_of(
    node: NodeData, attrs: Mapping[str, Any], outputs: Sequence[Sequence[Value]]
) -> tuple[Body, ...]:
    """Return the bodies (subgraphs) of a control-flow node.

    Args:
        node: The node.
        attrs: Parsed attributes of the node.
        outputs: Outputs of each subgraph.

    Raises:
        OperatorError: The subgraphs do not fit the node.
    """
    expected = BODY_COUNTS.get(node.op)
    if expected is None or expected != len(outputs):
        raise OperatorError(
            f"node {node.name:.80} with {len(outputs)} subgraphs where {node.op} has "
            f"{expected or 'none'}"
        )
    made = [
        Body(_variables(values), values, f"{node.name}_{i}") for i, values in enumerate(outputs)
    ]
    if node.op in _IN_ORDER:
        return tuple(made)
    if node.op == "_foreach":
        made = [_ordered(node, attrs, made[0])]
        counts = [len(made[0].outputs)]
    else:
        _check_locations(node, attrs, made)
        counts = [len(body.outputs) for body in made[1:]]
    if any(count != attrs["num_outputs"] for count in counts):
        raise OperatorError(
            f"node {node.name:.80} with {attrs['num_outputs']} outputs where its subgraphs have "
            f"{counts}"
        )
    return tuple(made)


def _variables(outputs: Sequence[Value]) -> list[Node]:
    return [node for node in topological_order(outputs) if node.op is None]


def _ordered(node: NodeData, attrs: Mapping[str, Any], body: Body) -> Body:
    """Return the body of a loop with its inputs in the order: data, states, others."""
    order = (*attrs["in_data_locs"], *attrs["in_state_locs"], *attrs["remain_locs"])
    if sorted(order) != list(range(body.num_inputs)) or attrs["num_args"] != 1 + len(order):
        raise OperatorError(
            f"node {node.name:.80} with inputs at {order!r:.200} where its subgraph has "
            f"{body.num_inputs}"
        )
    if attrs["num_outputs"] != attrs["num_out_data"] + len(attrs["in_state_locs"]):
        raise OperatorError(f"node {node.name:.80} with states that are not among its outputs")
    if not attrs["in_data_locs"]:
        raise OperatorError(f"node {node.name:.80} without data")
    return body.reordered(order)


def _check_locations(node: NodeData, attrs: Mapping[str, Any], made: Sequence[Body]) -> None:
    count = attrs["num_args"] - len(made)
    for key, body in zip(_LOCATIONS[node.op], made, strict=True):
        locations = attrs[key]
        if len(locations) != body.num_inputs or any(not 0 <= i < count for i in locations):
            raise OperatorError(
                f"node {node.name:.80} with {key} {locations!r:.200} where its subgraph has "
                f"{body.num_inputs} inputs and it has {count}"
            )
    if len(made[0].outputs) != 1:
        raise OperatorError(f"node {node.name:.80} with {len(made[0].outputs)} conditions")
    if node.op != "_while_loop":
        return
    variables = attrs["func_var_locs"]
    if any(not 0 <= i < made[1].num_inputs for i in variables) or not variables:
        raise OperatorError(f"node {node.name:.80} with variables at {variables}")
    if attrs["num_outputs"] != attrs["num_out_data"] + len(variables):
        raise OperatorError(f"node {node.name:.80} with variables that are not among its outputs")
