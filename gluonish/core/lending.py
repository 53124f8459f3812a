"""Things that are lent to an object and come back once it is freed.

A callback of Python's, as `weakref.finalize` calls one, is a place where a Ctrl-C is lost; what
runs here when the object is freed is a single step of the interpreter, in whichever thread that is.
"""

import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Lease(weakref.ref[Any]):
    __slots__ = ("thing",)

    thing: Any


class Lending(Generic[T]):
    """What is lent, and what has come back.

    One thread lends and takes back; the borrowers are freed by any.
    """

    def __init__(self) -> None:
        self._out: dict[int, _Lease] = {}
        self._back: deque[_Lease] = deque()

    def lend(self, thing: T, borrower: object) -> None:
        """Lend something until an object is freed.

        Args:
            thing: What `returned` gives then.
            borrower: The object, which must take weak references.
        """
        lease = _Lease(borrower, self._back.append)
        lease.thing = thing
        self._out[id(lease)] = lease

    def returned(self) -> Iterator[T]:
        """Yield what has come back since this was asked last; from the thread that lends."""
        while self._back:
            lease = self._back.popleft()
            del self._out[id(lease)]
            yield lease.thing

    def has_returned(self) -> bool:
        """Whether anything has come back that was not asked for yet; from any thread."""
        return bool(self._back)

    def __len__(self) -> int:
        """Return how much is lent and has not come back."""
        return len(self._out) - len(self._back)
