"""Var and Task: variables of the engine, and the tasks that hold them or queue for them.

Invariants. The fields below change in *steps* only (docs/engine.md says what a step is). Between
two steps these hold:

- ``active`` is -1 while one task holds the variable for writing, the number of tasks that hold it
  for reading, else 0.
- ``queue`` is None or a list of tasks that is not empty, in push order (`Scheduler.overtake` makes
  the one exception). Its head cannot be granted, or the variable is in ``Scheduler.freed``. So
  no task overtakes another: a read pushed after a waiting write waits behind the write.
- An untracked operator (`gluonish_engine.scheduler`) holds its variables without setting
  ``active``.
- ``active`` is set before ``queue`` shrinks. If a thread finds no untracked operator, *then*
  no queue, and then an ``active`` of at least 0, no write was pending at that time.
- ``wait`` counts the queues that the task is in, plus 1 while it enters, plus 1 while it is in an
  open bulk. At 0 the task owns all its variables until it releases them.
- ``error`` is written by the task that writes the variable, before its release; by a host wait that
  finds a broken stream; or, if nothing is pending, by an inline push that removes a stale mark.
- ``version`` grows at each push of a write, in the pushing thread.
- ``stream`` is None unless a GPU stream may still use the variable.

Every task waits only for tasks pushed before it, so there are no cycles, with one exception: a wait
inside a running operator makes that operator wait for tasks pushed after it. `waits_for` finds the
cycles that this can close.
"""

import gc
import itertools
import threading
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from gluonish_engine.errors import Failure, Output, Stale
from gluonish_engine.streams import StreamUse


class Var:
    """A variable of the dependency engine; every array has one.

    Attributes:
        version: Number of writes pushed so far.
        error: None; a `Failure`: the value was never computed, until an operator that does not read
            the variable writes it successfully; or a `Stale`: an update was skipped and the old
            value is still there, which is no error after its failure was raised.
    """

    __slots__ = ("__weakref__", "active", "error", "queue", "stream", "version")

    def __init__(self) -> None:
        self.version = 0
        self.active = 0
        self.error: Failure | Stale | None = None
        self.queue: list[Task] | None = None
        self.stream: StreamUse | None = None


class Task:
    """A unit of work that holds variables, or waits for them.

    Attributes:
        held: The variables, and whether the task writes each of them.
        to_acquire: The remaining items of ``held`` while the task enters; one iterator that all
            helping threads share.
        to_release: The same during the release; None before.
        lane: The worker lane that runs the task. None if a thread waits at its ``gate`` or runs it.
        priority: Ready tasks of a lane start in descending priority.
        sequence: Number of the push; 0 if the task holds nothing (`HostWait`).
        wait: See the invariants.
        flushes: 1 if the operator writes a file, else 0.
        next: The next task in the list of ready tasks, or in its lane.
    """

    __slots__ = (
        *("flushes", "held", "lane", "next", "priority", "sequence"),
        *("to_acquire", "to_release", "wait"),
    )

    # The operators that the waiting thread is inside of, and the lock that it waits at.
    owner: "Frame | None" = None
    gate: Any = None
    # The enclosing operator in the thread that runs it.
    outer: "Frame | None" = None

    held: dict[Var, bool]
    to_acquire: Iterator[tuple[Var, bool]]
    to_release: Iterator[tuple[Var, bool]] | None
    lane: Any
    priority: int
    sequence: int
    wait: int
    flushes: int
    next: "Task | None"


class Call(Task):
    """One pushed operator; ``inputs`` and ``writes`` as passed, duplicates included.

    ``raises`` is the number of raises before the push, which decides which stale marks still count.
    """

    __slots__ = ("fn", "inputs", "key", "name", "raises", "where", "writes")

    fn: Callable[[], None]
    inputs: Sequence[Var]
    writes: Sequence[Var]
    key: Hashable
    name: str
    where: traceback.StackSummary | None
    raises: int

    # Not `__init__`: a class with `__init__` takes 1.5 times as long to instantiate.
    def fill(
        self,
        fn: Callable[[], None],
        inputs: Sequence[Var],
        writes: Sequence[Var],
        key: Hashable,
        lane: Any,
        priority: int,
        name: str,
        flush: bool,
        where: traceback.StackSummary | None,
    ) -> None:
        """Set every field of a new call."""
        held = {}
        if inputs:
            for var in inputs:
                held[var] = False
        for var in writes:
            held[var] = True
        self.held = held
        self.to_release = None
        self.next = None
        self.wait = 1
        self.fn = fn
        self.inputs = inputs
        self.writes = writes
        self.key = key
        self.lane = lane
        self.priority = priority
        self.name = name
        self.flushes = 1 if flush else 0
        self.where = where
        self.raises = 0


# An operator that a thread is inside of: (reads, writes, enclosing frame) for an inline operator, a
# tuple because the inline path makes one per operator; or a call.
Frame: TypeAlias = tuple[Sequence[Var], Sequence[Var], "Frame | None"] | Call


class BlockingCall(Call):
    """A call that the pushing thread runs itself, after blocking at ``gate`` for its variables."""

    __slots__ = ("gate", "outer", "owner")


class Hold(Task):
    """A task that holds variables without a call: for a promise, or an inline operator."""

    __slots__ = ()

    def __init__(self, reads: Sequence[Var], writes: Sequence[Var]) -> None:
        self.held = dict.fromkeys(reads, False)
        for var in writes:
            self.held[var] = True
        self.to_acquire = iter(self.held.items())
        self.to_release = None
        self.next = None
        self.lane = None
        self.priority = self.sequence = self.flushes = 0
        self.wait = 1


class HostWait(Task):
    """The wait of the calling thread for a variable.

    The wait holds nothing once granted, so it needs no cleanup if its thread has ended.

    Args:
        write: Whether to wait for readers, too.
        owner: The operators that the thread is inside of.

    Attributes:
        thread: Identifier of the thread.
    """

    __slots__ = ("gate", "owner", "thread")

    def __init__(self, var: Var, write: bool, owner: Frame | None) -> None:
        self.held = {var: write}
        self.lane = None
        self.next = None
        self.priority = self.sequence = self.flushes = self.wait = 0
        self.owner = owner
        self.thread = threading.get_ident()
        self.gate = threading.Lock()
        self.gate.acquire()


def standing_failure(reads: Sequence[Var], raises: int) -> Failure | None:
    """Return the first failure among an operator's inputs; None if the operator may run.

    Args:
        reads: Variables that the operator reads; the caller holds them.
        raises: Number of raises before the push of the operator.
    """
    for var in reads:
        if var.error is not None:
            failure = var.error.standing(raises)
            if failure is not None:
                return failure
    return None


def skip(reads: Sequence[Var], writes: Sequence[Var], failure: Failure) -> None:
    """Store the failure that skipped an operator on its outputs.

    A variable that is updated in place becomes stale, unless its value was never computed; other
    outputs get the failure itself.
    """
    updated = set(reads)
    for var in writes:
        intact = var in updated and type(var.error) in (type(None), Stale)
        var.error = Stale(failure) if intact else failure


def leave_failure(reads: Sequence[Var], writes: Sequence[Var], failure: Failure) -> None:
    """Store the failure of an operator that raised on all its outputs."""
    several = len(writes) > 1
    updated = set(reads) if several else ()
    for var in writes:
        var.error = Output(failure) if several and var not in updated else failure


def frames_of(frame: Frame | None) -> list[tuple[Sequence[Var], Sequence[Var]]]:
    """Return the reads and writes of each operator that a thread is inside of, innermost first.

    A call that still waits for its variables is excluded.
    """
    # Not a generator: an exception raised while it is being closed would be lost.
    found = []
    while frame is not None:
        if isinstance(frame, tuple):
            found.append(frame[:2])
            frame = frame[2]
        else:
            if not frame.wait:
                found.append((frame.inputs, frame.writes))
            frame = frame.outer
    return found


def conflicts(frame: Frame | None, reads: Sequence[Var], writes: Sequence[Var]) -> bool:
    """Whether an operator depends on another operator that its thread is inside of.

    Args:
        frame: The innermost operator that the thread is inside of.
        reads: Variables that the operator reads.
        writes: Variables that the operator writes.
    """
    variables = {*reads, *writes}
    for held_reads, held_writes in frames_of(frame):
        if not variables.isdisjoint(held_writes):
            return True
        for var in held_reads:
            if var in variables and (var.queue is not None or var in writes):
                return True
    return False


def reclaim(failure: Failure, frame: Frame | None) -> None:
    """Release all variables in a forked child, except those of the operators in ``frame``.

    Args:
        failure: Error of variables with a pending write, whose values will never be complete.
        frame: The operators that the forking thread is running.
    """
    gc.unfreeze()  # `get_objects` does not list frozen objects
    for var in gc.get_objects():
        if type(var) is not Var or not (var.active or var.queue):
            continue
        if var.active < 0 or any(task.held[var] for task in var.queue or ()):
            var.error = failure
        var.active = 0
        var.queue = None
    for reads, writes in frames_of(frame):
        for var in writes:
            var.active, var.error = -1, None
        for var in set(reads):
            # An enclosing operator may write the variable.
            if var.active >= 0 and var not in writes:
                var.active += 1


def waits_for(target: Task, frame: Frame) -> bool:
    """Whether ``target`` cannot be granted before the running operators of ``frame`` end.

    Tasks change meanwhile, so a single result may be outdated; a real cycle persists.
    """
    return target in tasks_behind(frame)


def is_awaited(frame: Frame, thread: int) -> bool:
    """Whether a thread waits for something that is granted only when ``frame`` has ended."""
    return any(isinstance(x, HostWait) and x.thread == thread for x in tasks_behind(frame))


def tasks_behind(frame: Frame) -> set[Task]:
    """Return the tasks that cannot be granted before the running operators of ``frame`` end."""
    seen: set[Task] = set()
    stack: list[Task] = []
    _add_frame(frame, seen, stack)
    while stack:
        task = stack.pop()
        if task.owner is not None:
            _add_frame(task.owner, seen, stack)
        for var in list(task.held):
            _add(_behind(var, task), seen, stack)
    return seen


def _add_frame(frame: Frame | None, seen: set[Task], stack: list[Task]) -> None:
    for reads, writes in frames_of(frame):
        for var in itertools.chain(reads, writes):
            _add(list(var.queue or ()), seen, stack)


def _add(tasks: Iterable[Task], seen: set[Task], stack: list[Task]) -> None:
    for task in tasks:
        if task not in seen:
            seen.add(task)
            stack.append(task)


def _behind(var: Var, task: Task) -> list[Task]:
    """Return the tasks in the queue of ``var`` that are granted only after ``task``."""
    waiting = list(var.queue or ())
    if task not in waiting:
        return waiting
    waiting = waiting[waiting.index(task) + 1 :]
    if task.held[var]:
        return waiting
    return list(itertools.dropwhile(lambda other: not other.held[var], waiting))
