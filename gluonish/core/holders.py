"""Who holds a device's memory: found out when it is asked, by looking at all that is alive.

A class whose objects hold arrays says so once with `describe_holders`; its objects are found
through the garbage collector, so that they cost nothing while nobody asks. An array that several
hold belongs to a kind of `Rank.OWNER`, if there is one, else to any.
"""

import gc
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from gluonish.core.context import Context


class Rank(IntEnum):
    """Whose an array is that several hold."""

    OWNER = 0  # a parameter
    ARRAY = 1  # any handle


class Holder(NamedTuple):
    """What one object holds.

    Attributes:
        context: Where.
        name: What it is, in the words of an error message: ``parameter dense0_weight``.
        arrays: NumPy's or CuPy's; views count as what they are views of.
    """

    context: Context
    name: str
    arrays: Sequence[Any]


class Holding(NamedTuple):
    """Memory that one name has on one device.

    Attributes:
        context: Where.
        name: Who has it.
        nbytes: Bytes.
        arrays: In how many arrays.
    """

    context: Context
    name: str
    nbytes: int
    arrays: int


Describe = Callable[[Any], Iterable[Holder]]

_kinds: dict[Rank, dict[type, Describe]] = {Rank.OWNER: {}, Rank.ARRAY: {}}


def describe_holders(kind: type, describe: Describe, rank: Rank = Rank.OWNER) -> None:
    """Have objects of a class and of its subclasses found.

    Args:
        kind: The class; its instances take part in garbage collection, as those of classes written
            in Python do.
        describe: Returns what an instance holds; it allocates little.
        rank: Whose an array is that another kind holds, too.
    """
    _kinds[rank][kind] = describe


def held_memory(context: Context) -> list[Holding]:
    """Return who holds memory of a device now, the largest first; of one name together.

    All CPU devices are the same memory. It looks at every object of the process: tens of
    milliseconds and more.
    """
    found: dict[str, tuple[int, int]] = {}
    seen: set[int] = set()
    everything = gc.get_objects()
    for kinds in _kinds.values():
        matches: dict[type, Describe | None] = {}
        for thing in everything:
            kind = type(thing)
            if kind not in matches:
                matches[kind] = next((kinds[k] for k in kind.__mro__ if k in kinds), None)
            describe = matches[kind]
            if describe is None:
                continue
            try:
                holders = list(describe(thing))
            except AttributeError:  # another thread is still making it
                continue
            for holder in holders:
                if _is_same_memory(holder.context, context):
                    _add(found, seen, holder)
    holdings = [Holding(context, name, *sums) for name, sums in found.items()]
    return sorted(holdings, key=lambda holding: -holding.nbytes)


def _add(found: dict[str, tuple[int, int]], seen: set[int], holder: Holder) -> None:
    for array in holder.arrays:
        whole = _whole(array)
        if id(whole) not in seen and whole.nbytes:
            seen.add(id(whole))
            nbytes, count = found.get(holder.name, (0, 0))
            found[holder.name] = nbytes + int(whole.nbytes), count + 1


def _is_same_memory(one: Context, other: Context) -> bool:
    return one == other or not (one.is_gpu or other.is_gpu)


def _whole(array: Any) -> Any:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, type(array)):
        array = array.base
    return array
