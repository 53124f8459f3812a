"""Idle: threads that wait until a scheduler's work is done, or done far enough to push more.

Invariants: while a thread waits here, its gate is in ``Scheduler.waiters``, so that no bulk stays
open and the ends of tasks that it may be waiting for wake it up. A wake-up can be lost where the
thread that would bring it is interrupted, so waits look again from time to time. Ctrl-C ends a wait
and takes nothing back.
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


def patience(turn: int) -> float:
    """Return for how many seconds a wait blocks before it looks again by itself.

    Args:
        turn: How often it did.
    """
    return min(_LONGEST_S, _FIRST_S * 2.0 ** min(turn, 8))


def await_room(core: Scheduler, lane: WorkerLane) -> None:
    """Block until half of what may be pending in a lane is done.

    It returns early when a promise is made, which the caller may be on its way to keep, and when
    nothing ended for a second: what the lane waits for may be something else that the caller has,
    such as a lock of the program's.
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
        timeout_s: Longest wait in seconds; None: without end.
        flushes_only: Whether to wait for what writes files only.
        held: How much of what is pending is the caller's own.

    Returns:
        False when ``timeout_s`` seconds went by before.
    """
    return _wait_until(
        core,
        lambda: not core.flushes if flushes_only else core.pending <= held,
        timeout_s,
        _LONGEST_S,
    )


def await_written(core: Scheduler, variables: Sequence[Var], timeout_s: float) -> bool:
    """Block for some time until variables are written; whether they are."""
    return _wait_until(
        core,
        lambda: not any(var.queue is not None or var.active < 0 for var in variables),
        timeout_s,
        _LONGEST_S,
    )


def wait_still(core: Scheduler, own: int) -> None:
    """Block until nothing can go on before the caller does, who is inside of operators.

    Args:
        own: How many operators the caller is inside of.
    """
    core.stuck += own
    try:
        _wait_until(
            core,
            lambda: core.pending - core.blocked - len(core.promises) <= core.stuck,
            None,
            _STILL_S,
        )
    finally:
        core.stuck -= own


def _wait_until(
    core: Scheduler, over: Callable[[], bool], timeout_s: float | None, longest_s: float
) -> bool:
    """Block until something is true; whether it became so in time."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    gate = threading.Lock()
    gates = (gate,)
    gate.acquire()
    try:
        for turn in itertools.count():
            if gate not in core.waiters:
                core.waiters += gates
            core.close_all()
            core.catch_up()
            if over():
                return True
            wait_s = min(longest_s, patience(turn))
            if deadline is not None:
                wait_s = min(wait_s, deadline - time.monotonic())
                if wait_s <= 0:
                    return over()
            if not gate.acquire(True, wait_s):
                core.wake_lanes()
    finally:
        with contextlib.suppress(ValueError):  # somebody has taken it out
            core.waiters.remove(gate)
    return False
