"""Finalizers: what is done when an object ends, by C code alone, so that nothing interrupts it.

CPython runs signal handlers between the steps of Python code, of a ``__del__`` as well: a Ctrl-C
there is printed and lost, and what was to be given back leaks. So what ends with an object is the
business of a weak reference to it, whose callback is a C function (a method of a list or a queue,
or a library's function through ctypes) and gets the reference, with all that it needs in slots.

Invariant: ``_kept`` has another reference to each object, which holds its finalizer, and whose
callback takes it out of there. Both references lose their object before either callback is called,
and CPython holds both until then: their order does not matter.
"""

import weakref
from typing import Any


class Finalizer(weakref.ref[Any]):
    """A weak reference that is told from others by identity: objects may have no hash."""

    __slots__ = ()

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Kept(Finalizer):
    """What keeps a finalizer until it is called."""

    __slots__ = ("finalizer",)

    finalizer: Finalizer | None


_kept: set[Kept] = set()


def keep(finalizer: Finalizer, owner: object) -> Kept:
    """Have a finalizer called when its object ends.

    Args:
        finalizer: A reference to ``owner``; its callback must be a C function.

    Returns:
        What `cancel` takes; it need not be kept.
    """
    kept = Kept(owner, _kept.discard)
    kept.finalizer = finalizer
    _kept.add(kept)
    return kept


def cancel(kept: Kept) -> bool:
    """Have a finalizer not called; return False where it was called, or cancelled before."""
    try:
        _kept.remove(kept)
    except KeyError:
        return False
    kept.finalizer = None
    return True
