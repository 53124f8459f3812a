"""Where a program is while it is profiled: names that stand before those of what happens there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from gluonish.block import Block

__all__ = ["NOWHERE", "Place", "current_place", "scope"]


class Place(NamedTuple):
    """Where a call is made.

    Attributes:
        path: Names of the scopes and Blocks around, each with a colon after it.
        parent: The innermost Block.
    """

    path: str
    parent: Block | None


NOWHERE = Place("", None)
current_place: ContextVar[Place] = ContextVar("gluonish_profiled_place")


@contextmanager
def scope(name: str = "<unk>:", append_mode: bool = True) -> Iterator[None]:
    """Put a name before those of what happens inside ``with scope(name):``.

    It stands before the names of Blocks that are called there, and in the argument ``scope`` of the
    operators that are pushed there.

    Args:
        name: The name; a colon is added where it has none.
        append_mode: Whether the names of the scopes around stay before it.
    """
    place = current_place.get(NOWHERE)
    named = name if name.endswith(":") else f"{name}:"
    token = current_place.set(Place(place.path + named if append_mode else named, place.parent))
    try:
        yield
    finally:
        current_place.reset(token)
