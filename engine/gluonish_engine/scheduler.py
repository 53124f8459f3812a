"""Scheduler: what is pending in a threaded engine, and who holds or waits for which variable.

There is no lock: state changes in *steps*, between the points where CPython may run other code.
docs/engine.md has their rules and reasons. A signal's handler, a destructor or another thread finds
a consistent scheduler at each such point, with work begun that it can finish by itself
(`catch_up`); nothing is ever undone. Where memory is missing in a step that cannot be left,
``reserve`` is let go and the step is tried again.

Invariants between steps:

- A task *enters* (takes its variables, or queues for them) while it is ``entering``, one task at a
  time, so that no two stand in different orders in two queues. Whoever finds it there helps it.
  ``Task.rest`` is one iterator for all who help, and each turn of it is a step.
- A task that ran *lets go* while it is in ``leaving``, by ``Task.back`` in the same way. A variable
  that is in ``freed`` may have a queue whose head can be granted.
- ``first`` to ``last`` are the tasks that were granted and not brought to their lane or gate yet,
  linked by ``Task.next``.
- ``pending`` counts what was pushed and is not done: calls, promises, inline operators that are
  marked, and a fork that holds pushes back; but not host waits. ``blocked`` counts those of them
  that wait for variables or in an open bulk. ``flushes`` counts those that write files.
- ``pushes`` counts the tasks that began to enter; a task's ``sequence`` is its number.
- ``quiet`` is the inline operator that nobody has to know of yet: it began while nothing was
  pending, its variables are not marked, and ``pending`` does not count it. So it costs the same
  whatever the number of its variables. Whoever enters, queues or waits calls `reveal` first, and
  then it is as any other: in ``inline``, by the number of its frame. ``quiet`` is None while
  something is pending.
- ``orphans`` holds operators that their threads could not end, because something was raised: what
  to call to end each, with its arguments. So an operator is ended even where nothing more can be
  called, as at the limit of recursion.
- ``open`` holds the bulks that may still grow, ``promises`` the promises whose variables are held,
  and ``waiters`` the gates of the threads in `gluonish_engine.idle`.
- ``stuck`` counts the operators around the threads that wait for everything from inside.
- ``barred``: pushes have to ask `pass_bar`, because the engine is closed or the process
  forks.
"""

import contextlib
from collections.abc import Callable
from typing import Any

from gluonish_engine.errors import EngineError, Failure
from gluonish_engine.var import Call, Frame, Held, HostWait, Task, Var

_FRONT = slice(0, 0)
_RESERVE_NBYTES = 1 << 16


class Scheduler:
    """Decides when a task may run; it runs none itself."""

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
        "quiet",
        "reserve",
        "revive",
        "stuck",
        "waiters",
    )

    def __init__(self) -> None:
        self.closed = self.barred = False
        self.pushes = 0
        # Set by those who know how: `gluonish_engine.forking` and `workers`.
        self.await_bar: Any = None
        self.revive: Any = None
        self.reset(0)

    def reset(self, pending: int) -> None:
        """Forget all tasks but the ``pending`` ones of the calling thread; for a fork's child."""
        self.pending = pending
        self.reserve: bytearray | None = bytearray(_RESERVE_NBYTES)
        self.blocked = self.flushes = self.stuck = 0
        self.entering: Task | None = None
        self.leaving: dict[Task, None] = {}
        self.freed: dict[Var, None] = {}
        self.first: Task | None = None
        self.last: Task | None = None
        self.quiet: Frame | None = None
        self.inline: dict[int, Held] = {}
        self.orphans: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self.open: dict[Any, None] = {}
        self.promises: dict[Held, None] = {}
        self.waiters: list[Any] = []
        self.lanes: list[Any] = []

    def submit(self, call: Call) -> None:
        """Let a call enter: it holds or queues for its variables afterwards.

        Raises:
            EngineError: The engine was shut down.
        """
        for var in call.writes:
            var.version += 1
        call.rest = iter(call.held.items())
        passed = False
        while True:
            other = self.entering
            if other is not None:
                self.help(other)
            elif self.quiet is not None:
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
        """Take the variables of a task that enters, or queue for them, as far as is left."""
        me = (task,)
        queue_of_me: list[Task] | None = [task]
        for var, write in task.rest:  # each turn is a step
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
                    self._take(task, var, write)
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
            self.settle()

    def _take(self, task: Task, var: Var, write: bool) -> None:
        """Take a variable, or queue for it, after no memory was found for that."""
        wait = task.wait + 1
        if var.queue is not None:
            var.queue.append(task)
        elif var.active if write else var.active < 0:
            var.queue = [task]
        else:
            var.active = -1 if write else var.active + 1
            return
        task.wait = wait

    def settle(self) -> None:
        """Bring the tasks that were granted to their lanes and gates."""
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
        """Let go of what a task that ran has held."""
        self.leaving[task] = None
        self.let_go(task)

    def let_go(self, task: Task) -> None:
        """Let a task that is in ``leaving`` let go of its variables, as far as is left."""
        if self.entering is task:
            self.help(task)
        if task.back is None:
            back = iter(task.held.items())
            if task.back is None:  # a step
                task.back = back
        freed = self.freed
        for var, write in task.back:  # each turn is a step
            try:
                if var.queue is not None:
                    freed[var] = None
                var.active = 0 if write else var.active - 1
            except MemoryError:
                self.reserve = None
                self._give(var, write)
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
            self._tell_waiters(task)
        if self.first is not None:
            self.settle()

    def _give(self, var: Var, write: bool) -> None:
        """Let go of a variable after no memory was found for that."""
        if var.queue is not None:
            self.freed[var] = None
        var.active = 0 if write else var.active - 1

    def grant_freed(self) -> None:
        """Hand variables that were let go of to those who queue for them."""
        for var in list(self.freed):
            self._grant(var)

    def _grant(self, var: Var) -> None:
        """Hand a variable to as many tasks from the head of its queue as may have it now."""
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
        """Let a host wait queue for its variable, unless it is granted at once."""
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
        """Put a task that waits in front of those that came later.

        It is of the same moment as the running operator inside of which it waits.

        Args:
            task: What waits.
            later: Tasks that wait for that operator. What they hold already they queue for again.
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
            # Another thread may have taken it out meanwhile.
            with contextlib.suppress(ValueError, IndexError):
                place = queue.index(task)
                if var.queue is queue and queue[place] is task:  # a step
                    del queue[place]
                    queue[_FRONT] = me
                    self.freed[var] = None
        self.grant_freed()
        if self.first is not None:
            self.settle()

    def hold_promise(self, held: Held) -> None:
        """Let a promise hold its variable until `drop_promise`.

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
                self.entering is None and self.quiet is None and (passed or not self.barred)
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
        self.tell_all()

    def drop_promise(self, held: Held, failure: Failure | None) -> None:
        """Let go of a promise's variable, unless that has happened.

        Args:
            held: What it holds.
            failure: What becomes of the variable; None: its value is there.
        """
        (var,) = held.held
        if held in self.promises:  # a step
            self.leaving[held] = None
            del self.promises[held]
            var.error = failure
        self.catch_up()

    def reveal(self) -> None:
        """Let the quiet operator, if there is one, be seen as any other."""
        frame = self.quiet
        if frame is None:
            return
        held, key = Held(frame[0], frame[1]), id(frame)  # type: ignore[index]  # inline ones are tuples
        if self.quiet is frame and self.entering is None:  # a step
            number = self.pushes + 1
            pending = self.pending + 1
            self.inline[key] = held
            self.quiet = None
            self.entering = held
            self.pushes = held.sequence = number
            self.pending = pending
        if self.entering is held:
            self.help(held)

    def bury(self) -> None:
        """End the operators that are orphans."""
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
        """Bring to its end what any thread has begun here, as far as it can be."""
        if self.reserve is None:
            with contextlib.suppress(MemoryError):
                self.reserve = bytearray(_RESERVE_NBYTES)
        if self.orphans:
            self.bury()
        while self.quiet is not None:
            self.reveal()
        entering = self.entering
        if entering is not None:
            self.help(entering)
        if self.leaving:
            for task in list(self.leaving):
                self.let_go(task)
        if self.freed:
            self.grant_freed()
        if self.first is not None:
            self.settle()

    def wake_lanes(self) -> None:
        """Wake the threads of lanes that have tasks; a token is lost where its bringer raised."""
        for lane in list(self.lanes):
            if lane.wake_again() and self.revive is not None:
                self.revive(lane)
        self.tell_all()

    def close(self, bulk: Any) -> None:
        """Let the calls of a bulk start, which grows no more."""
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
            self.settle()

    def close_all(self, behind: Task | None = None) -> None:
        """Close every bulk, or those that a task may queue behind: not the one that it is in."""
        bulks = list(self.open)
        if behind is not None:
            others = [bulk for bulk in bulks if behind not in bulk.calls]
            if len(others) < len(bulks) and behind.wait == 1:
                return  # its own bulk is all that it waits for
            bulks = others
        for bulk in bulks:
            self.close(bulk)

    def tell_all(self) -> None:
        """Have every thread that waits until all is done look again."""
        waiters = self.waiters
        while True:  # each turn is a step, up to the call
            if not waiters:
                return
            gate = waiters[-1]
            del waiters[-1]
            gate.release()

    def _tell_waiters(self, task: Task) -> None:
        """Wake the threads that wait, if the end of a task may be what they wait for."""
        lane = task.lane
        if (
            self.pending <= 1
            or (task.flushes and not self.flushes)
            or (lane is not None and lane.backlog == lane.low)
        ):
            self.tell_all()

    def pass_bar(self, who: str) -> bool:
        """Refuse a push, or make it wait until the bar is up; whether it may pass below the bar."""
        if self.closed:
            raise EngineError(f"{who}: expected a running engine, got one that was shut down")
        return bool(self.await_bar())
