"""TimeoutLock: a lock that avoids duplicate work, and cannot deadlock.

A lock that is held during long work, or while a signal handler may run, can hang a program: the
handler may wait for a thread that waits for the lock, which the interrupted thread holds. So code
under such a lock is written to be correct even if another thread or a handler does the same work at
the same time, and publishes its result in one step. The lock only avoids the waste, so waits for it
end after `PATIENCE_S`.
"""

import threading

PATIENCE_S = 3.0


class TimeoutLock:
    """Re-entrant lock whose ``with`` proceeds after a time-out; no mutual exclusion guaranteed."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        lock = self._lock
        if not lock.acquire(True, PATIENCE_S):
            # Its owner is blocked, was interrupted on the way out, or was lost in a fork. A new
            # lock spares the other threads the same wait.
            new_lock = threading.RLock()
            if self._lock is lock:
                self._lock = new_lock

    def __exit__(self, *exc_info: object) -> None:
        try:
            self._lock.release()
        except RuntimeError:  # not acquired, or the lock was replaced
            return
