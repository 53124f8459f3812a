"""What happens to the engines of a process at a fork and at its exit.

Invariants: the set holds engines weakly and is copied before use; hooks are registered once, at
import. The fork hooks run in the forking thread, around the fork; the exit hook runs in the main
thread while daemon threads still run.
"""

import atexit
import os
import weakref

from gluonish_engine.base import Engine

_ENGINES: "weakref.WeakSet[Engine]" = weakref.WeakSet()


def watch(engine: Engine) -> None:
    """Take the engine through forks and to the exit of the process."""
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
    # Once more: Python only prints an interrupt that comes in the first, and pushes would wait for
    # ever. Where all is well it does nothing.
    os.register_at_fork(after_in_parent=_after_fork_in_parent)
atexit.register(_at_exit)
