"""Finalizers that run as C code only, so that nothing can interrupt them.

CPython runs signal handlers between the instructions of Python code, also in a ``__del__``: a
Ctrl-C there is printed and lost, and the resource leaks. So resources are released by a weak
reference whose callback is a C function (a method of a list or queue, or a library's function
through ctypes). It gets the reference, which has all needed data in slots.

Invariant: ``_registered`` has a second weak reference to each object, which owns the finalizer, and
whose callback removes it from the set. CPython clears both references before it calls either
callback, and keeps both alive until then: their order does not matter.
"""

import weakref
from typing import Any


class Finalizer(weakref.ref[Any]):
    """A weak reference that is compared by identity: objects may have no hash."""

    __slots__ = ()

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Registration(Finalizer):
    """Registration that owns a finalizer until it is called."""

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
