"""Hooks that call all engines of a process at forks and at exit.

Invariants: the set holds weak references and is copied before use; hooks are registered once, at
import. The fork hooks run in the forking thread, around the fork; the exit hook runs in the main
thread while daemon threads still run.
"""

import atexit
import os
import weakref

from gluonish_engine.base import Engine

_ENGINES: "weakref.WeakSet[Engine]" = weakref.WeakSet()


def register(engine: Engine) -> None:
    """Call the hooks of an engine at forks and at exit."""
    _ENGINES.add(engine)


def _before_fork() -> None:
    for engine in list(_ENGINES):
        engine.before_fork()


def _after_fork_in_parent() -> None:
    for engine in list(_ENGINES):
        engine.after_fork_in_parent()


def _after_fork_in_child() -> None:
    for engine in list(_ENGINES):
        engine.after_fork_in_child()


def _at_exit() -> None:
    for engine in list(_ENGINES):
        engine.finish_at_exit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
    # Twice: if the first call is interrupted, Python only prints that; pushes would wait for ever.
    # Normally the second call does nothing.
    os.register_at_fork(after_in_parent=_after_fork_in_parent)
atexit.register(_at_exit)
