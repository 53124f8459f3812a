"""Finalizers that run as C code only, so that nothing can interrupt them.

CPython runs signal handlers between the instructions of Python code, also in a ``__del__``: a
Ctrl-C there is printed and lost, and the resource leaks. So resources are released by a weak
reference whose callback is a C function (a method of a list or queue, or a library's function
through ctypes). Its argument is the reference, whose slots hold all needed data.

Invariant: ``_registered`` has a second weak reference to each object, which owns the finalizer, and
whose callback removes it from the set. CPython clears both references before it calls either
callback, and keeps both alive until then: their order does not matter.

Leases: resources that belong to an object until it is freed, and can be reused then.

A `weakref.finalize` callback is Python code, in which a Ctrl-C is lost. The callback here is one C
function, in whichever thread frees the object.
"""

import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, TypeVar


class Finalizer(weakref.ref[Any]):
    """A weak reference that is compared by identity: objects may have no hash."""

    __slots__ = ()

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Registration(Finalizer):
    """Weak reference to an object that keeps the object's finalizer alive until it is called."""

    __slots__ = ("finalizer",)

    finalizer: Finalizer | None


_registered: set[Registration] = set()


def keep(finalizer: Finalizer, owner: object) -> Registration:
    """Register a finalizer, which is called when ``owner`` is freed.

    Args:
        finalizer: A reference to ``owner``; its callback must be a C function.

    Returns:
        A handle for `cancel`; the caller may drop it.
    """
    registration = Registration(owner, _registered.discard)
    registration.finalizer = finalizer
    _registered.add(registration)
    return registration


def cancel(registration: Registration) -> bool:
    """Unregister a finalizer; return False if it was called, or cancelled before."""
    try:
        _registered.remove(registration)
    except KeyError:
        return False
    registration.finalizer = None
    return True


T = TypeVar("T")


class _Lease(weakref.ref[Any]):
    __slots__ = ("resource",)

    resource: Any


class Leases(Generic[T]):
    """Tracks leased resources, and queues them for reuse when their owners are freed.

    One thread grants and reclaims; any thread may free the owners.
    """

    def __init__(self) -> None:
        self._granted: dict[int, _Lease] = {}
        self._released: deque[_Lease] = deque()

    def grant(self, resource: T, owner: object) -> None:
        """Lease a resource until ``owner``, which must support weak references, is freed."""
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
