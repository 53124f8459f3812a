"""The order of a backward pass: little of it shall live at once.

Gradients run along one chain, from the heads to the input that lies deepest, and what ends the life
of a value comes as soon as it can: the gradient of a weight, before the chain goes on. What does
not depend on the heads is values of the forward pass, computed again: it comes when it is needed.
"""

from collections.abc import Iterable, Sequence

from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value

__all__ = ["low_memory_order"]

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

    A node that depends on a head is a *gradient*, any other a *copy*.
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
        self._before: dict[int, list[Node]] = {}
        self._consumers: dict[int, list[Node]] = {id(node): [] for node in nodes}
        self._missing: dict[int, int] = {}  # gradients that must run before
        for node in nodes:
            self._note(node)

    def _note(self, node: Node) -> None:
        before = {id(v.node): v.node for v in node.inputs if id(v.node) in self._own}
        self._before[id(node)] = list(before.values())
        self._missing[id(node)] = len(before.keys() & self._depths.keys())
        for other in before:
            self._consumers[other].append(node)
        if node.op is not None and node.op.identity and node.op.single:
            source = node.inputs[0].key
            self._root[id(node), 0] = self._root.get(source, source)
        for value in node.inputs:
            root = self._root.get(value.key, value.key)
            self._readers.setdefault(root, set()).add(id(node))

    def run(self) -> list[Node]:
        """Return the order."""
        order: list[Node] = []
        ready = [n for n in self._nodes if id(n) in self._depths and not self._missing[id(n)]]
        for demanded in self._demand():
            while id(demanded) not in self._done:
                for node in self._best_cluster(ready) or [demanded]:
                    order.append(node)
                    self._done.add(id(node))
                    ready += self._finish(node)
                ready = [node for node in ready if id(node) not in self._done]
        return order

    def _demand(self) -> list[Node]:
        """Return the nodes depth first from the results, those furthest from the heads first."""
        ends = [node for node in self._nodes if not self._consumers[id(node)]]
        ends.sort(key=lambda node: -self._depths.get(id(node), 0))
        return post_order(ends, lambda node: self._before[id(node)])

    def _best_cluster(self, ready: Sequence[Node]) -> list[Node] | None:
        """Return a gradient that ends as much as it makes, behind the copies that it needs."""
        best, least = None, 1
        for node in ready:
            if self._needs_few_copies(node):
                cluster = post_order([node], self._missing_before)
                if (growth := self._growth(cluster)) < least:
                    best, least = cluster, growth
        return best

    def _missing_before(self, node: Node) -> list[Node]:
        return [other for other in self._before[id(node)] if id(other) not in self._done]

    def _needs_few_copies(self, node: Node) -> bool:
        copies: dict[int, Node] = {}
        waiting = [node]
        while waiting and len(copies) <= _MAX_COPIES:
            missing = self._missing_before(waiting.pop())
            waiting += [other for other in missing if id(other) not in copies]
            copies |= {id(other): other for other in missing}
        return len(copies) <= _MAX_COPIES

    def _growth(self, cluster: Sequence[Node]) -> int:
        """Return how many more bytes live after some nodes than before them."""
        own = {id(node) for node in cluster}
        growth = 0
        seen: set[Key] = set()
        for node in cluster:
            for i, spec in enumerate(node.specs):
                key = (id(node), i)
                if key not in self._root and self._readers.get(key, own) - own:
                    growth += 0 if key in self._given else spec.nbytes
            for value in node.inputs:
                root = self._root.get(value.key, value.key)
                ended = root[0] in self._done and root not in seen and self._readers[root] <= own
                if ended and root not in self._given:
                    growth -= value.spec.nbytes
                seen.add(root)
        return growth

    def _finish(self, node: Node) -> list[Node]:
        """Return the gradients that only copies are missing for now, after this node."""
        for value in node.inputs:
            self._readers[self._root.get(value.key, value.key)].discard(id(node))
        freed = []
        if id(node) in self._depths:
            for other in self._consumers[id(node)]:
                self._missing[id(other)] -= 1
                if not self._missing[id(other)]:
                    freed.append(other)
        return freed


def _depths(nodes: Sequence[Node], heads: Iterable[Node]) -> dict[int, int]:
    """Return the longest way from a head to each node; none for nodes that need no head."""
    depths = {id(head): 0 for head in heads}
    for node in nodes:
        ahead = [depths[id(v.node)] for v in node.inputs if id(v.node) in depths]
        if ahead:
            depths[id(node)] = max(ahead) + 1
    return depths
