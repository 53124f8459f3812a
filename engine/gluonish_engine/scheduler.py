"""Scheduler: the one lock of a threaded engine, and what is pending under it.

Invariants:

- ``lock`` guards the queues of all variables and jobs (`gluonish_engine.var`), all worker lanes
  (`gluonish_engine.lanes`) and every field here. It is held for bookkeeping only: no operator,
  hook, stream or thread start is called under it.
- ``pending`` counts what was pushed and is not done: jobs, launches and inline operators, but not
  host waits. ``flushes`` counts the pending operators that write files.
- A job gets into the heap of its lane, or its gate is opened, when all its variables are granted to
  it, and once. Whoever takes it from there runs it and then calls `finish`, whether it raised or
  not.
- ``open`` holds the bulks that may still grow. A bulk holds its variables from its first call on,
  so other threads see its writes as pending. It closes at its limit, when its thread pushes to
  another lane, waits or leaves the scope, and when any thread waits or queues behind it; so it
  holds nobody up for ever.
- ``promises`` holds the promises (`gluonish_engine.promise`) whose variables are held; each counts
  as pending.
- ``waiters`` counts the threads in `wait_idle` and `await_room`; while there is one, no bulk stays
  open.
- ``ready`` has tasks that were granted and are not in their lane yet; it is empty when the lock is
  free, unless a thread died under it (`finish_late`).
- ``quiet`` holds, at key 0, the inline operator that nobody has to know of yet: it began while
  nothing was pending, its variables are not marked, and ``pending`` does not count it. So it costs
  the same whatever the number of its variables. Who adds to ``pending``, queues for variables or
  waits calls `reveal` first, and then it is as any other: ``quiet`` is empty while something is
  pending. It is put there under the lock; taking it off, which is one step of the interpreter,
  decides whether the thread that runs it or `reveal` goes on with it.
"""

import itertools
import threading
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any, cast

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.lanes import WorkerLane
from gluonish_engine.var import (
    Call,
    Frame,
    Job,
    Task,
    Var,
    extend,
    grant,
    release,
    request,
    skip,
    standing_failure,
    waits_for,
    withdraw,
)

__all__ = ["Scheduler"]

_STUCK_S = 1.0


class Scheduler:
    """Decides when a job may run; it runs none itself."""

    __slots__ = (
        "_idle",
        "closed",
        "flushes",
        "lock",
        "open",
        "pending",
        "promises",
        "quiet",
        "ready",
        "sequence",
        "waiters",
    )

    def __init__(self) -> None:
        self.sequence = itertools.count(1)
        self.closed = False
        self.reset(0)

    def reset(self, pending: int) -> None:
        """Forget all jobs but the ``pending`` ones of the calling thread; for a fork's child."""
        self.lock = threading.Lock()
        self._idle = threading.Condition(self.lock)
        self.pending = pending
        self.flushes = 0
        self.waiters = 0
        self.quiet: dict[int, Frame] = {}
        self.open: set[Job] = set()
        self.promises: set[Any] = set()
        self.ready: list[Task] = []

    def submit(self, call: Call) -> None:
        """Queue a call for its lane.

        Raises:
            EngineError: The engine was shut down.
        """
        lane = call.lane
        with self.lock:
            if self.quiet:
                self.reveal()
            if self.closed:
                raise EngineError("push: expected a running engine, got one that was shut down")
            call.sequence = next(self.sequence)
            for var in call.writes:
                var.version += 1
            taken = wait = 0
            try:
                # `request`, written out: this is the path of every push to a lane.
                for var, write in call.held.items():
                    if var.queue is not None:
                        wait += 1
                        var.queue.append(call)
                    elif var.active if write else var.active < 0:
                        wait += 1
                        var.queue = deque((call,))
                    else:
                        var.active = -1 if write else var.active + 1
                    taken += 1
                call.wait = wait
                if not wait:
                    lane.add(call)
            except BaseException:
                self._take_back(call, taken)
                raise
            self.pending += 1
            self.flushes += call.flushes
            lane.backlog += 1
            if wait and self.open:
                ready: list[Task] = []
                self._close_all(ready)
                self.settle(ready)

    def _take_back(self, call: Call, taken: int) -> None:
        """Undo a push that an interrupt (Ctrl-C) ended when ``taken`` variables were seen to."""
        lane = call.lane
        if lane.has(call):
            lane.remove(call)
        for place, (var, write) in enumerate(call.held.items()):
            if var.queue is not None and call in var.queue:
                var.queue.remove(call)
            elif place < taken:
                var.active = 0 if write else var.active - 1
            grant(var, self.ready)
        self.settle(self.ready)

    def hold_promise(self, promise: Any, job: Job) -> None:
        """Let a promise's job, whose variables nothing is pending on, hold them until `finish`.

        Raises:
            EngineError: The engine was shut down, or a variable is in use.
        """
        with self.lock:
            self.reveal()
            if self.closed:
                raise EngineError("promise: expected a running engine, got one that was shut down")
            if any(var.active or var.queue for var in job.held):
                raise EngineError("promise: expected a variable without pending work, got one with")
            for var in job.held:
                var.version += 1
            request(job)
            self.promises.add(promise)
            self.pending += 1
            if self.waiters:
                self._idle.notify_all()

    def join(
        self, bulk: Job | None, call: Call, lane: Any, key: Hashable, priority: int, limit: int
    ) -> Job | None:
        """Add a call to the thread's bulk, or close that and begin another.

        Returns:
            The bulk that the next call may join, or None.

        Raises:
            EngineError: The engine was shut down.
        """
        held = call.held
        with self.lock:
            ready: list[Task] = []
            self.reveal()
            joins = (
                bulk is not None
                and bulk.open
                and (bulk.key, bulk.priority) == (key, priority)
                and extend(bulk, held)
            )
            if bulk is None or not joins:
                self._close(bulk, ready)
                bulk = Job([call], dict(held), lane, key, priority)
                self._admit(bulk, call)
                self._begin_bulk(bulk, ready)
            else:
                self._number(bulk, call)
                bulk.calls.append(call)
            if len(bulk.calls) >= limit or self.waiters:
                self._close(bulk, ready)
            self.settle(ready)
            return bulk if bulk.open else None

    def close(self, bulk: Job | None) -> None:
        """Close one bulk, if it is still open."""
        with self.lock:
            ready: list[Task] = []
            self._close(bulk, ready)
            self.settle(ready)

    def enter(self, job: Job, frame: Frame | None) -> bool:
        """Queue a job for which the calling thread will wait at the gate.

        Args:
            job: A host wait, or a job that the thread itself will run.
            frame: The operators inside which the thread waits.

        Returns:
            Whether it was granted at once, so that there is nothing to wait for.

        Raises:
            EngineError: The wait would never end, or the engine was shut down.
        """
        job.owner = frame
        with self.lock:
            ready: list[Task] = []
            self.reveal()
            if job.calls:
                self._admit(job, job.calls[0])
            request(job)
            granted = not job.wait
            if granted:
                if not job.calls:
                    release(job, ready)
            else:
                job.gate = threading.Lock()
                job.gate.acquire()
                self._close_all(ready)
            self.settle(ready)
            if not granted and frame is not None and job.wait and waits_for(job, frame):
                self._withdraw(job)
                raise EngineError(
                    "wait: expected work that can end, got work that waits for this very operator"
                )
            return granted

    def abandon(self, job: Job) -> None:
        """Take back a job whose thread left the gate early."""
        with self.lock:
            if job.calls or job.wait:
                self._withdraw(job)

    def settle(self, ready: list[Task]) -> None:
        """Start granted tasks, under the lock; host waits let go at once, so others become ready.

        Tasks without a lane are jobs, with a gate.

        Args:
            ready: The tasks; it is empty afterwards.
        """
        while ready:
            task = ready[0]
            if task.lane is not None:
                task.lane.add(task)
            else:
                job = cast(Job, task)
                job.gate.release()
                if not job.calls:
                    release(job, ready)
            del ready[0]

    def finish(self, task: Task) -> None:
        """Let go of what a task that ran has held, under the lock."""
        # `release`, written out: this is the path of every task of a lane. `wait` says how far it
        # came if an exception is raised in this thread, and `ready` what was granted.
        ready = self.ready
        for var, write in task.held.items():
            var.active = 0 if write else var.active - 1
            task.wait -= 1
            if var.queue is not None:
                grant(var, ready)
        if ready:
            self.settle(ready)
        # `count_off`, likewise.
        lane = task.lane
        task.sequence = 0
        self.flushes -= task.flushes
        self.pending -= 1
        if lane is not None:
            lane.load -= 1
            lane.backlog -= 1
        if self.waiters:
            self._tell_waiters(task)

    def finish_late(self, task: Task) -> None:
        """Do the rest of `finish` after an exception that was raised in this thread, somewhere in
        it; the lock was not given away meanwhile."""
        ready = self.ready
        for place, (var, write) in enumerate(task.held.items()):
            if place >= -task.wait:
                var.active = 0 if write else var.active - 1
                task.wait -= 1
            grant(var, ready)
        lanes = {one.lane for one in ready if one.lane is not None}
        ready[:] = [one for one in ready if one.lane is None or not one.lane.has(one)]
        self.settle(ready)
        for lane in lanes:
            lane.wake()
        if task.sequence:
            self.count_off(task)

    def count_off(self, task: Task) -> None:
        """Count a task off what is pending, under the lock."""
        lane = task.lane
        task.sequence = 0  # counted
        self.flushes -= task.flushes
        self.pending -= 1
        if lane is not None:
            lane.load -= 1
            lane.backlog -= 1
        if self.waiters:
            self._tell_waiters(task)

    def _tell_waiters(self, task: Task) -> None:
        """Wake the threads that wait, if the end of a task may be what they wait for."""
        lane = task.lane
        if (
            not self.pending
            or (task.flushes and not self.flushes)
            or (lane is not None and lane.backlog == lane.low)
        ):
            self._idle.notify_all()

    def hold(self, frame: Frame) -> None:
        """Mark what an inline operator reads and writes as held, under the lock; all of it is free.

        A variable in both ends up as written.
        """
        for var in frame[0]:
            var.active += 1
        for var in frame[1]:
            var.active = -1
        self.pending += 1

    def is_free(self, reads: Sequence[Var], writes: Sequence[Var], raises: int) -> bool:
        """Whether an inline operator may have these variables now; the caller holds the lock.

        Args:
            reads: Variables that it reads.
            writes: Variables that it writes.
            raises: How many raises its push comes after.
        """
        for var in reads:
            if (
                var.active < 0
                or var.queue
                or var.stream
                or (var.error and self._stands(var, raises))
            ):
                return False
        for var in writes:
            if var.active or var.queue or var.stream or (var.error and self._stands(var, raises)):
                return False
        return True

    def _stands(self, var: Var, raises: int) -> bool:
        """Whether a variable's error keeps a push from being inline, under the lock.

        A stale mark that stands no more is taken away while nothing is pending: then whoever comes
        to the variable from now on was pushed after the raise, too.
        """
        if not self.pending and standing_failure((var,), raises) is None:
            var.error = None
        return var.error is not None

    def reveal(self) -> None:
        """Let the quiet operator, if there is one, be seen as any other, under the lock."""
        if self.quiet:
            frame = self.quiet.pop(0, None)
            if frame is not None:
                self.hold(frame)

    def finish_inline(
        self,
        reads: Sequence[Var],
        writes: Sequence[Var],
        failure: Failure | None,
        interrupted: bool,
    ) -> None:
        """Let go of what an inline operator has held, and leave its failure.

        An interrupt of the program counts as if the operator had been skipped; see `Stale`.
        """
        with self.lock:
            self.reveal()
            if interrupted and failure is not None:
                skip(reads, writes, failure)
            else:
                for var in writes:
                    var.error = failure
            for var in reads:
                if var.active > 0:
                    var.active -= 1
            for var in writes:
                var.active = 0
            queued = [var for var in (*reads, *writes) if var.queue is not None]
            if queued:
                ready: list[Task] = []
                for var in queued:
                    grant(var, ready)
                self.settle(ready)
            self.done()

    def done(self) -> None:
        """Count one pending thing off, under the lock."""
        self.pending -= 1
        if self.waiters and not self.pending:
            self._idle.notify_all()

    def await_room(self, lane: WorkerLane) -> None:
        """Block until half of what may be pending in a lane is done.

        It returns early when a promise is made, which the caller may be on its way to keep, and
        when nothing ended for a second: what the lane waits for may be something else that the
        caller has, such as a lock of the program's.
        """
        with self.lock:
            ready: list[Task] = []
            self.reveal()
            self._close_all(ready)
            self.settle(ready)
            self.waiters += 1
            try:
                while lane.backlog > lane.low and not self.promises and not self.closed:
                    before = lane.backlog
                    if not self._idle.wait(_STUCK_S) and lane.backlog >= before:
                        return
            finally:
                self.waiters -= 1

    def wait_idle(self, timeout_s: float | None = None, flushes_only: bool = False) -> bool:
        """Block until nothing is pending (or nothing that writes files).

        Returns:
            False when ``timeout_s`` seconds went by before.
        """
        with self.lock:
            ready: list[Task] = []
            self.reveal()
            self._close_all(ready)
            self.settle(ready)
            self.waiters += 1
            try:
                return self._idle.wait_for(
                    lambda: not (self.flushes if flushes_only else self.pending), timeout_s
                )
            finally:
                self.waiters -= 1

    def _admit(self, job: Job, call: Call) -> None:
        if self.closed:
            raise EngineError("push: expected a running engine, got one that was shut down")
        self._number(job, call)
        job.sequence = call.sequence
        self.pending += 1
        if job.lane is not None:
            job.lane.backlog += 1

    def _number(self, job: Job, call: Call) -> None:
        call.sequence = next(self.sequence)
        for var in call.writes:
            var.version += 1
        if call.flushes:
            job.flushes += 1
            self.flushes += 1

    def _begin_bulk(self, bulk: Job, ready: list[Task]) -> None:
        bulk.wait = 1
        bulk.open = True
        request(bulk)
        if bulk.wait > 1:
            self._close_all(ready)
        self.open.add(bulk)
        if bulk.wait > 1 and self.promises:
            # It may wait for a promise, which what would join it may be needed for.
            self._close(bulk, ready)

    def _close(self, bulk: Job | None, ready: list[Task]) -> None:
        if bulk is None or not bulk.open:
            return
        self.open.discard(bulk)
        bulk.open = False
        bulk.wait -= 1
        if not bulk.wait:
            ready.append(bulk)

    def _close_all(self, ready: list[Task]) -> None:
        for bulk in list(self.open):
            self._close(bulk, ready)

    def _withdraw(self, job: Job) -> None:
        ready: list[Task] = []
        withdraw(job, ready)
        self.settle(ready)
        if job.calls:
            self.flushes -= job.flushes
            self.done()
            if job.flushes:
                self._idle.notify_all()
