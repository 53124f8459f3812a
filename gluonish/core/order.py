"""The order in which things that lead to others can be worked through."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def post_order(starts: Iterable[T], before: Callable[[T], Iterable[T]]) -> list[T]:
    """Return what the starts lead back to, themselves included, each after all that is before it.

    Depth first, in the order that ``starts`` and ``before`` give; without recursion, so that no
    chain is too long. Objects are told apart by their identity.

    Args:
        starts: Where to begin.
        before: What must come before one of them; no circles.
    """
    order: list[T] = []
    seen: set[int] = set()
    # Of each list that is being worked through, what is left of it, and whom it comes before.
    for start in starts:
        if id(start) in seen:
            continue
        seen.add(id(start))
        item, left = start, iter(before(start))
        behind: list[tuple[T, Iterator[T]]] = []
        while True:
            for earlier in left:
                if id(earlier) not in seen:
                    seen.add(id(earlier))
                    behind.append((item, left))
                    item, left = earlier, iter(before(earlier))
                    break
            else:
                order.append(item)
                if not behind:
                    break
                item, left = behind.pop()
    return order
