"""Removal of the casts that mixed precision inserted."""

from collections.abc import Sequence

from gluonish.graph.ir import Node, Value, topological_order

_CASTS = ("amp_cast", "amp_multicast")


def without_casts(outputs: Sequence[Value]) -> tuple[Value, ...]:
    """Return a graph's outputs with the casts that mixed precision inserted removed.

    Args:
        outputs: Outputs of the graph.
    """
    order = topological_order(outputs)
    if not any(node.op is not None and node.op.name in _CASTS for node in order):
        return tuple(outputs)
    made: dict[tuple[int, int], Value] = {}
    for node in order:
        inputs = [made[value.key] for value in node.inputs]
        if node.op is not None and node.op.name in _CASTS:
            made.update({(id(node), i): value for i, value in enumerate(inputs)})
            continue
        copy = node
        if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
            copy = Node(
                *(node.op, node.name, inputs, node.attrs, node.specs, node.extra), given=node.given
            )
        made.update({(id(node), i): Value(copy, i) for i in range(node.num_outputs)})
    return tuple(made[value.key] for value in outputs)
