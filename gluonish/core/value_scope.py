"""ValueScope: context variables that have other values inside of a ``with``, come what may.

Ctrl-C may come at the beginning of an ``__enter__`` or ``__exit__``, and then Python calls the
latter not at all, or not to its end. So a scope notes what it is going to change before it does,
and one that goes away while something is noted restores that, unless a scope around it has.
"""

import threading
from contextvars import ContextVar
from typing import Any


class _Change:
    """A variable, and its value before."""

    __slots__ = ("before", "variable")

    def __init__(self, variable: ContextVar[Any]) -> None:
        self.variable = variable
        try:
            self.before = variable.get()
        except LookupError:  # it has no default, and nobody reads it outside of the scope
            self.before = None


class _Thread(threading.local):
    """The changes of a thread, the innermost last."""

    def __init__(self) -> None:
        self.changes: list[_Change] = []


_thread = _Thread()


def _restore(changes: list[_Change]) -> None:
    """Take the last change back; each line may be the last that is run, and may be run twice."""
    change = changes[-1]
    all_changes = _thread.changes
    if change in all_changes:
        place = all_changes.index(change)
        for inner in reversed(all_changes[place + 1 :]):  # whose scopes were interrupted
            inner.variable.set(inner.before)
        change.variable.set(change.before)
        del all_changes[place:]
    else:
        change.variable.set(change.before)
    del changes[-1]


class _Guard:
    """What goes away with a scope.

    Args:
        changes: The scope's.
    """

    __slots__ = ("changes",)

    def __init__(self, changes: list[_Change]) -> None:
        self.changes = changes


class _ArmedGuard(_Guard):
    """The guard of a scope that has something to take back.

    A class of its own, so that no destructor runs behind scopes that ended as they should: Python
    only prints an interrupt that comes in one.
    """

    __slots__ = ()

    def __del__(self) -> None:
        changes = self.changes
        while changes and changes[-1] in _thread.changes:
            _restore(changes)


class ValueScope:
    """Base of scopes that change context variables; may be entered again and again.

    A subclass changes them in ``__enter__``, by `_change`; each `_restore` takes one change back.
    """

    __slots__ = ("_changes", "_guard")

    def __init__(self) -> None:
        self._changes: list[_Change] = []
        self._guard: _Guard = _Guard(self._changes)

    def _change(self, variable: ContextVar[Any], value: Any) -> None:
        change = _Change(variable)
        self._changes.append(change)
        _thread.changes.append(change)
        self._guard.__class__ = _ArmedGuard
        variable.set(value)

    def _restore(self) -> None:
        _restore(self._changes)
        if not self._changes:
            self._guard.__class__ = _Guard

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
