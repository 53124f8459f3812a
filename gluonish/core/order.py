"""Topological order of a graph."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def post_order(starts: Iterable[T], before: Callable[[T], Iterable[T]]) -> list[T]:
    """Return ``starts`` and all their predecessors, each item after its own predecessors.

    Depth first, in the order of ``starts`` and ``before``; iterative, so chains of any length work.
    Items are compared by identity.

    Args:
        starts: The items to begin with.
        before: Returns the direct predecessors of an item; without cycles.
    """
    order: list[T] = []
    seen: set[int] = set()
    for start in starts:
        if id(start) in seen:
            continue
        seen.add(id(start))
        item, remaining = start, iter(before(start))
        stack: list[tuple[T, Iterator[T]]] = []
        while True:
            for earlier in remaining:
                if id(earlier) not in seen:
                    seen.add(id(earlier))
                    stack.append((item, remaining))
                    item, remaining = earlier, iter(before(earlier))
                    break
            else:
                order.append(item)
                if not stack:
                    break
                item, remaining = stack.pop()
    return order
