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
- ``open`` holds the bulks that may still grow (`gluonish_engine.bulks`).
- ``promises`` holds the promises (`gluonish_engine.promise`) whose variables are held; each counts
  as pending.
- ``waiters`` counts the threads in `gluonish_engine.idle`, which wait on the condition ``idle``;
  while there is one, no bulk stays open.
- ``ready`` has tasks that were granted and are not in their lane yet; it is empty when the lock is
  free. An exception that is raised in a thread under the lock (see `gluonish_engine.grants`) goes
  on when what it interrupted is undone or done: pushes and waits are taken back, but what lets go
  is brought to its end (`finish_late`, `settle_late`, `let_go`).
- ``inline`` has the inline operators whose variables are marked, by their frames' ids; each counts
  as pending.
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
from typing import Any, cast

from gluonish_engine import grants
from gluonish_engine.errors import EngineError
from gluonish_engine.grants import grant, release, request, take_back, unmark
from gluonish_engine.var import Call, Frame, Job, Task, waits_for

__all__ = ["Scheduler"]


class Scheduler:
    """Decides when a job may run; it runs none itself."""

    __slots__ = (
        "closed",
        "flushes",
        "idle",
        "inline",
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
        self.idle = threading.Condition(self.lock)
        self.pending = pending
        self.flushes = 0
        self.waiters = 0
        self.quiet: dict[int, Frame] = {}
        self.inline: dict[int, Frame] = {}
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
                if wait:
                    pass
                elif call.priority or lane.heap or lane.idle:
                    lane.add(call)
                else:  # likewise
                    lane.load += 1
                    lane.line.append(call)
            except BaseException:
                if lane.has(call):
                    lane.remove(call)
                take_back(call, taken, self.ready)
                self.settle_late()
                raise
            self.pending += 1
            self.flushes += call.flushes
            lane.backlog += 1
            if wait and self.open:
                self.close_all()

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
            request(job, self.ready)
            self.promises.add(promise)
            self.pending += 1
            if self.waiters:
                self.idle.notify_all()

    def close(self, bulk: Job | None) -> None:
        """Close a bulk, if there is one that is open, under the lock; `settle` starts it."""
        if bulk is None:
            return
        if bulk.open:
            bulk.open = False
            bulk.wait -= 1
            if not bulk.wait:
                self.ready.append(bulk)
        self.open.discard(bulk)

    def close_all(self) -> None:
        """Close every bulk, under the lock."""
        try:
            for bulk in list(self.open):
                self.close(bulk)
            self.settle(self.ready)
        except BaseException:
            self.settle_late()
            raise

    def enter(self, job: Job, frame: Frame | None) -> bool:
        """Queue a job for which the calling thread will wait at the gate.

        Whatever this raises, the caller calls `abandon` then.

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
            self.reveal()
            if job.calls:
                self.admit(job)
            job.gate = threading.Lock()
            request(job, self.ready)
            granted = not job.wait
            if not granted:
                job.gate.acquire()
                self.close_all()
                if frame is not None and job.wait > 0 and waits_for(job, frame):
                    raise EngineError(
                        "wait: expected work that can end, "
                        "got work that waits for this very operator"
                    )
            elif not job.calls:
                release(job, self.ready)
                self.settle(self.ready)
            return granted

    def abandon(self, job: Job) -> None:
        """Take back a job that `enter` or its thread left early."""
        with self.lock:
            if job.calls or job.wait > 0:
                self.withdraw(job)
            elif job.asked:
                release(job, self.ready)
            self.settle_late()

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
                if job.gate.locked():  # not when an exception ended this before
                    job.gate.release()
                if not job.calls:
                    release(job, ready)
            del ready[0]

    def settle_late(self) -> None:
        """Do the rest of `settle` after an exception that was raised in this thread, somewhere in
        it; the lock was not given away meanwhile."""
        ready = self.ready
        lanes = {one.lane for one in ready if one.lane is not None}
        ready[:] = [one for one in ready if one.lane is None or not one.lane.has(one)]
        self.settle(ready)
        for lane in lanes:
            lane.wake()

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
        release(task, self.ready)
        self.settle_late()
        if task.sequence:
            self.count_off(task)
        elif self.waiters:
            self.idle.notify_all()

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
            self.idle.notify_all()

    def reveal(self) -> None:
        """Let the quiet operator, if there is one, be seen as any other, under the lock."""
        if self.quiet:
            frame = self.quiet.pop(0, None)
            if frame is not None:
                self.hold(frame)

    def hold(self, frame: Frame) -> None:
        """Mark what an inline operator reads and writes as held, under the lock; all of it is free.

        A variable in both ends up as written. An exception in the middle comes when all is marked.
        """
        reads, key = iter(frame[0]), id(frame)
        try:
            for var in reads:
                var.active += 1
            for var in frame[1]:
                var.active = -1
        except BaseException:
            for var in reads:
                var.active += 1
            for var in frame[1]:
                var.active = -1
            self.inline[key] = frame
            self.pending += 1
            raise
        self.inline[key] = frame
        self.pending += 1

    def let_go(self, frame: Frame) -> None:
        """Let go of what an inline operator holds, under the lock, unless that is done.

        An exception in the middle comes when all is done.
        """
        key = id(frame)
        reads, writes = iter(frame[0]), iter(frame[1])
        interrupt = None
        while key in self.inline:
            try:
                if unmark(reads, writes) or interrupt is not None:
                    for var in (*frame[0], *frame[1]):
                        grant(var, self.ready)
                    if interrupt is None:
                        self.settle(self.ready)
                    else:
                        self.settle_late()
                if self.waiters and self.pending == 1:
                    self.idle.notify_all()  # they look when the lock is free
                del self.inline[key]
                self.pending -= 1
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def admit(self, job: Job) -> None:
        """Count a job with one call as pending, which ``sequence`` says from then on; under the
        lock.

        Raises:
            EngineError: The engine was shut down.
        """
        if self.closed:
            raise EngineError("push: expected a running engine, got one that was shut down")
        call = job.calls[0]
        self.number(call)
        job.sequence = call.sequence
        job.flushes = call.flushes
        self.flushes += call.flushes
        self.pending += 1
        if job.lane is not None:
            job.lane.backlog += 1

    def number(self, call: Call) -> None:
        """Give a push its place among all, and its writes their versions, under the lock."""
        call.sequence = next(self.sequence)
        for var in call.writes:
            var.version += 1

    def withdraw(self, job: Job) -> None:
        """Take back a job that has not started, as far as it came, under the lock."""
        if job.asked:
            job.asked = False
            grants.withdraw(job, self.ready)
        if job.sequence:
            if job.lane is not None:
                job.lane.load += 1  # where it never was, and `count_off` takes it off
            self.count_off(job)
