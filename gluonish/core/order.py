"""The order in which things that lead to others can be worked through."""

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["post_order"]

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
    stack = [(start, False) for start in reversed(list(starts))]
    while stack:
        item, ready = stack.pop()
        if ready:
            order.append(item)
        elif id(item) not in seen:
            seen.add(id(item))
            stack.append((item, True))
            stack += [(earlier, False) for earlier in reversed(list(before(item)))]
    return order
