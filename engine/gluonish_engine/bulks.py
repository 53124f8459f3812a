"""Bulks: consecutive pushes of one thread to one lane that run as one job.

Invariants: a bulk that may still grow is in ``Scheduler.open``, and known to the thread that adds
to it. It holds its variables from its first call on, so other threads see its writes as pending. It
closes at its limit, when its thread pushes to another lane, waits or leaves the scope, and when any
thread waits or queues behind it; so it holds nobody up for ever.
"""

from collections.abc import Hashable

from gluonish_engine.grants import extend, request
from gluonish_engine.lanes import WorkerLane
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Call, Job

__all__ = ["close", "join"]


def join(
    core: Scheduler,
    bulk: Job | None,
    call: Call,
    lane: WorkerLane,
    key: Hashable,
    priority: int,
    limit: int,
) -> Job | None:
    """Add a call to the thread's bulk, or close that and begin another.

    Returns:
        The bulk that the next call may join, or None.

    Raises:
        EngineError: The engine was shut down.
    """
    fresh = None
    with core.lock:
        try:
            core.reveal()
            joins = (
                bulk is not None
                and bulk.open
                and (bulk.key, bulk.priority) == (key, priority)
                and extend(bulk, call.held)
            )
            if bulk is None or not joins:
                core.close(bulk)
                bulk = fresh = Job([call], dict(call.held), lane, key, priority)
                _begin(core, bulk)
            else:
                core.number(call)
                bulk.calls.append(call)
                bulk.flushes += call.flushes
                core.flushes += call.flushes
            if len(bulk.calls) >= limit or core.waiters:
                core.close(bulk)
            core.settle(core.ready)
        except BaseException:
            if fresh is not None and fresh.open and fresh not in core.open:
                core.withdraw(fresh)  # nobody knows of it yet
            core.settle_late()
            raise
        return bulk if bulk.open else None


def close(core: Scheduler, bulk: Job) -> None:
    """Close one bulk, if it is still open."""
    with core.lock:
        try:
            core.close(bulk)
            core.settle(core.ready)
        except BaseException:
            core.settle_late()
            raise


def _begin(core: Scheduler, bulk: Job) -> None:
    bulk.open = True
    bulk.wait = 1
    core.admit(bulk)
    request(bulk, core.ready)
    if bulk.wait > 1:
        core.close_all()
    core.open.add(bulk)
    if bulk.wait > 1 and core.promises:
        # It may wait for a promise, which what would join it may be needed for.
        core.close(bulk)
