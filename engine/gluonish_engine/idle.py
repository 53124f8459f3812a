"""Waits until a scheduler's work is done, or has progressed enough to push more.

Invariants: while a thread waits here, its gate is in ``Scheduler.waiters``, so that bulks are
closed and the ends of tasks wake it up. A wake-up can be lost if the thread that sends it is
interrupted, so waits poll from time to time. Ctrl-C ends a wait and changes nothing else.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Sequence

from gluonish_engine.lanes import WorkerLane
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Var

_STUCK_S = 1.0
_FIRST_S, _LONGEST_S = 0.02, 0.5
_STILL_S = 0.005


def poll_interval_s(turn: int) -> float:
    """Return the seconds between polls of a wait, after ``turn`` polls."""
    return min(_LONGEST_S, _FIRST_S * 2.0 ** min(turn, 8))


def await_capacity(core: Scheduler, lane: WorkerLane) -> None:
    """Block until the backlog of a lane is down to half its limit.

    Returns early if a promise is pending, which the caller may be about to fulfill, or if no task
    has ended for a second: the lane may be waiting for the caller, for example for a lock of the
    program.
    """
    seen, since = lane.backlog, time.monotonic()

    def over() -> bool:
        nonlocal seen, since
        if lane.backlog < seen:
            seen, since = lane.backlog, time.monotonic()
        return (
            lane.backlog <= lane.low
            or bool(core.promises)
            or core.closed
            or time.monotonic() - since > _STUCK_S
        )

    _wait_until(core, over, None, _LONGEST_S)


def wait_idle(
    core: Scheduler, timeout_s: float | None = None, flushes_only: bool = False, held: int = 0
) -> bool:
    """Block until nothing is pending (or nothing that writes files).

    Args:
        timeout_s: Maximum wait in seconds; None for no limit.
        flushes_only: Whether to wait only for operators that write files.
        held: Number of pending items that belong to the caller.

    Returns:
        False after a time-out.
    """
    return _wait_until(
        core,
        lambda: not core.flushes if flushes_only else core.pending <= held,
        timeout_s,
        _LONGEST_S,
    )


def await_written(core: Scheduler, variables: Sequence[Var], timeout_s: float) -> bool:
    """Block until variables are written or a time-out; return whether they are written."""
    return _wait_until(
        core,
        lambda: not any(var.queue is not None or var.active < 0 for var in variables),
        timeout_s,
        _LONGEST_S,
    )


def wait_quiescent(core: Scheduler, depth: int) -> None:
    """Block until nothing can progress before the caller, which is inside operators.

    Args:
        depth: Number of operators that the caller is inside of.
    """
    core.stuck += depth
    try:
        _wait_until(
            core,
            lambda: core.pending - core.blocked - len(core.promises) <= core.stuck,
            None,
            _STILL_S,
        )
    finally:
        core.stuck -= depth


def _wait_until(
    core: Scheduler, over: Callable[[], bool], timeout_s: float | None, longest_s: float
) -> bool:
    """Block until ``over()`` is true or a time-out; return whether it became true."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    gate = threading.Lock()
    gates = (gate,)
    gate.acquire()
    try:
        for turn in itertools.count():
            if gate not in core.waiters:
                gate.acquire(False)  # released since the last turn timed out
                core.waiters += gates
            core.close_all()
            core.catch_up()
            if over():
                return True
            wait_s = min(longest_s, poll_interval_s(turn))
            if deadline is not None:
                wait_s = min(wait_s, deadline - time.monotonic())
                if wait_s <= 0:
                    return over()
            if not gate.acquire(True, wait_s):
                core.wake_lanes()
    finally:
        with contextlib.suppress(ValueError):  # removed by `notify_all`
            core.waiters.remove(gate)
    return False
