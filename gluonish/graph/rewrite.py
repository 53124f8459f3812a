"""Rewriting of graphs, and counts of readers.

Inlining of the graphs of ``_CachedOp`` nodes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

from gluonish.core.order import post_order
from gluonish.graph.ir import Graph, Node, Value, append, topological_order, variable

Rule = Callable[[Node, Sequence[Value]], Sequence[Value] | None]


def has_operator(graph: Graph, names: Collection[str]) -> bool:
    """Whether a graph contains any of these operators; otherwise a pass for them is done."""
    return any(node.op is not None and node.op.name in names for node in graph.nodes)


def rebuild(graph: Graph, rule: Rule) -> Graph:
    """Return the graph with nodes replaced by a rule.

    Args:
        graph: The graph; it does not change.
        rule: Called for every operator node, in order, with its inputs in the new graph. Returns
            the values that replace its outputs, or None to keep the node.

    Returns:
        A graph over the same variables. It shares nodes whose inputs did not change.
    """
    replaced: dict[tuple[int, int], Value] = {}
    nodes: list[Node] = []
    present: set[int] = set()
    for node in graph.nodes:
        if node.op is not None:
            inputs: Sequence[Value] = node.inputs
            if replaced:
                inputs = [replaced.get(value.key, value) for value in inputs]
            values = rule(node, inputs)
            changed = inputs is not node.inputs and not all(map(is_, inputs, node.inputs))
            if values is None and changed:
                copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
                values = [Value(copy, i) for i in range(copy.num_outputs)]
            if values is not None:
                for i, value in enumerate(values):
                    if id(value.node) not in present:
                        made = _new_nodes(value, present)
                        present.update(map(id, made))
                        nodes += made
                    replaced[id(node), i] = value
                continue
        if id(node) not in present:
            present.add(id(node))
            nodes.append(node)
    outputs = [replaced.get(value.key, value) for value in graph.outputs]
    return Graph(graph.inputs, outputs, nodes)


def _new_nodes(value: Value, present: set[int]) -> list[Node]:
    """Return the nodes that a value depends on and the new graph lacks, inputs first."""

    def missing(values: Iterable[Value]) -> list[Node]:
        return [x.node for x in values if id(x.node) not in present]

    if not missing(value.node.inputs):
        return [value.node]
    return post_order(missing([value]), lambda node: missing(node.inputs))


def detached(nodes: Sequence[Node], external: Sequence[Value], outputs: Sequence[Value]) -> Graph:
    """Return a subgraph as a separate graph.

    Args:
        nodes: Operators of the subgraph, in order.
        external: Values that the subgraph reads from outside, or delivers unchanged: its inputs.
        outputs: Results of the subgraph.
    """
    copies = {value.key: variable(value.node.name, value.spec) for value in external}
    made: list[Node] = [value.node for value in copies.values()]
    for node in nodes:
        inputs = [copies.get(value.key, value) for value in node.inputs]
        copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        made.append(copy)
        for i in range(copy.num_outputs):
            copies[id(node), i] = Value(copy, i)
    results = [copies.get(value.key, value) for value in outputs]
    variables = [copies[value.key].node for value in external]
    return Graph(variables, results, [*constants(made), *made])


def constants(nodes: Iterable[Node]) -> list[Node]:
    """Return the constants that some nodes read, without duplicates."""
    found = {
        id(value.node): value.node
        for node in nodes
        for value in node.inputs
        if value.node.array is not None
    }
    return list(found.values())


def replay(outputs: Sequence[Value], variables: Mapping[str, Any]) -> list[Value]:
    """Return copies of a graph's outputs over other values, to include the graph in another.

    Args:
        outputs: Values of a graph, with or without specs.
        variables: Values or arrays in place of variables, by name.

    Raises:
        OperatorError: An operator rejects its inputs.
    """
    made: dict[tuple[int, int], Any] = {}
    for node in topological_order(outputs):
        if node.op is None:
            made[id(node), 0] = variables[node.name] if node.array is None else node.array
            continue
        results = append(node.op, [made[value.key] for value in node.inputs], node.attrs)
        for i, result in enumerate(results if isinstance(results, list) else [results]):
            made[id(node), i] = result
    return [made[value.key] for value in outputs]


Reads = Counter[tuple[int, int]]


def count_reads(graph: Graph) -> Reads:
    """Return the number of reads of each value, by key; an output of the graph counts as a read."""
    counts = Counter(value.key for node in graph.nodes for value in node.inputs)
    counts.update(value.key for value in graph.outputs)
    return counts


def inlined(outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a graph in which ``_CachedOp`` nodes are inlined.

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
        prefix: Prefix of the names of the copies; None to leave the copies unnamed.
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
