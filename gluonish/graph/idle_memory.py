"""Idle memory of plans without ``static_alloc``: bounded together, the longest unused goes first.

Such a plan keeps its arenas and states between calls, with all that is bound to their addresses,
as a plan with ``static_alloc`` does. But all of these plans together keep at most `MAX_NBYTES`
that are not in use, so that many networks in one process do not hold memory for calls that may
never come.

A block is looked at when it is taken, never when it comes back, which finalizers do at any moment.
What changes the table is a single step of the interpreter each.
"""

from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import ref

from gluonish.core.context import Context, cache_owners

MAX_NBYTES = 64 << 20


class _Block(ref[Any]):
    """A block of memory, and how its plan drops it.

    Attributes:
        key: In the table.
        nbytes: Its size.
        drop: Drops the block if it is idle, and returns whether it was.
    """

    __slots__ = ("drop", "key", "nbytes")

    key: int
    nbytes: int
    drop: Callable[[Any], bool]


# The longest unused first.
_blocks: dict[int, _Block] = {}


def drop_idle(idle: "ref[deque[Any]]", block: Any) -> bool:
    """Take a block out of those that are idle; whether it was one.

    Args:
        idle: The plan's idle blocks.
    """
    blocks = idle()
    if blocks is None:
        return False
    try:
        blocks.remove(block)
    except (ValueError, IndexError):  # in use; or another thread changed the queue meanwhile
        return False
    return True


def used(block: Any, nbytes: int, drop: Callable[[Any], bool]) -> None:
    """Note that a block is taken for a call; where there are too many others, drop idle ones.

    Args:
        nbytes: Its size.
        drop: Drops the block if it is idle, and returns whether it was; does not keep the plan.
    """
    key = id(block)
    known = _blocks.pop(key, None)
    if known is None:
        known = _Block(block, _forget)
        known.key, known.nbytes, known.drop = key, nbytes, drop
        _blocks[key] = known
        _make_room(MAX_NBYTES)
    else:
        _blocks[key] = known


def _forget(block: _Block) -> None:
    _blocks.pop(block.key, None)


def _make_room(most_nbytes: int) -> None:
    """Drop idle blocks until there are no more than so many bytes, in use or not."""
    blocks = list(_blocks.values())
    nbytes = sum(block.nbytes for block in blocks)
    for known in blocks:
        if nbytes <= most_nbytes:
            return
        block = known()
        if block is None or known.drop(block):
            nbytes -= known.nbytes


def _forget_all(context: Context) -> None:
    _make_room(0)


cache_owners.append(_forget_all)
