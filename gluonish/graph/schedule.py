"""The order of a backward pass, for low peak memory.

Gradients follow one chain, from the heads to the deepest input. A node that ends the life of a
value runs as early as possible: the gradient of a weight runs before the chain continues. Nodes
that do not depend on heads are recomputed forward values, and run when they are needed.

The amount of work in a graph, computed from shapes, to decide whether a second thread pays off.
"""

import heapq
from collections.abc import Iterable, Sequence

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value
from gluonish.ops.support.work import LIGHT, SMALL, Work, work_of

Key = tuple[int, int]

# A gradient that needs more copies than this waits until others have needed them.
_MAX_COPIES = 16


def low_memory_order(
    nodes: Sequence[Node], heads: Iterable[Node], results: Sequence[Value]
) -> list[Node]:
    """Return the nodes in an order that needs little memory.

    Args:
        nodes: Operators, in topological order; specs on every value.
        heads: Variables that the gradients start from.
        results: Results of the nodes, which are not in the planned memory.
    """
    return _Scheduler(nodes, heads, results).run()


class _Scheduler:
    """Orders nodes greedily by the memory that they would free.

    A node that depends on a head is a *gradient*, any other a *copy*. A gradient is *ready* if only
    copies are missing before it; its *cluster* consists of these copies and the gradient. The
    *growth* of a cluster is the number of bytes that live after it minus those before. It is
    measured when the gradient becomes ready, and again only after one of the copies was computed,
    or when few nodes outside of the cluster still read its inputs.
    """

    def __init__(
        self, nodes: Sequence[Node], heads: Iterable[Node], results: Sequence[Value]
    ) -> None:
        self._nodes = nodes
        self._ids = {id(node) for node in nodes}
        self._results = {value.key for value in results}
        self._depths = _depths(nodes, heads)
        self._done: set[int] = set()
        self._root: dict[Key, Key] = {}  # source of each reshape
        self._readers: dict[Key, set[int]] = {}  # remaining readers of a value or its reshapes
        self._before: dict[int, dict[int, Node]] = {}  # missing inputs of each node
        self._consumers: dict[int, list[Node]] = {id(node): [] for node in nodes}
        self._missing: dict[int, int] = {}  # number of gradients that must run before
        self._ready: dict[int, tuple[int, Node]] = {}  # ready gradients, numbered
        self._growths: list[tuple[int, int, int]] = []  # a heap: bytes, number, id of the gradient
        self._growth_of: dict[int, int | None] = {}  # the current entry; None: too many copies
        self._needing: dict[int, set[int]] = {}  # ready gradients that need each copy
        for node in nodes:
            self._add_node(node)

    def _add_node(self, node: Node) -> None:
        before = {id(v.node): v.node for v in node.inputs if id(v.node) in self._ids}
        self._before[id(node)] = before
        self._missing[id(node)] = len(before.keys() & self._depths.keys())
        for other in before:
            self._consumers[other].append(node)
        if node.op is not None and node.op.identity and node.op.single:
            source = node.inputs[0].key
            self._root[id(node), 0] = self._root.get(source, source)
        for root in self._roots(node):
            self._readers.setdefault(root, set()).add(id(node))

    def _roots(self, node: Node) -> list[Key]:
        """Return the keys of a node's inputs, with reshapes replaced by their sources."""
        return [self._root.get(value.key, value.key) for value in node.inputs]

    def run(self) -> list[Node]:
        """Return the nodes in the order chosen."""
        order: list[Node] = []
        demand = self._demand()
        for node in self._nodes:
            if id(node) in self._depths and not self._missing[id(node)]:
                self._add_ready(node)
        for demanded in demand:
            while id(demanded) not in self._done:
                for node in self._best_cluster() or [demanded]:
                    order.append(node)
                    self._finish(node)
        return order

    def _demand(self) -> list[Node]:
        """Return the nodes in depth-first order, starting from the deepest results."""
        ends = [node for node in self._nodes if not self._consumers[id(node)]]
        ends.sort(key=lambda node: -self._depths.get(id(node), 0))
        return post_order(ends, self._missing_before)

    def _missing_before(self, node: Node) -> Iterable[Node]:
        return self._before[id(node)].values()

    def _add_ready(self, node: Node) -> None:
        self._ready[id(node)] = (len(self._ready), node)
        self._measure(id(node))

    def _best_cluster(self) -> list[Node] | None:
        """Return a cluster that does not increase the live bytes; None if there is none."""
        while self._growths:
            growth, _, key = heapq.heappop(self._growths)
            if key not in self._done and self._growth_of[key] == growth:
                return post_order([self._ready[key][1]], self._missing_before)
        return None

    def _measure(self, key: int) -> None:
        """Measure the growth of a ready gradient's cluster, and queue it unless memory grows."""
        number, node = self._ready[key]
        copies = self._few_copies(node)
        for copy in copies:
            self._needing.setdefault(copy, set()).add(key)
        growth = None
        if len(copies) <= _MAX_COPIES:
            growth = self._growth(post_order([node], self._missing_before))
        if growth is not None and growth <= 0 and growth != self._growth_of.get(key):
            heapq.heappush(self._growths, (growth, number, key))
        self._growth_of[key] = growth

    def _few_copies(self, node: Node) -> dict[int, Node]:
        """Return the copies that a gradient needs, at most one more than `_MAX_COPIES`."""
        copies: dict[int, Node] = {}
        waiting = [node]
        while waiting:
            for other in self._missing_before(waiting.pop()):
                if id(other) not in copies:
                    copies[id(other)] = other
                    waiting.append(other)
                if len(copies) > _MAX_COPIES:
                    return copies
        return copies

    def _growth(self, cluster: Sequence[Node]) -> int:
        """Return the bytes that live after a cluster has run minus those before."""
        inside = {id(node) for node in cluster}
        growth = 0
        seen: set[Key] = set()
        for node in cluster:
            for i, spec in enumerate(node.specs):
                key = (id(node), i)
                if key not in self._root and not self._readers.get(key, inside) <= inside:
                    growth += 0 if key in self._results else spec.nbytes
            for value, root in zip(node.inputs, self._roots(node), strict=True):
                ended = root[0] in self._done and root not in seen and self._readers[root] <= inside
                if ended and root not in self._results:
                    growth -= value.spec.nbytes
                seen.add(root)
        return growth

    def _finish(self, node: Node) -> None:
        """Record that a node has run, and update ready nodes and growths."""
        self._done.add(id(node))
        changed = self._needing.pop(id(node), set())
        for root in self._roots(node):
            readers = self._readers[root]
            readers.discard(id(node))
            if len(readers) <= _MAX_COPIES + 1:  # no cluster has more nodes
                changed |= readers & self._ready.keys()
                changed.update(*[self._needing.get(reader, ()) for reader in readers])
        for other in self._consumers[id(node)]:
            del self._before[id(other)][id(node)]
        for key in changed - self._done:
            self._measure(key)
        if id(node) in self._depths:
            for other in self._consumers[id(node)]:
                self._missing[id(other)] -= 1
                if not self._missing[id(other)]:
                    self._add_ready(other)


def _depths(nodes: Sequence[Node], heads: Iterable[Node]) -> dict[int, int]:
    """Return the longest distance from any head, for each node that depends on a head."""
    depths = {id(head): 0 for head in heads}
    for node in nodes:
        earlier = [depths[id(v.node)] for v in node.inputs if id(v.node) in depths]
        if earlier:
            depths[id(node)] = max(earlier) + 1
    return depths


_LIGHT_STEPS, _SMALL_STEPS = 32, 64
# About 50 ms on two threads: what Ctrl-C may wait for.
_SHORT = Work(1 << 27, 1 << 34)


def work(nodes: Sequence[Node]) -> Work:
    """Return the total work of some operators."""
    elements = products = 0
    for node in nodes:
        if node.op is not None:
            amount = work_of(node.op.heavy, [x.spec for x in node.inputs], node.specs, node.attrs)
            elements += amount.elements
            products += amount.products
    return Work(elements, products)


def is_light(nodes: Sequence[Node]) -> bool:
    """Whether the nodes do too little work to be worth a second thread."""
    return len(nodes) <= _LIGHT_STEPS and work(nodes).is_within(LIGHT)


def is_small(nodes: Sequence[Node]) -> bool:
    """Whether submitting the nodes costs much compared with their work on a team of threads."""
    return len(nodes) <= _SMALL_STEPS and work(nodes).is_within(SMALL)


def is_short(nodes: Sequence[Node]) -> bool:
    """Whether the nodes take little time compared with the patience of a user."""
    return work(nodes).is_within(_SHORT)
