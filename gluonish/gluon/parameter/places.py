"""Where Parameters and Blocks stand in a network, so that messages can tell the way to them.

Nothing here keeps anything alive, and nothing is written into the Blocks and Parameters themselves,
so that copies and pickles of them have no part of it. Weak references have no callbacks: a Ctrl-C
that came in one, while a network is freed, would be lost.
"""

from typing import NamedTuple, Protocol
from weakref import ReferenceType, ref

from gluonish.core.errors import OperatorError


class _Named(Protocol):
    name: str


class _Place(NamedTuple):
    member: ReferenceType[object]
    owner: ReferenceType[object]
    name: str


class _Places(dict[int, _Place]):
    """What is known of each member, by its id; entries of freed members go as others come."""

    room = 1024

    def of(self, member: object) -> _Place | None:
        """Return the place of a member, or None."""
        place = self.get(id(member))
        return place if place is not None and place.member() is member else None

    def note(self, member: object, owner: object, name: str) -> None:
        """Take note of a member's place, in place of what was known of it."""
        if len(self) >= self.room:
            for key, place in list(self.items()):
                if place.member() is None:
                    self.pop(key, None)
            self.room = max(1024, 2 * len(self))
        self[id(member)] = _Place(ref(member), ref(owner), name)


_PLACES = _Places()


def is_placed(member: object) -> bool:
    """Whether a Parameter or Block was made a part of a Block, be that still there or not."""
    return _PLACES.of(member) is not None


def note_place(member: object, owner: object, name: str) -> None:
    """Take note that a Parameter or Block is a part of a Block.

    What is part of several is known by the first one that still exists.

    Args:
        member: The part.
        owner: What it is a part of.
        name: The attribute, or number, that leads to it.
    """
    known = _PLACES.of(member)
    if known is None or known.owner() is None:
        _PLACES.note(member, owner, name)


def path_of(member: object) -> str:
    """Return the attributes that lead to a part from the outermost Block, as in files.

    Returns:
        Such as ``"features.0.weight"``; empty for what is no part of a Block.
    """
    names: list[str] = []
    seen: set[int] = set()
    while id(member) not in seen:
        seen.add(id(member))
        place = _PLACES.of(member)
        owner = None if place is None else place.owner()
        if place is None or owner is None:
            break
        names.append(place.name)
        member = owner
    return ".".join(reversed(names))


def described(parameter: _Named) -> str:
    """Return how messages call a parameter: by its name, and its path where that tells more."""
    path = path_of(parameter)
    name = f"{type(parameter).__name__} {parameter.name}"
    return f"{name} ({path})" if "." in path else name


def locate(error: OperatorError, block: object) -> None:
    """Have an operator's error begin with the block that called it, and its path in the network.

    Of blocks around blocks the innermost is named. An error of a graph names the node already.
    """
    if error.located or not error.args:
        return
    path = path_of(block)
    name = f"{type(block).__name__} {getattr(block, 'name', '')}"
    where = f"{name} ({path})" if "." in path else name
    error.args = (
        f"{where}: {error}",
        *error.args[1:],
    )
    error.located = True
