"""Turn: one thread at a time does what could be done by several at once, only at a waste.

A lock that is held over long work, or over anything that a signal's handler may interrupt, can hang
a program: the handler may wait for a thread that waits for that lock, and the lock's holder is the
very thread that runs the handler. So what such a lock would guard is written so that whoever comes
in between, on this thread or another, does the same work and publishes it by one step; and to spare
the waste, threads take turns, but none waits longer than `PATIENCE_S` for another.
"""

import contextlib
import threading

PATIENCE_S = 3.0


class Turn:
    """``with turn:`` waits while another thread is inside, but not for ever.

    The same thread may enter again. What is done inside must be right, too, when another thread
    does it at the same time.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        lock = self._lock
        if not lock.acquire(True, PATIENCE_S):
            # Its holder is stuck, was interrupted on the way out, or is no thread of this process
            # any more, after a fork. The others need not find that out again.
            fresh = threading.RLock()
            if self._lock is lock:
                self._lock = fresh

    def __exit__(self, *exc_info: object) -> None:
        with contextlib.suppress(RuntimeError):  # it went in without, or the lock was replaced
            self._lock.release()
