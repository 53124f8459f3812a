"""Leases: resources that belong to an object until it is freed, and can be reused then.

A `weakref.finalize` callback is Python code, in which a Ctrl-C is lost. The callback here is one C
function, in whichever thread frees the object.
"""

import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Lease(weakref.ref[Any]):
    __slots__ = ("resource",)

    resource: Any


class Leases(Generic[T]):
    """Leased resources, and those that were released since.

    One thread grants and reclaims; any thread may free the owners.
    """

    def __init__(self) -> None:
        self._granted: dict[int, _Lease] = {}
        self._released: deque[_Lease] = deque()

    def grant(self, resource: T, owner: object) -> None:
        """Lease a resource until ``owner`` is freed, which must support weak references."""
        lease = _Lease(owner, self._released.append)
        lease.resource = resource
        self._granted[id(lease)] = lease

    def reclaim(self) -> Iterator[T]:
        """Yield the resources released since the last call; only for the granting thread."""
        while self._released:
            lease = self._released.popleft()
            del self._granted[id(lease)]
            yield lease.resource

    def can_reclaim(self) -> bool:
        """Whether a resource can be reclaimed; for any thread."""
        return bool(self._released)

    def __len__(self) -> int:
        """Return the number of current leases."""
        return len(self._granted) - len(self._released)
