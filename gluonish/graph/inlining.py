"""Inlining of the graphs of ``_CachedOp`` nodes."""

from collections.abc import Iterator, Sequence
from typing import Any

from gluonish.graph.ir import Node, Value, topological_order


def inlined(outputs: Sequence[Value]) -> Sequence[Value]:
    """Return values of a graph without ``_CachedOp`` nodes.

    Requires: a graph of a Symbol.
    Ensures: each ``_CachedOp`` is replaced by copies of its body's nodes, whose names begin with
    its name; a graph without one is returned unchanged.
    """
    order = topological_order(outputs)
    if not any(_is_cached(node) for node in order):
        return outputs
    made: dict[tuple[int, int], Value] = {}
    for node in order:
        inputs = [made[value.key] for value in node.inputs]
        values: Sequence[Value]
        if _is_cached(node):
            (body,) = node.attrs["subgraphs"]
            values = inlined(copied_graph(body.inputs, body.outputs, inputs, f"{node.name}_"))
        else:
            if any(old.node is not new.node for old, new in zip(node.inputs, inputs, strict=True)):
                copy = Node(node.op, node.name, inputs, node.attrs, extra=node.extra)
                copy.given = node.given
            else:
                copy = node
            values = [Value(copy, i) for i in range(node.num_outputs)]
        made.update(((id(node), i), value) for i, value in enumerate(values))
    return [made[value.key] for value in outputs]


def copied_graph(
    variables: Sequence[Node],
    outputs: Sequence[Value],
    inputs: Sequence[Value],
    prefix: str | None = None,
) -> list[Value]:
    """Return the outputs of a copy of a graph with values in place of its variables.

    Args:
        variables: Variables of the graph.
        outputs: Outputs of the graph.
        inputs: A value for each variable.
        prefix: Prefix of the names of the copies; None: no names.
    """
    made: dict[tuple[int, int], Value] = {
        (id(variable), 0): value for variable, value in zip(variables, inputs, strict=True)
    }

    def copies(node: Node) -> Iterator[Value]:
        name = "" if prefix is None else f"{prefix}{node.name}"
        if node.op is None:
            return iter([Value(Node(None, name, array=node.array))])
        read = [made[value.key] for value in node.inputs]
        copy: Any = Node(node.op, name, read, node.attrs, extra=node.extra, given=node.given)
        return (Value(copy, i) for i in range(node.num_outputs))

    for node in topological_order(outputs):
        if (id(node), 0) not in made:
            made.update(((id(node), i), value) for i, value in enumerate(copies(node)))
    return [made[value.key] for value in outputs]


def _is_cached(node: Node) -> bool:
    return node.op is not None and node.op.name == "_CachedOp"
