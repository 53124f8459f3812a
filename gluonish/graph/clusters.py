"""Clusters of nodes that can be replaced by one node, and the contraction of a graph.

Two groups, one of which reads the other, can become one unless a path also leads from the first to
the second through a third: the joined group would have to run before and after that. Callers of
`Contraction.join` check this first.

A cluster can become one node if no path leaves it and returns, over nodes outside or over other
clusters: the graph of clusters has no cycle. Clusters are joined edge by edge; an edge that would
close a cycle is skipped.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value, topological_order


class Contraction:
    """A graph of numbered groups that can be joined.

    Joining two groups takes as many steps as the smaller one has neighbours, so that joining all
    nodes of a graph one by one takes nearly linear time.
    """

    __slots__ = ("_after", "_before")

    def __init__(self) -> None:
        self._before: dict[int, set[int]] = {}
        self._after: dict[int, set[int]] = {}

    def add(self, before: Iterable[int]) -> int:
        """Return the number of a new group that reads the groups ``before``."""
        number = len(self._before)
        self._before[number] = set(before)
        self._after[number] = set()
        for other in self._before[number]:
            self._after[other].add(number)
        return number

    def has_detour(self, first: int, last: int, limit: int | None = None) -> bool:
        """Whether a path leads from a group to one of its readers through a third group.

        The search runs from both ends at once, until one of them has no more edges to follow.

        Args:
            first: Start of the path.
            last: End of the path.
            limit: Number of steps after which a path is assumed; None for no limit.
        """
        ahead = _walk(self._after, first, last)
        behind = _walk(self._before, last, first)
        for step, (forward, backward) in zip(count(), zip(ahead, behind, strict=False)):
            if forward == last or backward == first or step == limit:
                return True
        return False

    def join(self, a: int, b: int) -> int:
        """Join two groups, and return the number of the result."""
        if self._degree(a) < self._degree(b):
            a, b = b, a
        for edges, reverse in ((self._before, self._after), (self._after, self._before)):
            for other in edges[b]:
                reverse[other].discard(b)
                reverse[other].add(a)
            edges[a] |= edges[b]
            edges[b] = set()
        self._before[a] -= {a, b}
        self._after[a] -= {a, b}
        return a

    def _degree(self, number: int) -> int:
        return len(self._before[number]) + len(self._after[number])


def _walk(neighbours: Mapping[int, set[int]], start: int, end: int) -> Iterator[int]:
    """Yield the groups reachable from ``start`` without the edge to ``end``; may repeat some."""
    seen = {start}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for other in neighbours[here]:
            if here == start and other == end:
                continue
            yield other
            if other not in seen:
                seen.add(other)
                waiting.append(other)


Select = Callable[[Node], bool]
SelectNeighbour = Callable[[Node, Node], bool]
Build = Callable[[Sequence[Value]], Sequence[Value]]


class Cluster:
    """Operators that are replaced together, one node in the graph of clusters.

    Args:
        nodes: The operators, or one variable or constant.
    """

    __slots__ = ("nodes",)

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)

    def reads(self) -> list[Value]:
        """Return the values of other clusters that the cluster reads, in order, each once."""
        inside = {id(node) for node in self.nodes}
        read = (value for node in self.nodes for value in node.inputs)
        return list({value.key: value for value in read if id(value.node) not in inside}.values())


def find_clusters(
    nodes: Sequence[Node],
    select: Select,
    select_input: SelectNeighbour,
    select_output: SelectNeighbour,
) -> list[Cluster]:
    """Return the clusters that grow from the operators that ``select`` accepts.

    Args:
        nodes: A graph in topological order.
        select: Returns whether a cluster may start at an operator.
        select_input: Returns whether a cluster with the first operator may include the second,
            which the first reads.
        select_output: The same for a second operator that reads the first.

    Returns:
        Disjoint clusters; the operators of each are in topological order.
    """
    operators = [node for node in nodes if node.op is not None]
    seeds = {id(node) for node in operators if select(node)}
    edges = _joinable_edges(operators, seeds, select_input, select_output)
    clusters = _Clusters(nodes)
    for node in operators:
        for value in node.inputs:
            if (id(value.node), id(node)) in edges:
                clusters.join(value.node, node)
    position = {id(node): i for i, node in enumerate(nodes)}
    found = {id(clusters.of[seed]): clusters.of[seed] for seed in seeds}
    for cluster in found.values():
        cluster.nodes.sort(key=lambda node: position[id(node)])
    return sorted(found.values(), key=lambda cluster: position[id(cluster.nodes[0])])


def _joinable_edges(
    operators: Sequence[Node],
    seeds: Iterable[int],
    select_input: SelectNeighbour,
    select_output: SelectNeighbour,
) -> set[tuple[int, int]]:
    """Return the edges that may be joined, as pairs of producer and reader."""
    readers: dict[int, list[Node]] = {id(node): [] for node in operators}
    for node in operators:
        for producer in _producers(node):
            readers[id(producer)].append(node)
    reached = set(seeds)
    edges: set[tuple[int, int]] = set()
    waiting = deque(node for node in operators if id(node) in reached)
    while waiting:
        node = waiting.popleft()
        accepted = []
        for producer in _producers(node):
            if select_input(node, producer):
                edges.add((id(producer), id(node)))
                accepted.append(producer)
        for reader in readers[id(node)]:
            if select_output(node, reader):
                edges.add((id(node), id(reader)))
                accepted.append(reader)
        new = [other for other in accepted if id(other) not in reached]
        reached.update(map(id, new))
        waiting += new
    return edges


def _producers(node: Node) -> list[Node]:
    """Return the operators that a node reads, without duplicates."""
    return list({id(x.node): x.node for x in node.inputs if x.node.op is not None}.values())


class _Clusters:
    """An acyclic graph of clusters, with one cluster for each node at first.

    Args:
        nodes: A graph in topological order.

    Attributes:
        of: The cluster of each node, by the id of the node.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.of: dict[int, Cluster] = {}
        self._contraction = Contraction()
        self._numbers: dict[int, int] = {}  # numbers of the clusters in the contraction
        for node in nodes:
            before = {self._numbers[id(self.of[id(value.node)])] for value in node.inputs}
            cluster = self.of[id(node)] = Cluster([node])
            self._numbers[id(cluster)] = self._contraction.add(before)

    def join(self, producer: Node, reader: Node) -> None:
        """Join the clusters of a node and of one of its readers, unless that closes a cycle."""
        first, last = self.of[id(producer)], self.of[id(reader)]
        numbers = self._numbers[id(first)], self._numbers[id(last)]
        if first is last or self._contraction.has_detour(*numbers):
            return
        larger, smaller = (first, last) if len(first.nodes) >= len(last.nodes) else (last, first)
        larger.nodes += smaller.nodes
        for node in smaller.nodes:
            self.of[id(node)] = larger
        self._numbers[id(larger)] = self._contraction.join(*numbers)
        del self._numbers[id(smaller)]


def replace_clusters(
    outputs: Sequence[Value],
    clusters: Sequence[Cluster],
    replace: Callable[[Cluster, Sequence[Value], Sequence[Value]], Build | None],
) -> list[Value]:
    """Return a graph's outputs with clusters replaced.

    Args:
        outputs: Outputs of the graph.
        clusters: Result of `find_clusters` for the graph.
        replace: Called for each cluster in topological order, with its inputs and outputs. Returns
            a function from new inputs to new outputs; None to leave the cluster unchanged.

    Returns:
        Values over the same variables. Nodes whose inputs did not change are shared with the old
        graph.
    """
    nodes = topological_order(outputs)
    of = {id(node): cluster for cluster in clusters for node in cluster.nodes}
    for node in nodes:
        of.setdefault(id(node), Cluster([node]))
    chosen = set(map(id, clusters))
    cluster_outputs = _outputs_of(nodes, outputs, of)
    made: dict[tuple[int, int], Value] = {}
    starts = [of[id(value.node)] for value in outputs]
    for cluster in post_order(starts, lambda cluster: [of[id(x.node)] for x in cluster.reads()]):
        build, reads, results = None, cluster.reads(), cluster_outputs.get(id(cluster), [])
        if id(cluster) in chosen:
            build = replace(cluster, reads, results)
        if build is None:
            _copy_changed(cluster.nodes, made)
            continue
        for old, new in zip(results, build([made[x.key] for x in reads]), strict=True):
            made[old.key] = new
    return [_of_same_class(value, made[value.key]) for value in outputs]


def _outputs_of(
    nodes: Sequence[Node], outputs: Sequence[Value], of: Mapping[int, Cluster]
) -> dict[int, list[Value]]:
    """Return the values of each cluster that other clusters or the caller read, each once."""
    found: dict[int, dict[tuple[int, int], Value]] = {}
    for node in nodes:
        for value in node.inputs:
            source = of[id(value.node)]
            if source is not of[id(node)]:
                found.setdefault(id(source), {})[value.key] = value
    for value in outputs:
        found.setdefault(id(of[id(value.node)]), {})[value.key] = value
    return {cluster: list(values.values()) for cluster, values in found.items()}


def _copy_changed(nodes: Sequence[Node], made: dict[tuple[int, int], Value]) -> None:
    """Copy the nodes whose inputs have been replaced."""
    for node in nodes:
        inputs = [_of_same_class(value, made[value.key]) for value in node.inputs]
        copy = node
        if any(new.key != old.key for new, old in zip(inputs, node.inputs, strict=True)):
            copy = Node(
                node.op,
                node.name,
                inputs,
                node.attrs,
                extra=node.extra,
                given=node.given,
            )
        for i in range(node.num_outputs):
            made[id(node), i] = Value(copy, i)


def _of_same_class(old: Value, new: Value) -> Value:
    """Return ``new`` as a value of the class of ``old``: of ``mx.nd`` or ``mx.np``."""
    return type(old)(new.node, new.index)
