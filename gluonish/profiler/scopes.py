"""Scopes: prefixes for the names of recorded events."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from gluonish.gluon.block import Block


class Location(NamedTuple):
    """Location of a call in the program.

    Attributes:
        path: Names of the enclosing scopes and Blocks, each followed by a colon.
        parent: The innermost enclosing Block.
    """

    path: str
    parent: Block | None


TOP_LEVEL = Location("", None)
current_location: ContextVar[Location] = ContextVar("gluonish_profiled_place")


@contextmanager
def scope(name: str = "<unk>:", append_mode: bool = True) -> Iterator[None]:
    """Context manager: prefix a name to everything recorded inside ``with scope(name):``.

    In the trace the name precedes the names of Blocks called inside, and appears in the argument
    ``scope`` of operators pushed inside.

    Args:
        name: The name; a colon is appended if missing.
        append_mode: Whether the names of enclosing scopes stay in front of it.
    """
    location = current_location.get(TOP_LEVEL)
    named = name if name.endswith(":") else f"{name}:"
    token = current_location.set(
        Location(location.path + named if append_mode else named, location.parent)
    )
    try:
        yield
    finally:
        current_location.reset(token)
