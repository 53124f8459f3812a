"""Attribute paths of Parameters and Blocks in a network, for error messages.

The registry holds weak references only, and stores nothing in Blocks and Parameters, so that copies
and pickles of them do not contain it. The weak references have no callbacks: a KeyboardInterrupt
raised in a callback, while a network is freed, would be lost.
"""

import re
from typing import NamedTuple, Protocol
from weakref import ReferenceType, ref

from gluonish.core.errors import OperatorError


class _Named(Protocol):
    _full_name: str


class _Edge(NamedTuple):
    member: ReferenceType[object]
    owner: ReferenceType[object]
    name: str


class _Edges(dict[int, _Edge]):
    """Maps the id of each member to its owner and name; entries of freed members are purged."""

    capacity = 1024

    def of(self, member: object) -> _Edge | None:
        """Return the edge to a member, or None."""
        edge = self.get(id(member))
        return edge if edge is not None and edge.member() is member else None

    def record(self, member: object, owner: object, name: str) -> None:
        """Record or replace the edge to a member."""
        if len(self) >= self.capacity:
            for key, edge in list(self.items()):
                if edge.member() is None:
                    self.pop(key, None)
            self.capacity = max(1024, 2 * len(self))
        self[id(member)] = _Edge(ref(member), ref(owner), name)


_EDGES = _Edges()
_INDEX = re.compile(r"(?:^|\.)(\d+)(?=\.|$)")  # of a layer in a container


def is_registered(member: object) -> bool:
    """Whether a Parameter or Block was ever registered in a Block, even a freed one."""
    return _EDGES.of(member) is not None


def register_path(member: object, owner: object, name: str) -> None:
    """Record that a Block owns a Parameter or Block under an attribute name or index.

    The path of a member with several owners goes through the first one that still exists.
    """
    edge = _EDGES.of(member)
    if edge is None or edge.owner() is None:
        _EDGES.record(member, owner, name)


def path_of(member: object) -> str:
    """Return the path from the outermost Block, as in files: ``"features.0.weight"``.

    The path of an unregistered member is empty.
    """
    names: list[str] = []
    visited: set[int] = set()
    while id(member) not in visited:
        visited.add(id(member))
        edge = _EDGES.of(member)
        owner = None if edge is None else edge.owner()
        if edge is None or owner is None:
            break
        names.append(edge.name)
        member = owner
    return ".".join(reversed(names))


def location_of(member: object) -> str:
    """Return the path as a program writes it, for messages: ``net[0].weight``, ``features[0]``."""
    path = _INDEX.sub(r"[\1]", path_of(member))
    return f"net{path}" if path.startswith("[") else path


def described(parameter: _Named) -> str:
    """Return a parameter's type and name for messages, with its location if nested."""
    name = f"{type(parameter).__name__} {parameter._full_name}"
    return f"{name} ({location_of(parameter)})" if "." in path_of(parameter) else name


def locate(error: OperatorError, block: object) -> None:
    """Prefix an operator's error with the calling block and its location in the network.

    The message names the innermost block.
    """
    if error.located or not error.args:
        return
    location = location_of(block)
    name = f"{type(block).__name__} {getattr(block, 'name', '')}"
    where = f"{name} ({location})" if location else name
    error.args = (f"{where}: {error}", *error.args[1:])
    error.located = True
