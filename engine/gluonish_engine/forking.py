"""ForkHold: a threaded engine at rest around a fork, so that the child finds values complete.

What is still pending after a while, or because an operator itself forks, carries an error in the
child.

Invariants: between `take` and `release` (in the parent) or `start_clean` (in the child) the forking
thread holds the scheduler's lock.
"""

import time

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.idle import wait_idle
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Frame, frames_of, reclaim

__all__ = ["ForkHold"]

_FORK_S = 10.0


class ForkHold:
    """Holds a scheduler's lock across a fork."""

    __slots__ = ("_core", "_holds")

    def __init__(self, core: Scheduler) -> None:
        self._core = core
        self._holds = False

    def take(self, inside: bool) -> None:
        """Wait (at most 10 s) until nothing is pending, and take the lock.

        Args:
            inside: Whether an operator forks, for whose end nobody can wait.
        """
        core = self._core
        deadline = time.monotonic() + _FORK_S
        while True:
            if not inside:
                wait_idle(core, max(0.0, deadline - time.monotonic()))
            core.lock.acquire()
            core.reveal()
            if inside or not core.pending or time.monotonic() >= deadline:
                self._holds = True
                return
            core.lock.release()

    def release(self) -> None:
        """Give the lock back, in the parent."""
        if self._holds:
            self._holds = False
            self._core.lock.release()

    def start_clean(self, running: Frame | None) -> None:
        """Make new locks and fail what is still pending, in the child.

        Args:
            running: The operators that the forking thread is inside of.
        """
        self._holds = False
        if self._core.pending:
            failure = Failure("fork", EngineError("the value was pending at the fork"), 0)
            failure.raised = True
            reclaim(failure, running)
        self._core.reset(len(list(frames_of(running))))
