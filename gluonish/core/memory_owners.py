"""Owners of a device's memory, found on request by a scan of all live objects.

A class whose objects own arrays registers a function by `register_memory_owner`. Its objects are
found through the garbage collector, so they cost nothing until the scan. A shared array counts for
an owner of `Rank.OWNER` if there is one, else for any.
"""

import gc
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from gluonish.core.context import Context


class Rank(IntEnum):
    """Which of the owners of a shared array its memory is attributed to: the lowest rank."""

    OWNER = 0  # a parameter
    ARRAY = 1  # any handle


class MemoryOwner(NamedTuple):
    """The arrays of one object on one device.

    Attributes:
        name: Description for error messages: ``parameter dense0_weight``.
        arrays: Arrays of NumPy or CuPy; a view counts as its base array.
    """

    context: Context
    name: str
    arrays: Sequence[Any]


class MemoryUse(NamedTuple):
    """Total memory on one device of all owners with the same name.

    Attributes:
        arrays: Number of arrays.
    """

    context: Context
    name: str
    nbytes: int
    arrays: int


Describe = Callable[[Any], Iterable[MemoryOwner]]

_describers: dict[Rank, dict[type, Describe]] = {Rank.OWNER: {}, Rank.ARRAY: {}}


def register_memory_owner(kind: type, describe: Describe, rank: Rank = Rank.OWNER) -> None:
    """Register a class whose instances, subclasses included, own arrays.

    Args:
        kind: The class; the garbage collector must track its instances.
        describe: Returns the arrays of an instance; must not allocate much.
        rank: Priority for arrays that are shared with other classes.
    """
    _describers[rank][kind] = describe


def memory_by_owner(context: Context) -> list[MemoryUse]:
    """Return the current memory uses of a device by name, the largest first.

    All CPU devices share one memory. Scans all objects of the process, which takes tens of
    milliseconds or more.
    """
    found: dict[str, tuple[int, int]] = {}
    seen: set[int] = set()
    objects = gc.get_objects()
    for describers in _describers.values():
        matches: dict[type, Describe | None] = {}
        for obj in objects:
            kind = type(obj)
            if kind not in matches:
                matches[kind] = next((describers[k] for k in kind.__mro__ if k in describers), None)
            describe = matches[kind]
            if describe is None:
                continue
            try:
                owners = list(describe(obj))
            except AttributeError:  # another thread is still making it
                continue
            for owner in owners:
                if _is_same_memory(owner.context, context):
                    _add(found, seen, owner)
    uses = [MemoryUse(context, name, *sums) for name, sums in found.items()]
    return sorted(uses, key=lambda use: -use.nbytes)


def _add(found: dict[str, tuple[int, int]], seen: set[int], owner: MemoryOwner) -> None:
    for array in owner.arrays:
        base = _base_array(array)
        if id(base) not in seen and base.nbytes:
            seen.add(id(base))
            nbytes, count = found.get(owner.name, (0, 0))
            found[owner.name] = nbytes + int(base.nbytes), count + 1


def _is_same_memory(one: Context, other: Context) -> bool:
    return one == other or not (one.is_gpu or other.is_gpu)


def _base_array(array: Any) -> Any:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, type(array)):
        array = array.base
    return array
