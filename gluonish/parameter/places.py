"""Where Parameters and Blocks stand in a network, so that messages can tell the way to them.

Nothing here keeps anything alive, and nothing is written into the Blocks and Parameters themselves,
so that copies and pickles of them have no part of it.
"""

from typing import TYPE_CHECKING
from weakref import ReferenceType, WeakKeyDictionary, ref

if TYPE_CHECKING:
    from gluonish.parameter.arrays import ParameterArrays

__all__ = ["note_place", "path_of", "told"]

_PLACES: WeakKeyDictionary[object, tuple[ReferenceType[object], str]] = WeakKeyDictionary()


def note_place(member: object, owner: object, name: str) -> None:
    """Take note that a Parameter or Block is a part of a Block.

    What is part of several is known by the first one that still exists.

    Args:
        member: The part.
        owner: What it is a part of.
        name: The attribute, or number, that leads to it.
    """
    known = _PLACES.get(member)
    if known is None or known[0]() is None:
        _PLACES[member] = (ref(owner), name)


def path_of(member: object) -> str:
    """Return the attributes that lead to a part from the outermost Block, as in files.

    Returns:
        Such as ``"features.0.weight"``; empty for what is no part of a Block.
    """
    names: list[str] = []
    seen: set[int] = set()
    while id(member) not in seen:
        seen.add(id(member))
        place = _PLACES.get(member)
        owner = None if place is None else place[0]()
        if place is None or owner is None:
            break
        names.append(place[1])
        member = owner
    return ".".join(reversed(names))


def told(parameter: "ParameterArrays") -> str:
    """Return how messages call a parameter: by its name, and its path where that tells more."""
    path = path_of(parameter)
    name = f"{type(parameter).__name__} {parameter.name}"
    return f"{name} ({path})" if "." in path else name
