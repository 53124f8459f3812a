"""A thread that ends workers nobody needs any more.

What waits must not run in a finalizer: Python drops an exception there, so that a Ctrl-C that came
meanwhile would be lost, and with it the rest of the finalizer. Invariants: a finalizer only puts
what is to be done into a queue; whatever is done there takes seconds at most.
"""

import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

__all__ = ["Endings", "endings"]

# More than workers take that must be killed, in seconds.
_WAIT_TIMEOUT_S = 10.0

Stop = Callable[[], object]


class Endings:
    """What is to be done by the thread, which starts with the first workers."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        """Start with nothing, as in a fork, which has no thread, and no part in the workers."""
        self._queue: SimpleQueue[Stop | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def prepare(self) -> None:
        """Have the thread run; not for finalizers, which may interrupt the start of a thread."""
        if self._thread is None:
            queue: SimpleQueue[Stop | None] = SimpleQueue()
            thread = threading.Thread(
                target=_run, args=(queue,), name="gluonish-endings", daemon=True
            )
            thread.start()
            if self._thread is None:  # a step
                self._queue = queue
                self._thread = thread
            else:  # somebody else has started one meanwhile
                queue.put(None)

    def add(self, stop: Stop) -> None:
        """Have something done soon; at once where there is no thread, as at the end of a process.

        Args:
            stop: Takes seconds at most, and raises nothing.
        """
        if self._thread is None:
            stop()
        else:
            self._queue.put(stop)

    def wait(self) -> None:
        """Wait until what was added so far is done; not for finalizers."""
        done = threading.Event()
        self.add(done.set)
        done.wait(_WAIT_TIMEOUT_S)

    def finish(self) -> None:
        """Wait until all is done; what is added later is done at once."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(_WAIT_TIMEOUT_S)


def _run(queue: "SimpleQueue[Stop | None]") -> None:
    while (stop := queue.get()) is not None:
        stop()
        del stop  # it holds what it ended


endings = Endings()
atexit.register(endings.finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=endings._renew)
