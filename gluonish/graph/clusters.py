"""Clusters of nodes that can become one, and their contraction.

Two groups, one of which reads the other, may become one unless a path also leads from the one to
the other through a third: the joined group would have to run before and after that. Whoever joins
groups asks first.

A cluster is to become one node. That is possible if no path leaves it and comes back, over nodes
outside or over other clusters: the graph with every cluster as one node has no circle. Clusters
are joined link by link, and a link that would close a circle is left out.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value, topological_order


class Contraction:
    """Groups, by number, and which of them read which.

    To join two costs as much as the one with fewer neighbours has of them, so that joining all
    nodes of a graph one by one is hardly more than linear.
    """

    __slots__ = ("_after", "_before")

    def __init__(self) -> None:
        self._before: dict[int, set[int]] = {}
        self._after: dict[int, set[int]] = {}

    def add(self, before: Iterable[int]) -> int:
        """Return the number of a new group, which reads others and is read by none yet."""
        number = len(self._before)
        self._before[number] = set(before)
        self._after[number] = set()
        for other in self._before[number]:
            self._after[other].add(number)
        return number

    def is_led_around(self, first: int, last: int, limit: int | None = None) -> bool:
        """Whether a path leads from one group to another that reads it through a third.

        It is looked for from both ends at once, until one of them has no more ways to go.

        Args:
            first: Where the path begins.
            last: Where it ends.
            limit: After so many steps it counts as found; None for no limit.
        """
        ahead = _ways(self._after, first, last)
        behind = _ways(self._before, last, first)
        for step, (forward, backward) in zip(count(), zip(ahead, behind, strict=False)):
            if forward == last or backward == first or step == limit:
                return True
        return False

    def join(self, a: int, b: int) -> int:
        """Make one group of two, and return which of their numbers it has."""
        if self._degree(a) < self._degree(b):
            a, b = b, a
        for here, there in ((self._before, self._after), (self._after, self._before)):
            for other in here[b]:
                there[other].discard(b)
                there[other].add(a)
            here[a] |= here[b]
            here[b] = set()
        self._before[a] -= {a, b}
        self._after[a] -= {a, b}
        return a

    def _degree(self, number: int) -> int:
        return len(self._before[number]) + len(self._after[number])


def _ways(neighbours: Mapping[int, set[int]], start: int, end: int) -> Iterator[int]:
    """Yield where the links from a group lead, step by step, but for its own link to ``end``."""
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
SelectBeside = Callable[[Node, Node], bool]
Build = Callable[[Sequence[Value]], Sequence[Value]]


class Cluster:
    """Operators that are one node of the graph of clusters.

    Args:
        nodes: The operators, or one variable or constant.
    """

    __slots__ = ("nodes",)

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)

    def reads(self) -> list[Value]:
        """Return the values of other clusters that it reads, each once, in order."""
        own = {id(node) for node in self.nodes}
        read = (value for node in self.nodes for value in node.inputs)
        return list({value.key: value for value in read if id(value.node) not in own}.values())


def find_clusters(
    nodes: Sequence[Node], select: Select, select_input: SelectBeside, select_output: SelectBeside
) -> list[Cluster]:
    """Return the clusters that grow from the operators which ``select`` takes.

    Args:
        nodes: A graph in topological order.
        select: Whether a cluster may begin at an operator.
        select_input: Whether a cluster with the first operator may take in the second, which it
            reads.
        select_output: The same of a second operator that reads the first.

    Returns:
        Clusters without common operators, each of operators in topological order.
    """
    operators = [node for node in nodes if node.op is not None]
    seeds = {id(node) for node in operators if select(node)}
    links = _links(operators, seeds, select_input, select_output)
    clusters = _Clusters(nodes)
    for node in operators:
        for value in node.inputs:
            if (id(value.node), id(node)) in links:
                clusters.join(value.node, node)
    place = {id(node): i for i, node in enumerate(nodes)}
    found = {id(clusters.of[seed]): clusters.of[seed] for seed in seeds}
    for cluster in found.values():
        cluster.nodes.sort(key=lambda node: place[id(node)])
    return sorted(found.values(), key=lambda cluster: place[id(cluster.nodes[0])])


def _links(
    operators: Sequence[Node],
    seeds: Iterable[int],
    select_input: SelectBeside,
    select_output: SelectBeside,
) -> set[tuple[int, int]]:
    """Return who may be joined with whom, as pairs of the one read and the reader."""
    readers: dict[int, list[Node]] = {id(node): [] for node in operators}
    for node in operators:
        for producer in _producers(node):
            readers[id(producer)].append(node)
    reached = set(seeds)
    links: set[tuple[int, int]] = set()
    waiting = deque(node for node in operators if id(node) in reached)
    while waiting:
        node = waiting.popleft()
        taken = []
        for producer in _producers(node):
            if select_input(node, producer):
                links.add((id(producer), id(node)))
                taken.append(producer)
        for reader in readers[id(node)]:
            if select_output(node, reader):
                links.add((id(node), id(reader)))
                taken.append(reader)
        new = [other for other in taken if id(other) not in reached]
        reached.update(map(id, new))
        waiting += new
    return links


def _producers(node: Node) -> list[Node]:
    """Return the operators that a node reads, each once."""
    return list({id(x.node): x.node for x in node.inputs if x.node.op is not None}.values())


class _Clusters:
    """The graph of clusters, at first one for each node. It never has a circle.

    Args:
        nodes: A graph in topological order.

    Attributes:
        of: The cluster of each node, by where the node is.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.of: dict[int, Cluster] = {}
        self._contraction = Contraction()
        self._numbers: dict[int, int] = {}  # of the clusters in the contraction
        for node in nodes:
            before = {self._numbers[id(self.of[id(value.node)])] for value in node.inputs}
            cluster = self.of[id(node)] = Cluster([node])
            self._numbers[id(cluster)] = self._contraction.add(before)

    def join(self, producer: Node, reader: Node) -> None:
        """Make one cluster of those of two nodes, of which one reads the other, if that can be."""
        first, last = self.of[id(producer)], self.of[id(reader)]
        numbers = self._numbers[id(first)], self._numbers[id(last)]
        if first is last or self._contraction.is_led_around(*numbers):
            return
        kept, dropped = (first, last) if len(first.nodes) >= len(last.nodes) else (last, first)
        kept.nodes += dropped.nodes
        for node in dropped.nodes:
            self.of[id(node)] = kept
        self._numbers[id(kept)] = self._contraction.join(*numbers)
        del self._numbers[id(dropped)]


def replace_clusters(
    outputs: Sequence[Value],
    clusters: Sequence[Cluster],
    replace: Callable[[Cluster, Sequence[Value], Sequence[Value]], Build | None],
) -> list[Value]:
    """Return a graph's outputs with something else in place of clusters.

    Args:
        clusters: Those of `find_clusters`, of the same graph.
        replace: Called for each cluster in an order in which none comes before one that it reads,
            with the values that it reads and those that others read of it. Returns what makes,
            from the former's new values, the new values of the latter; None to leave the cluster.

    Returns:
        Values over the same variables. Nodes whose inputs did not change are shared with the old
        graph.
    """
    nodes = topological_order(outputs)
    of = {id(node): cluster for cluster in clusters for node in cluster.nodes}
    for node in nodes:
        of.setdefault(id(node), Cluster([node]))
    chosen = set(map(id, clusters))
    given = _given(nodes, outputs, of)
    made: dict[tuple[int, int], Value] = {}
    starts = [of[id(value.node)] for value in outputs]
    for cluster in post_order(starts, lambda one: [of[id(x.node)] for x in one.reads()]):
        build, reads, gives = None, cluster.reads(), given.get(id(cluster), [])
        if id(cluster) in chosen:
            build = replace(cluster, reads, gives)
        if build is None:
            _keep(cluster.nodes, made)
            continue
        for old, new in zip(gives, build([made[x.key] for x in reads]), strict=True):
            made[old.key] = new
    return [_alike(value, made[value.key]) for value in outputs]


def _given(
    nodes: Sequence[Node], outputs: Sequence[Value], of: Mapping[int, Cluster]
) -> dict[int, list[Value]]:
    """Return the values of each cluster that others read, each once."""
    found: dict[int, dict[tuple[int, int], Value]] = {}
    for node in nodes:
        for value in node.inputs:
            source = of[id(value.node)]
            if source is not of[id(node)]:
                found.setdefault(id(source), {})[value.key] = value
    for value in outputs:
        found.setdefault(id(of[id(value.node)]), {})[value.key] = value
    return {cluster: list(values.values()) for cluster, values in found.items()}


def _keep(nodes: Sequence[Node], made: dict[tuple[int, int], Value]) -> None:
    """Carry nodes over, on the new values of their inputs."""
    for node in nodes:
        inputs = [_alike(value, made[value.key]) for value in node.inputs]
        kept = node
        if any(new.key != old.key for new, old in zip(inputs, node.inputs, strict=True)):
            kept = Node(node.op, node.name, inputs, node.attrs, extra=node.extra, given=node.given)
        for i in range(node.num_outputs):
            made[id(node), i] = Value(kept, i)


def _alike(old: Value, new: Value) -> Value:
    """Return a value of the kind that another is of: of ``mx.nd`` or ``mx.np``."""
    return type(old)(new.node, new.index)
