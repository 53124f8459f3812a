"""Idle: threads that wait until a scheduler's work is done, or done far enough to push more.

Invariants: while a thread waits here, ``Scheduler.waiters`` counts it, so that no bulk stays open
and the ends of tasks that it may be waiting for wake it up, by ``Scheduler.idle``. Ctrl-C ends a
wait and takes nothing back.
"""

from gluonish_engine.lanes import WorkerLane
from gluonish_engine.scheduler import Scheduler

__all__ = ["await_room", "wait_idle"]

_STUCK_S = 1.0


def await_room(core: Scheduler, lane: WorkerLane) -> None:
    """Block until half of what may be pending in a lane is done.

    It returns early when a promise is made, which the caller may be on its way to keep, and when
    nothing ended for a second: what the lane waits for may be something else that the caller has,
    such as a lock of the program's.
    """
    with core.lock:
        core.reveal()
        core.close_all()
        core.waiters += 1
        try:
            while lane.backlog > lane.low and not core.promises and not core.closed:
                before = lane.backlog
                if not core.idle.wait(_STUCK_S) and lane.backlog >= before:
                    return
        finally:
            core.waiters -= 1


def wait_idle(core: Scheduler, timeout_s: float | None = None, flushes_only: bool = False) -> bool:
    """Block until nothing is pending (or nothing that writes files).

    Returns:
        False when ``timeout_s`` seconds went by before.
    """
    with core.lock:
        core.reveal()
        core.close_all()
        core.waiters += 1
        try:
            return core.idle.wait_for(
                lambda: not (core.flushes if flushes_only else core.pending), timeout_s
            )
        finally:
            core.waiters -= 1
