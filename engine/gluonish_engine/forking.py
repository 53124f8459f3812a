"""ForkHold: pauses a threaded engine around a fork, so that values are complete in the child.

Variables that are still pending after a time-out, or because an operator itself forks, carry an
error in the child.

Invariants: between `acquire` and `release` (in the parent) or `start_clean` (in the child) the
scheduler is barred: pushes of other threads wait, except pushes from inside operators, which the
fork may be waiting for. The hold counts as pending, so that no push begins untracked.
"""

import threading
import time
from typing import Any

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.idle import wait_idle
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Frame, frames_of, reclaim

_FORK_S = 10.0
_LOOK_S = 0.001


class ForkHold:
    """Blocks new pushes to the engine while the process forks.

    Args:
        core: The engine's scheduler.
        thread: The engine's thread-local state.
    """

    __slots__ = ("_core", "_owner", "_thread")

    def __init__(self, core: Scheduler, thread: Any) -> None:
        self._core = core
        self._thread = thread
        self._owner = 0
        core.await_bar = self._await_bar

    def acquire(self, inside: bool) -> None:
        """Block new pushes, and wait (at most 10 s) until nothing is pending.

        Args:
            inside: Whether the fork is inside an operator, so that waiting is impossible.
        """
        core, me = self._core, threading.get_ident()
        while self._owner != me:
            if not self._owner:  # a step
                self._owner = me
                core.barred = True
                core.pending += 1
                break
            time.sleep(_LOOK_S)  # another thread is forking
        core.catch_up()
        if not inside:
            wait_idle(core, _FORK_S, held=1)

    def own_pending(self) -> int:
        """Return the number of holds that the calling thread owns: 1 while it forks, else 0."""
        return int(self._owner == threading.get_ident())

    def release(self) -> None:
        """Resume pushes; called in the parent."""
        core, holds = self._core, self.own_pending()
        if holds and self._owner:  # a step
            self._owner = 0
            core.barred = core.closed
            core.pending -= 1
        core.notify_all()

    def start_clean(self, running: Frame | None) -> None:
        """Drop pending work and store failures on its variables; called in the child."""
        self._owner = 0
        core = self._core
        core.barred = core.closed
        if core.pending > 1:
            failure = Failure("fork", EngineError("the value was pending at the fork"), 0)
            failure.raised = True
            reclaim(failure, running)
        core.reset(len(frames_of(running)))

    def _await_bar(self) -> bool:
        """Wait until the hold ends; return True at once if the caller may push during the hold."""
        if self._thread.state.running is not None or self.own_pending():
            return True
        while self._owner:
            time.sleep(_LOOK_S)
        return False
