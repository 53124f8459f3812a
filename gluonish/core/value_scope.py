"""ValueScope: context variables with other values inside a ``with``, restored after interrupts too.

Ctrl-C may come at the beginning of an ``__enter__`` or ``__exit__``; then Python does not call, or
does not finish, the latter. So a scope records each change before it makes it, and a scope that is
freed with recorded changes restores them, unless an enclosing scope has done so.
"""

import threading
from contextvars import ContextVar
from typing import Any

from gluonish.core.object_repr import default_repr


class _Change:
    """A variable and its previous value; without ``__init__``, since scopes are on hot paths."""

    __slots__ = ("before", "variable")

    variable: ContextVar[Any]
    before: Any


class _Thread(threading.local):
    """The active changes of a thread, the innermost last."""

    def __init__(self) -> None:
        self.changes: list[_Change] = []


_thread = _Thread()


def _restore(changes: list[_Change]) -> None:
    """Undo the last change; safe if an interrupt stops it after any line, and if it runs twice."""
    change = changes[-1]
    all_changes = _thread.changes
    if change in all_changes:
        index = all_changes.index(change)
        for inner in reversed(all_changes[index + 1 :]):  # of interrupted scopes
            inner.variable.set(inner.before)
        change.variable.set(change.before)
        del all_changes[index:]
    else:
        change.variable.set(change.before)
    del changes[-1]


class _Guard:
    """Object that is freed with its scope; without active changes, it does nothing then."""

    __slots__ = ("changes",)

    changes: list[_Change]


class _ArmedGuard(_Guard):
    """The guard of a scope with active changes, which undoes them when the scope is freed.

    A separate class, so that no destructor runs after scopes that ended normally: Python only
    prints an interrupt that is raised in a destructor.
    """

    __slots__ = ()

    def __del__(self) -> None:
        changes = self.changes
        while changes and changes[-1] in _thread.changes:
            _restore(changes)


class ValueScope:
    """Base of scopes that change context variables; reusable.

    A subclass calls `_change` in ``__enter__``; each `_restore` undoes one change.
    """

    __repr__ = default_repr

    __slots__ = ("_changes", "_guard")

    def __init__(self) -> None:
        self._changes: list[_Change] = []
        self._guard = guard = _Guard()
        guard.changes = self._changes

    def _change(self, variable: ContextVar[Any], value: Any) -> None:
        change = _Change()
        change.variable = variable
        try:
            change.before = variable.get()
        except LookupError:  # without a default, it is not read outside the scope
            change.before = None
        self._changes.append(change)
        _thread.changes.append(change)
        self._guard.__class__ = _ArmedGuard
        variable.set(value)

    def _restore(self) -> None:
        _restore(self._changes)
        if not self._changes:
            self._guard.__class__ = _Guard

    def __exit__(self, *exc_info: object) -> None:
        changes, all_changes = self._changes, _thread.changes
        change = changes[-1]
        if len(changes) > 1 or not all_changes or all_changes[-1] is not change:
            self._restore()
            return
        change.variable.set(change.before)  # inlined `_restore` of the innermost change
        # Garbage collection in `set` may have undone the changes of an abandoned enclosing scope.
        if all_changes and all_changes[-1] is change:
            del all_changes[-1]
        del changes[-1]
        self._guard.__class__ = _Guard
