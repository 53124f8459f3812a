"""Where a program is while it is profiled: names that stand before those of what happens there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from gluonish.gluon.block import Block


class Place(NamedTuple):
    """Where in the program a call is made.

    Attributes:
        path: Names of the enclosing scopes and Blocks, each followed by a colon.
        parent: The innermost enclosing Block.
    """

    path: str
    parent: Block | None


NOWHERE = Place("", None)
current_place: ContextVar[Place] = ContextVar("gluonish_profiled_place")


@contextmanager
def scope(name: str = "<unk>:", append_mode: bool = True) -> Iterator[None]:
    """Context manager: prefix a name to everything recorded inside ``with scope(name):``.

    In the trace the name precedes the names of Blocks called inside, and appears in the argument
    ``scope`` of operators pushed inside.

    Args:
        name: The name; a colon is appended if missing.
        append_mode: Whether the names of enclosing scopes stay in front of it.
    """
    place = current_place.get(NOWHERE)
    named = name if name.endswith(":") else f"{name}:"
    token = current_place.set(Place(place.path + named if append_mode else named, place.parent))
    try:
        yield
    finally:
        current_place.reset(token)
