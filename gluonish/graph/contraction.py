"""A graph whose nodes are joined into groups, and never so that the groups form a circle.

Two groups, one of which reads the other, may become one unless a path also leads from the one to
the other through a third: the joined group would have to run before and after that. Whoever joins
groups asks first.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

__all__ = ["Contraction"]


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
