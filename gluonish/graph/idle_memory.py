"""Idle memory of plans without ``static_alloc``: one bound for all, least recently used first.

Like a plan with ``static_alloc``, such a plan keeps its arenas and states between calls, with
everything that is bound to their addresses. But all of these plans together keep at most
`MAX_NBYTES` idle, so that many networks in one process do not hold memory for calls that may never
come.

The bound is applied when a block is acquired, not when it is released, because finalizers release
blocks at any time. Each change of the table is one bytecode instruction.
"""

from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import ref

from gluonish.core.context import Context, cache_owners

MAX_NBYTES = 64 << 20


class _Block(ref[Any]):
    """A weak reference to a block of memory.

    Attributes:
        key: Key of the reference in the table.
        drop: Function that drops the block if it is idle, and returns whether it was.
    """

    __slots__ = ("drop", "key", "nbytes")

    key: int
    nbytes: int
    drop: Callable[[Any], bool]


# In order of use, the least recently used first.
_blocks: dict[int, _Block] = {}


def drop_idle(idle: "ref[deque[Any]]", block: Any) -> bool:
    """Remove a block from a plan's idle blocks, and return whether it was among them."""
    blocks = idle()
    if blocks is None:
        return False
    try:
        blocks.remove(block)
    except (ValueError, IndexError):  # in use, or another thread has just changed the queue
        return False
    return True


def mark_used(block: Any, nbytes: int, drop: Callable[[Any], bool]) -> None:
    """Record that a call acquires a block, and drop idle blocks beyond the bound.

    Args:
        drop: See `_Block.drop`; the function must not refer to the plan.
    """
    key = id(block)
    known = _blocks.pop(key, None)
    if known is None:
        known = _Block(block, _forget)
        known.key, known.nbytes, known.drop = key, nbytes, drop
        _blocks[key] = known
        _shrink(MAX_NBYTES)
    else:
        _blocks[key] = known


def _forget(block: _Block) -> None:
    _blocks.pop(block.key, None)


def _shrink(most_nbytes: int) -> None:
    """Drop idle blocks until all blocks, in use or not, have at most ``most_nbytes`` bytes."""
    blocks = list(_blocks.values())
    nbytes = sum(block.nbytes for block in blocks)
    for known in blocks:
        if nbytes <= most_nbytes:
            return
        block = known()
        if block is None or known.drop(block):
            nbytes -= known.nbytes


def _forget_all(context: Context) -> None:
    _shrink(0)


cache_owners.append(_forget_all)
