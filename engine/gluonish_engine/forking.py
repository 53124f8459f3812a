"""ForkHold: a threaded engine at rest around a fork, so that the child finds values complete.

What is still pending after a while, or because an operator itself forks, carries an error in the
child.

Invariants: between `take` and `release` (in the parent) or `start_clean` (in the child) the bar of
the scheduler is down: pushes of other threads wait, but for those of operators, which the fork may
be waiting for. The hold counts as one more that is pending, so that no push begins unseen.
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
    """Holds pushes back across a fork.

    Args:
        core: The engine's scheduler.
        thread: Its state by thread.
    """

    __slots__ = ("_core", "_holder", "_thread")

    def __init__(self, core: Scheduler, thread: Any) -> None:
        self._core = core
        self._thread = thread
        self._holder = 0
        core.await_bar = self._await_bar

    def take(self, inside: bool) -> None:
        """Hold pushes back, and wait (at most 10 s) until nothing is pending.

        Args:
            inside: Whether an operator forks, for whose end nobody can wait.
        """
        core, me = self._core, threading.get_ident()
        while self._holder != me:
            if not self._holder:  # a step
                self._holder = me
                core.barred = True
                core.pending += 1
                break
            time.sleep(_LOOK_S)  # another thread forks
        core.catch_up()
        if not inside:
            wait_idle(core, _FORK_S, held=1)

    def own(self) -> int:
        """Return how much of what is pending is the calling thread's own hold."""
        return int(self._holder == threading.get_ident())

    def release(self) -> None:
        """Let pushes pass again, in the parent."""
        core, own = self._core, self.own()
        if own and self._holder:  # a step
            self._holder = 0
            core.barred = core.closed
            core.pending -= 1
        core.tell_all()

    def start_clean(self, running: Frame | None) -> None:
        """Forget what is pending, and leave failures for it, in the child.

        Args:
            running: The operators that the forking thread is inside of.
        """
        self._holder = 0
        core = self._core
        core.barred = core.closed
        if core.pending > 1:
            failure = Failure("fork", EngineError("the value was pending at the fork"), 0)
            failure.raised = True
            reclaim(failure, running)
        core.reset(len(frames_of(running)))

    def _await_bar(self) -> bool:
        """Wait until the bar is up; whether the caller may pass below it."""
        if self._thread.state.running is not None or self.own():
            return True
        while self._holder:
            time.sleep(_LOOK_S)
        return False
