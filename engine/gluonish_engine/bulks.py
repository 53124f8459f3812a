"""Bulks: consecutive pushes of one thread to one lane that start together.

Invariants: each call of a bulk enters like any other, so other threads see its writes as pending,
but the call also waits for the bulk to close. A bulk that may still grow is in ``Scheduler.open``,
and in the state of its thread. It closes at its limit, when its thread pushes to another lane,
waits or leaves the scope, and when any thread waits or queues behind it, so nobody waits for ever.
"""

from collections.abc import Hashable

from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import Call


class Bulk:
    """A group of calls that start when the bulk is closed (`Scheduler.close`).

    Attributes:
        key: Lane key of the calls.
        priority: Priority of the calls.
        calls: The calls that have not started.
        closed: Whether the bulk is complete.
    """

    __slots__ = ("calls", "closed", "key", "priority")

    def __init__(self, key: Hashable, priority: int) -> None:
        self.key = key
        self.priority = priority
        self.calls: list[Call] = []
        self.closed = False


def join(core: Scheduler, bulk: Bulk | None, call: Call, limit: int) -> Bulk | None:
    """Add a call to the thread's bulk, or close the bulk and begin another.

    Args:
        core: The engine's scheduler.
        bulk: The open bulk of the thread.
        call: The call to push.
        limit: Maximum number of calls of a bulk.

    Returns:
        The bulk that the next call may join, or None.

    Raises:
        EngineError: The engine was shut down.
    """
    if bulk is not None and (bulk.key, bulk.priority) != (call.key, call.priority):
        core.close(bulk)
        bulk = None
    if bulk is None or bulk.closed:
        bulk = Bulk(call.key, call.priority)
    core.open[bulk] = None
    me = (call,)
    if not bulk.closed:  # a step
        bulk.calls += me
        call.wait += 1
    core.submit(call)
    if (
        len(bulk.calls) >= limit
        or core.waiters
        # The call may wait for a promise that a later call of this thread fulfills.
        or (core.promises and call.wait > 1)
    ):
        core.close(bulk)
    return None if bulk.closed else bulk
