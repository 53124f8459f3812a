"""Program: prepared work, bound to operands, for repeated calls.

A program is valid if the operands are the same objects, in the same order, and the version is
equal. It refers to its operands, so their ids cannot be reused. The version is everything else that
the preparation depended on: specs, modes, settings, version numbers. Values that differ from call
to call are arguments of the work.

Without operands the rule is ``program.version == version``, which the hot path compares itself.
"""

from collections.abc import Hashable, Sequence
from operator import is_
from typing import Generic, TypeVar

T = TypeVar("T")


class Program(Generic[T]):
    """Work that was prepared for some operands at some version.

    Args:
        operands: Objects that the work is bound to.
        version: Compared by ``==``; must not be modified.
        work: Usually a function of the arguments that differ from call to call.
    """

    __slots__ = ("operands", "version", "work")

    def __init__(self, operands: Sequence[object], version: object, work: T) -> None:
        self.operands = operands
        self.version = version
        self.work = work

    def holds(self, operands: Sequence[object], version: object) -> bool:
        """Whether the work is valid for a call with these operands at this version."""
        bound = self.operands
        return self.version == version and (
            bound is operands or (len(bound) == len(operands) and all(map(is_, bound, operands)))
        )


class Programs(dict[Hashable, T]):
    """Cache of prepared work by version, with at most ``limit`` entries."""

    __slots__ = ("limit",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def add(self, version: Hashable, work: T) -> T:
        """Add work for a version, evict the oldest entry beyond the limit, and return the work."""
        self[version] = work
        if len(self) > self.limit:
            self.pop(next(iter(tuple(self))), None)  # another thread may have evicted it
        return work

    def use(self, version: Hashable) -> T | None:
        """Return the work of a version, and make it the newest entry; None if there is none."""
        work = self.pop(version, None)
        return None if work is None else self.add(version, work)
