"""run_steps: run the steps of a copy in the calling thread and in threads that help it.

Each thread takes the next step when it has finished one, so that a thread without a core delays
nothing but its own step. (A team of OpenMP threads would wait for its slowest thread at each chunk:
on a busy machine it copies 0.5 GB/s where one thread copies 5.) NumPy copies without the GIL.

Invariant: each token of a job moves from ``_left`` to ``_ended`` once its step has ended. A `deque`
and a `SimpleQueue` need no lock that a forked child might find taken; a child starts threads of its
own.
"""

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from gluonish.core.operating_system import usable_cores

_MOST_HELPERS = 3  # with the caller, more than enough for the rate of a DMA from one socket


class _Job:
    """Steps that several threads run, in any order."""

    __slots__ = ("_count", "_ended", "_errors", "_left", "_step")

    def __init__(self, step: Callable[[], None], count: int) -> None:
        self._step: Callable[[], None] | None = step
        self._count = count
        self._left = deque(range(count))
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._errors: list[BaseException] = []

    def help(self) -> None:
        """Run steps until none is left."""
        while self._take():
            self._run()
            self._ended.put(None)

    def finish(self) -> None:
        """Run steps until none is left, wait for those of other threads, and raise their error."""
        self.help()
        for _ in range(self._count):
            self._ended.get()
        self._step = None  # a helper that comes late holds no arrays
        if self._errors:
            raise self._errors[0]

    def _take(self) -> bool:
        try:
            self._left.pop()
        except IndexError:
            return False
        return True

    def _run(self) -> None:
        step = self._step
        try:
            if step is not None and not self._errors:
                step()
        except BaseException as error:  # raised in the calling thread
            self._errors.append(error)


class _State:
    """The helpers of this process, which a thread starts at its first long copy."""

    jobs: SimpleQueue[_Job] = SimpleQueue()
    started = 0
    pid = 0


def run_steps(step: Callable[[], None], count: int) -> None:
    """Call a function several times, in this thread and in helpers, and return when all have ended.

    Args:
        step: May run in several threads at once; it sees the context of none.
        count: How often to call it.

    Raises:
        BaseException: The first error of a step; later steps are not run.
    """
    job = _Job(step, count)
    for _ in range(min(_helpers(), count - 1)):
        _State.jobs.put(job)
    job.finish()


def _helpers() -> int:
    """Return the number of helpers, and start missing ones."""
    if _State.pid != os.getpid():
        _State.jobs, _State.started, _State.pid = SimpleQueue(), 0, os.getpid()
    wanted = min(_MOST_HELPERS, usable_cores() - 1)
    while _State.started < wanted:
        thread = threading.Thread(
            target=_serve, args=(_State.jobs,), name="gluonish copy", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # no thread can start at interpreter exit
            break
        _State.started += 1
    return _State.started


def _serve(jobs: "SimpleQueue[_Job]") -> None:
    while True:
        jobs.get().help()
