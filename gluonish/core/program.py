"""Program: prepared work, bound to operands, for the same call again.

One rule says when a program still holds: the operands are the same objects, in the same order, and
the version is equal. The program refers to its operands, so that no other object takes their
identity. The version is all else that the preparation read: specs, modes, settings, counts of
changes. What may differ from call to call is an argument of the work.

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
        version: Compared by ``==``; nobody changes it afterwards.
        work: What was prepared, usually a function of the arguments that differ.
    """

    __slots__ = ("operands", "version", "work")

    def __init__(self, operands: Sequence[object], version: object, work: T) -> None:
        self.operands = operands
        self.version = version
        self.work = work

    def holds(self, operands: Sequence[object], version: object) -> bool:
        """Whether the work serves a call with these operands at this version."""
        own = self.operands
        return self.version == version and (
            own is operands or (len(own) == len(operands) and all(map(is_, own, operands)))
        )


class Programs(dict[Hashable, T]):
    """Works of several versions, by version; bounded.

    Args:
        limit: The most works.
    """

    __slots__ = ("limit",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def add(self, version: Hashable, work: T) -> T:
        """Add a work in place of the oldest one where there are too many, and return it."""
        self[version] = work
        if len(self) > self.limit:
            self.pop(next(iter(tuple(self))), None)  # another thread may do the same
        return work

    def use(self, version: Hashable) -> T | None:
        """Return the work of a version, which is the newest one from now on; None without one."""
        work = self.pop(version, None)
        return None if work is None else self.add(version, work)
