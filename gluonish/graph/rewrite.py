"""Graphs rewritten: nodes replaced, and who reads what."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import is_
from typing import Any

from gluonish.core.order import post_order
from gluonish.graph.ir import Graph, Node, Value, append, topological_order, variable

Rule = Callable[[Node, Sequence[Value]], Sequence[Value] | None]


def has_operator(graph: Graph, names: Collection[str]) -> bool:
    """Whether a graph has one of some operators: without, a pass for them may leave it as it is."""
    return any(node.op is not None and node.op.name in names for node in graph.nodes)


def rebuild(graph: Graph, rule: Rule) -> Graph:
    """Return the graph with nodes replaced as a rule says.

    Args:
        graph: The graph; it stays as it is.
        rule: Called for every operator node, in order, with its inputs in the new graph. Returns
            the values that stand for its outputs from now on, or None to keep the node.

    Returns:
        A graph over the same variables. Nodes whose inputs did not change are shared with the old
        one.
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
                kept = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
                values = [Value(kept, i) for i in range(kept.num_outputs)]
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
    """Return nodes behind a value that the new graph does not hold yet, inputs first."""

    def missing(values: Iterable[Value]) -> list[Node]:
        return [x.node for x in values if id(x.node) not in present]

    if not missing(value.node.inputs):
        return [value.node]
    return post_order(missing([value]), lambda node: missing(node.inputs))


def detached(nodes: Sequence[Node], given: Sequence[Value], outputs: Sequence[Value]) -> Graph:
    """Return a part of a graph as a graph of its own.

    Args:
        nodes: The part's operators, in order.
        given: What it reads from outside, or delivers as it is; each becomes an input.
        outputs: Its results.
    """
    stands_for = {value.key: variable(value.node.name, value.spec) for value in given}
    made: list[Node] = [stand_in.node for stand_in in stands_for.values()]
    for node in nodes:
        inputs = [stands_for.get(value.key, value) for value in node.inputs]
        copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        made.append(copy)
        for i in range(copy.num_outputs):
            stands_for[id(node), i] = Value(copy, i)
    results = [stands_for.get(value.key, value) for value in outputs]
    ahead = [stands_for[value.key].node for value in given]
    return Graph(ahead, results, [*constants(made), *made])


def constants(nodes: Iterable[Node]) -> list[Node]:
    """Return the constants that some nodes read, each once."""
    found = {
        id(value.node): value.node
        for node in nodes
        for value in node.inputs
        if value.node.array is not None
    }
    return list(found.values())


def replay(outputs: Sequence[Value], variables: Mapping[str, Any]) -> list[Value]:
    """Return a graph's outputs once more, on other values: a graph becomes a part of another.

    Args:
        outputs: Values of a graph; it need not have specs.
        variables: What takes the place of each variable, by name: values or arrays.

    Raises:
        OperatorError: An operator refuses what reaches it.
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
    """Return how often each value is read, by its key; each output of the graph counts as once."""
    counts = Counter(value.key for node in graph.nodes for value in node.inputs)
    counts.update(value.key for value in graph.outputs)
    return counts
