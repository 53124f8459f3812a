"""Maximum flow, for minimum cuts.

References:
    Y. Dinitz, Algorithm for Solution of a Problem of Maximum Flow in Networks with Power
        Estimation, 1970.
"""

from collections import deque

UNLIMITED = 1 << 62  # capacity of an edge that no cut contains


class FlowNetwork:
    """Nodes, numbered as they are added, and edges with capacities.

    An edge and its reverse have neighbouring numbers, so that ``edge ^ 1`` is the other.
    """

    __slots__ = ("_edges", "_left", "_targets")

    def __init__(self) -> None:
        self._edges: list[list[int]] = []  # numbers of the edges that leave each node
        self._targets: list[int] = []
        self._left: list[int] = []  # remaining capacity

    def add_node(self) -> int:
        """Return the number of a new node."""
        self._edges.append([])
        return len(self._edges) - 1

    def add_edge(self, start: int, end: int, capacity: int) -> None:
        """Let up to ``capacity`` flow from one node to another."""
        for node, target, left in ((start, end, capacity), (end, start, 0)):
            self._edges[node].append(len(self._targets))
            self._targets.append(target)
            self._left.append(left)

    def sink_side(self, source: int, sink: int) -> set[int]:
        """Return the nodes on the sink's side of the minimum cut nearest to the sink.

        The cut is the edges into the set. The call consumes the capacities.
        """
        while True:
            levels = self._levels(source)
            if sink not in levels:
                return self._reaching(sink)
            unseen = [list(edges) for edges in self._edges]
            while self._push(source, sink, levels, unseen):
                pass

    def _levels(self, source: int) -> dict[int, int]:
        """Return the distance from the source of each node with a residual path."""
        levels = {source: 0}
        waiting = deque([source])
        while waiting:
            node = waiting.popleft()
            for edge in self._edges[node]:
                target = self._targets[edge]
                if self._left[edge] and target not in levels:
                    levels[target] = levels[node] + 1
                    waiting.append(target)
        return levels

    def _push(
        self, source: int, sink: int, levels: dict[int, int], unseen: list[list[int]]
    ) -> bool:
        """Push flow along one shortest path; False if none is left."""
        path: list[int] = []
        node = source
        while node != sink:
            if unseen[node]:
                edge = unseen[node][-1]
                target = self._targets[edge]
                if self._left[edge] and levels.get(target) == levels[node] + 1:
                    path.append(edge)
                    node = target
                else:
                    unseen[node].pop()
            elif path:
                edge = path.pop()
                node = self._targets[edge ^ 1]
                unseen[node].pop()
            else:
                return False
        amount = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= amount
            self._left[edge ^ 1] += amount
        return True

    def _reaching(self, sink: int) -> set[int]:
        """Return the nodes with a residual path to the sink."""
        found = {sink}
        waiting = [sink]
        while waiting:
            for edge in self._edges[waiting.pop()]:
                node = self._targets[edge]
                if self._left[edge ^ 1] and node not in found:
                    found.add(node)
                    waiting.append(node)
        return found
