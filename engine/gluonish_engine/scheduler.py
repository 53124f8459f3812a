"""Scheduler: pending work of a threaded engine, and the holders and queues of its variables.

There is no lock: state changes in *steps*, between the points where CPython may run other code
(rules and reasons: docs/engine.md). At each such point a signal handler, a destructor or another
thread finds a consistent scheduler, and can finish any work that was begun (`catch_up`); nothing is
ever undone. If a step that must not fail runs out of memory, ``reserve`` is freed and the step is
retried.

Invariants between steps:

- A task *enters* (acquires its variables, or queues for them) while it is ``entering``: one task at
  a time, so that no two tasks are in different orders in two queues. Other threads help the task.
  ``Task.to_acquire`` is one iterator that all helpers share, and each turn of it is a step.
- A finished task releases its variables while it is in ``leaving``, by ``Task.to_release`` in the
  same way. The head of the queue of a variable in ``freed`` may be ready for its grant.
- ``first`` to ``last`` are the granted tasks that have not been dispatched to their lane or gate,
  linked by ``Task.next``.
- ``pending`` counts unfinished pushes: calls, promises, tracked inline operators, and a fork that
  holds pushes back; but not host waits. ``blocked`` counts those that wait for variables or in an
  open bulk. ``flushes`` counts those that write files.
- ``pushes`` counts the tasks that began to enter; a task's ``sequence`` is its number.
- ``untracked`` is an inline operator that began while nothing was pending: ``active`` of its
  variables is not set, and ``pending`` does not count it, so its cost does not depend on the number
  of its variables. Before anything else enters, queues or waits, `reveal` makes it a tracked
  operator: in ``inline``, by the id of its frame. ``untracked`` is None while something is pending.
- ``orphans`` holds operators that their threads could not end because something was raised: a
  function that ends the operator, with its arguments. So an operator is ended even when nothing
  more can be called, as at the recursion limit.
- ``open`` holds the bulks that may still grow, ``promises`` the pending promises, and ``waiters``
  the gates of the threads in `gluonish_engine.idle`.
- ``stuck`` counts the operators that wait, from inside, for everything else to end.
- ``barred``: pushes must call `pass_bar`, because the engine is closed or the process forks.
"""

import contextlib
from collections.abc import Callable
from typing import Any

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.var import Call, Frame, Hold, HostWait, Task, Var

_FRONT = slice(0, 0)
_RESERVE_NBYTES = 1 << 16


class Scheduler:
    """Decides when tasks may run, by the variables that they hold; does not run them."""

    __slots__ = (
        "await_bar",
        "barred",
        "blocked",
        "closed",
        "entering",
        "first",
        "flushes",
        "freed",
        "inline",
        "lanes",
        "last",
        "leaving",
        "open",
        "orphans",
        "pending",
        "promises",
        "pushes",
        "reserve",
        "revive",
        "stuck",
        "untracked",
        "waiters",
    )

    def __init__(self) -> None:
        self.closed = self.barred = False
        self.pushes = 0
        # Set by `gluonish_engine.forking` and `workers`.
        self.await_bar: Any = None
        self.revive: Any = None
        self.reset(0)

    def reset(self, pending: int) -> None:
        """Drop all tasks in a forked child, except the ``pending`` ones of the calling thread."""
        self.pending = pending
        self.reserve: bytearray | None = bytearray(_RESERVE_NBYTES)
        self.blocked = self.flushes = self.stuck = 0
        self.entering: Task | None = None
        self.leaving: dict[Task, None] = {}
        self.freed: dict[Var, None] = {}
        self.first: Task | None = None
        self.last: Task | None = None
        self.untracked: Frame | None = None
        self.inline: dict[int, Hold] = {}
        self.orphans: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self.open: dict[Any, None] = {}
        self.promises: dict[Hold, None] = {}
        self.waiters: list[Any] = []
        self.lanes: list[Any] = []

    def submit(self, call: Call) -> None:
        """Enter a call: afterwards it holds its variables, or is queued for them.

        Raises:
            EngineError: The engine was shut down.
        """
        for var in call.writes:
            var.version += 1
        call.to_acquire = iter(call.held.items())
        passed = False
        while True:
            other = self.entering
            if other is not None:
                self.help(other)
            elif self.untracked is not None:
                self.reveal()
            elif self.barred and not passed:
                passed = self.pass_bar("push")
            else:
                # The step began where `entering` was read.
                lane = call.lane
                number = self.pushes + 1
                pending = self.pending + 1
                flushes = self.flushes + call.flushes
                if lane is not None:
                    lane.backlog += 1
                self.entering = call
                self.pushes = call.sequence = number
                self.pending = pending
                self.flushes = flushes
                break
        self.help(call)

    def help(self, task: Task) -> None:
        """Acquire the remaining variables of an entering task, or queue it for them."""
        me = (task,)
        queue_of_me: list[Task] | None = [task]
        for var, write in task.to_acquire:  # each turn is a step
            try:
                queue = var.queue
                wait = task.wait + 1
                if queue is not None:
                    queue += me
                    task.wait = wait
                elif var.active if write else var.active < 0:
                    var.queue = queue_of_me
                    task.wait = wait
                    queue_of_me = None
                    queue_of_me = [task]
                else:
                    var.active = -1 if write else var.active + 1
            except MemoryError:
                self.reserve = None
                if queue_of_me is not None:  # then nothing was done
                    self._acquire_var(task, var, write)
                queue_of_me = [task]
        if self.entering is task:  # a step
            wait = task.wait - 1
            blocked = self.blocked + 1
            self.entering = None
            task.wait = wait
            if wait:
                self.blocked = blocked
            else:
                if self.last is None:
                    self.first = task
                else:
                    self.last.next = task
                self.last = task
        if task.wait and self.open:
            self.close_all(task)
        if self.first is not None:
            self.dispatch()

    def _acquire_var(self, task: Task, var: Var, write: bool) -> None:
        """Acquire a variable, or queue for it, after a first attempt ran out of memory."""
        wait = task.wait + 1
        if var.queue is not None:
            var.queue.append(task)
        elif var.active if write else var.active < 0:
            var.queue = [task]
        else:
            var.active = -1 if write else var.active + 1
            return
        task.wait = wait

    def dispatch(self) -> None:
        """Move the granted tasks to their lanes and gates."""
        while True:  # each turn is a step, up to a call at its end
            task = self.first
            if task is None:
                return
            lane = task.lane
            load = ranked = 0
            if lane is not None:
                load = lane.load + 1
                ranked = lane.ranked + (task.priority != 0)
            self.first = task.next
            if self.first is None:
                self.last = None
            task.next = None
            if lane is not None:
                lane.load = load
                lane.ranked = ranked
                if lane.last is None:
                    lane.first = task
                else:
                    lane.last.next = task
                lane.last = task
                if lane.idle:
                    lane.idle -= 1
                    lane.tokens.put(None)
            elif task.gate is not None:
                task.gate.release()

    def leave(self, task: Task) -> None:
        """Release all variables of a finished task."""
        self.leaving[task] = None
        self.release(task)

    def release(self, task: Task) -> None:
        """Release the remaining variables of a task in ``leaving``."""
        if self.entering is task:
            self.help(task)
        if task.to_release is None:
            to_release = iter(task.held.items())
            if task.to_release is None:  # a step
                task.to_release = to_release
        freed = self.freed
        for var, write in task.to_release:  # each turn is a step
            try:
                if var.queue is not None:
                    freed[var] = None
                var.active = 0 if write else var.active - 1
            except MemoryError:
                self.reserve = None
                self._release_var(var, write)
        if freed:
            self.grant_freed()
        if task in self.leaving:  # a step
            lane = task.lane
            pending = self.pending - 1
            flushes = self.flushes - task.flushes
            if lane is not None:
                load = lane.load - 1
                backlog = lane.backlog - 1
                lane.load = load
                lane.backlog = backlog
            del self.leaving[task]
            self.pending = pending
            self.flushes = flushes
        if self.waiters:
            self._notify_waiters(task)
        if self.first is not None:
            self.dispatch()

    def _release_var(self, var: Var, write: bool) -> None:
        """Release a variable, after a first attempt ran out of memory."""
        if var.queue is not None:
            self.freed[var] = None
        var.active = 0 if write else var.active - 1

    def grant_freed(self) -> None:
        """Grant released variables to the tasks in their queues."""
        for var in list(self.freed):
            self._grant(var)

    def _grant(self, var: Var) -> None:
        """Grant a variable to as many tasks from the head of its queue as possible."""
        while True:  # each turn is a step
            queue = var.queue
            if var not in self.freed:
                return
            if queue is None:
                del self.freed[var]
                return
            task = queue[0]
            write = task.held[var]
            if var.active if write else var.active < 0:
                del self.freed[var]
                return
            active = -1 if write else var.active + 1
            wait = task.wait - 1
            blocked = self.blocked - 1
            del queue[0]
            if task.sequence:  # a host wait holds nothing
                var.active = active
            if not queue:
                var.queue = None
            task.wait = wait
            if not wait:
                if task.sequence:
                    self.blocked = blocked
                if self.last is None:
                    self.first = task
                else:
                    self.last.next = task
                self.last = task

    def enter_wait(self, wait: HostWait) -> None:
        """Queue a host wait for its variable, unless it is granted at once."""
        me, queue_of_me = (wait,), [wait]
        ((var, write),) = wait.held.items()
        self.close_all()
        self.catch_up()
        if var.queue is not None:  # a step
            var.queue += me
            wait.wait = 1
        elif var.active if write else var.active < 0:
            var.queue = queue_of_me  # type: ignore[assignment]  # of tasks
            wait.wait = 1

    def overtake(self, task: Task, later: set[Task]) -> None:
        """Move a waiting task to the front of its queues.

        The task was pushed inside a running operator, so it runs before the tasks that wait for
        that operator.

        Args:
            later: Tasks that wait for the operator; these queue again for variables that they hold.
        """
        for var in list(task.held):
            queue = var.queue
            if queue is None or task not in queue:
                continue
            for other in later:
                me = (other,)
                write = other.held.get(var)
                if (  # a step
                    other.wait
                    and write is not None
                    and var.queue is queue
                    and other not in queue
                    and task in queue
                ):
                    active = 0 if write else var.active - 1
                    wait = other.wait + 1
                    queue[_FRONT] = me
                    var.active = active
                    other.wait = wait
            me = (task,)
            # Another thread may have removed the task meanwhile.
            with contextlib.suppress(ValueError, IndexError):
                index = queue.index(task)
                if var.queue is queue and queue[index] is task:  # a step
                    del queue[index]
                    queue[_FRONT] = me
                    self.freed[var] = None
        self.grant_freed()
        if self.first is not None:
            self.dispatch()

    def hold_promise(self, held: Hold) -> None:
        """Hold the variable of a promise until `drop_promise`.

        Raises:
            EngineError: The engine was shut down, or the variable is in use.
        """
        (var,) = held.held
        passed = False
        while True:
            self.catch_up()
            if self.barred:
                passed = self.pass_bar("promise")
            if var.active or var.queue:
                raise EngineError("promise: expected a variable without pending work, got one with")
            if (  # a step
                self.entering is None and self.untracked is None and (passed or not self.barred)
            ):
                number = self.pushes + 1
                pending = self.pending + 1
                version = var.version + 1
                self.promises[held] = None
                self.entering = held
                self.pushes = held.sequence = number
                self.pending = pending
                var.version = version
                break
        self.help(held)
        self.notify_all()

    def drop_promise(self, held: Hold, failure: Failure | None) -> None:
        """Release the variable of a promise, unless it was released before.

        Args:
            held: The hold of the promise.
            failure: Error of the variable; None if the value was written.
        """
        (var,) = held.held
        if held in self.promises:  # a step
            self.leaving[held] = None
            del self.promises[held]
            var.error = failure
        self.catch_up()

    def reveal(self) -> None:
        """Track the untracked operator, if there is one."""
        frame = self.untracked
        if frame is None:
            return
        held, key = Hold(frame[0], frame[1]), id(frame)  # type: ignore[index]  # inline ones are tuples
        if self.untracked is frame and self.entering is None:  # a step
            number = self.pushes + 1
            pending = self.pending + 1
            self.inline[key] = held
            self.untracked = None
            self.entering = held
            self.pushes = held.sequence = number
            self.pending = pending
        if self.entering is held:
            self.help(held)

    def end_orphans(self) -> None:
        """End the operators in ``orphans``."""
        while True:
            if not self.orphans:  # a step
                return
            orphan = self.orphans[0]
            del self.orphans[0]
            end, arguments = orphan
            try:
                end(*arguments)
            except BaseException:
                self.orphans += (orphan,)
                raise

    def catch_up(self) -> None:
        """Finish all bookkeeping that any thread has begun."""
        if self.reserve is None:
            with contextlib.suppress(MemoryError):
                self.reserve = bytearray(_RESERVE_NBYTES)
        if self.orphans:
            self.end_orphans()
        while self.untracked is not None:
            self.reveal()
        entering = self.entering
        if entering is not None:
            self.help(entering)
        if self.leaving:
            for task in list(self.leaving):
                self.release(task)
        if self.freed:
            self.grant_freed()
        if self.first is not None:
            self.dispatch()

    def wake_lanes(self) -> None:
        """Wake the threads of lanes with tasks: a token is lost if its sender was interrupted."""
        for lane in list(self.lanes):
            if lane.wake_unserved() and self.revive is not None:
                self.revive(lane)
        self.notify_all()

    def close(self, bulk: Any) -> None:
        """Close a bulk, and let its calls start."""
        calls = bulk.calls
        bulk.closed = True
        while True:  # each turn is a step
            if not calls:
                break
            call = calls[0]
            wait = call.wait - 1
            blocked = self.blocked - 1
            del calls[0]
            call.wait = wait
            if not wait:
                self.blocked = blocked
                if self.last is None:
                    self.first = call
                else:
                    self.last.next = call
                self.last = call
        self.open.pop(bulk, None)
        if self.first is not None:
            self.dispatch()

    def close_all(self, behind: Task | None = None) -> None:
        """Close every bulk, or only those that a task may be queued behind."""
        bulks = list(self.open)
        if behind is not None:
            others = [bulk for bulk in bulks if behind not in bulk.calls]
            if len(others) < len(bulks) and behind.wait == 1:
                return  # the task waits only for its own bulk
            bulks = others
        for bulk in bulks:
            self.close(bulk)

    def notify_all(self) -> None:
        """Wake every thread in `gluonish_engine.idle`."""
        waiters = self.waiters
        while True:  # each turn is a step, up to the call
            if not waiters:
                return
            gate = waiters[-1]
            del waiters[-1]
            gate.release()

    def _notify_waiters(self, task: Task) -> None:
        """Wake the waiting threads if the end of a task may end their wait."""
        lane = task.lane
        if (
            self.pending <= 1
            or (task.flushes and not self.flushes)
            or (lane is not None and lane.backlog == lane.low)
        ):
            self.notify_all()

    def pass_bar(self, caller: str) -> bool:
        """Raise if closed, else wait until pushes resume; return whether to ignore the bar."""
        if self.closed:
            raise EngineError(f"{caller}: expected a running engine, got one that was shut down")
        return bool(self.await_bar())
