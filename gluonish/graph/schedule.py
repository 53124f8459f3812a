"""The order of a backward pass: little of it shall live at once.

Gradients run along one chain, from the heads to the input that lies deepest, and what ends the life
of a value comes as soon as it can: the gradient of a weight, before the chain goes on. What does
not depend on the heads is values of the forward pass, computed again: it comes when it is needed.
"""

import heapq
from collections.abc import Iterable, Sequence

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value

Key = tuple[int, int]

# A gradient that needs more copies than this waits until others have asked for them.
_MAX_COPIES = 16


def low_memory_order(
    nodes: Sequence[Node], heads: Iterable[Node], results: Sequence[Value]
) -> list[Node]:
    """Return the nodes in an order in which few bytes live at once.

    Args:
        nodes: Operators, in topological order; specs on every value.
        heads: Variables that the gradients start from.
        results: What the nodes are for; these values have memory of their own.
    """
    return _Scheduler(nodes, heads, results).run()


class _Scheduler:
    """What is left to do, and what would come free by it.

    A node that depends on a head is a *gradient*, any other a *copy*. A gradient is *ready* when
    only copies are missing before it; its *cluster* is itself behind those. How many more bytes
    live after a cluster than before it, its *growth*, is found when the gradient gets ready, and
    again only when one of the copies was computed, or when few others than the cluster still read
    what it reads.
    """

    def __init__(
        self, nodes: Sequence[Node], heads: Iterable[Node], results: Sequence[Value]
    ) -> None:
        self._nodes = nodes
        self._own = {id(node) for node in nodes}
        self._given = {value.key for value in results}
        self._depths = _depths(nodes, heads)
        self._done: set[int] = set()
        self._root: dict[Key, Key] = {}  # of a value that is another's shape, that other
        self._readers: dict[Key, set[int]] = {}  # nodes that still will read a value or its shapes
        self._before: dict[int, dict[int, Node]] = {}  # nodes that are missing before each
        self._consumers: dict[int, list[Node]] = {id(node): [] for node in nodes}
        self._missing: dict[int, int] = {}  # gradients that must run before
        self._ready: dict[int, tuple[int, Node]] = {}  # gradients, with numbers in order
        self._growths: list[tuple[int, int, int]] = []  # a heap: bytes, number, id of the gradient
        self._growth_of: dict[int, int | None] = {}  # the entry that counts; None: too many copies
        self._needing: dict[int, set[int]] = {}  # ready gradients that need each copy
        for node in nodes:
            self._note(node)

    def _note(self, node: Node) -> None:
        before = {id(v.node): v.node for v in node.inputs if id(v.node) in self._own}
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
        """Return what a node reads, without the shapes in which it does."""
        return [self._root.get(value.key, value.key) for value in node.inputs]

    def run(self) -> list[Node]:
        """Return the order."""
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
        """Return the nodes depth first from the results, those furthest from the heads first."""
        ends = [node for node in self._nodes if not self._consumers[id(node)]]
        ends.sort(key=lambda node: -self._depths.get(id(node), 0))
        return post_order(ends, self._missing_before)

    def _missing_before(self, node: Node) -> Iterable[Node]:
        return self._before[id(node)].values()

    def _add_ready(self, node: Node) -> None:
        self._ready[id(node)] = (len(self._ready), node)
        self._measure(id(node))

    def _best_cluster(self) -> list[Node] | None:
        """Return a gradient that ends as much as it makes, behind the copies that it needs."""
        while self._growths:
            growth, _, key = heapq.heappop(self._growths)
            if key not in self._done and self._growth_of[key] == growth:
                return post_order([self._ready[key][1]], self._missing_before)
        return None

    def _measure(self, key: int) -> None:
        """Find the growth of a ready gradient, and note it if it is one to go on with."""
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
        """Return the copies that a gradient needs; of more than `_MAX_COPIES`, one too many."""
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
        """Return how many more bytes live after some nodes than before them."""
        own = {id(node) for node in cluster}
        growth = 0
        seen: set[Key] = set()
        for node in cluster:
            for i, spec in enumerate(node.specs):
                key = (id(node), i)
                if key not in self._root and not self._readers.get(key, own) <= own:
                    growth += 0 if key in self._given else spec.nbytes
            for value, root in zip(node.inputs, self._roots(node), strict=True):
                ended = root[0] in self._done and root not in seen and self._readers[root] <= own
                if ended and root not in self._given:
                    growth -= value.spec.nbytes
                seen.add(root)
        return growth

    def _finish(self, node: Node) -> None:
        """Note that a node has run, and what is ready or grows otherwise by that."""
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
    """Return the longest way from a head to each node; none for nodes that need no head."""
    depths = {id(head): 0 for head in heads}
    for node in nodes:
        ahead = [depths[id(v.node)] for v in node.inputs if id(v.node) in depths]
        if ahead:
            depths[id(node)] = max(ahead) + 1
    return depths
