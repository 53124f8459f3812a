"""Var and Task: what a push reads or writes, and the queue of those who wait for it.

Invariants. The fields below change in *steps* only (docs/engine.md says what a step is), so whoever
reads them between two steps finds this:

- ``active`` is -1 while one task holds the variable for writing, the number of tasks that hold it
  for reading, else 0.
- ``queue`` is None or a list of tasks that is not empty, in push order (`Scheduler.overtake` makes
  the one exception). Its head cannot be granted, or the variable is in ``Scheduler.freed``. So
  nobody overtakes: a read pushed after a waiting write waits behind it.
- A quiet operator (`gluonish_engine.scheduler`) holds its variables without a mark on them.
- ``active`` is set before ``queue`` shrinks. A thread that sees no quiet operator, *after that* no
  queue, and after that an ``active`` of at least 0 has seen a moment without pending writes.
- ``wait`` counts the variables whose queues the task stands in, one more while it enters, and one
  more while it is in an open bulk. Once it is 0 the task owns all it asked for until it lets go.
- ``error`` is written only by whoever holds the variable for writing, before letting go, by a host
  wait that finds a stream broken, or, only while nothing is pending, by an inline push that takes a
  stale mark away.
- ``version`` grows at each push of a write, in the pushing thread: whoever read the variable before
  holds an older one.
- ``stream`` is None unless a GPU stream may still use the variable.

Every task waits only for tasks pushed before it, hence no cycles, with one exception: a wait inside
a running operator makes that operator wait for tasks pushed after it. `waits_for` finds the cycles
that this can close.
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
    """A variable of the dependency engine; one stands for each array.

    Attributes:
        version: Number of writes pushed so far.
        error: None, or a `Failure`: the value was never computed, which stays so until an operator
            that does not read the variable writes it with success. Or a `Stale`: an operator that
            would have updated the value was skipped, so the value before is still there. To a push
            or wait that comes after the raise of its failure that is no error.
    """

    __slots__ = ("__weakref__", "active", "error", "queue", "stream", "version")

    def __init__(self) -> None:
        self.version = 0
        self.active = 0
        self.error: Failure | Stale | None = None
        self.queue: list[Task] | None = None
        self.stream: StreamUse | None = None


class Task:
    """What holds variables, or waits for them.

    Attributes:
        held: Each variable with whether it is written.
        rest: What is left of ``held`` while the task enters; one iterator for all who help.
        back: The same while it lets go; None before.
        lane: The worker lane that runs it. None: a thread waits at its ``gate``, or it is running.
        priority: Those with a higher one start first within their lane.
        sequence: Place of the push among all pushes; 0: it holds nothing (`HostWait`).
        wait: See the invariants.
        flushes: Whether its operator writes a file, as a number.
        next: The task behind it among those that are ready, or in its lane.
    """

    __slots__ = ("back", "flushes", "held", "lane", "next", "priority", "rest", "sequence", "wait")

    # What a thread that waits for the task is inside of, and what it waits at.
    owner: "Frame | None" = None
    gate: Any = None
    # What is around it in the thread that runs it.
    outer: "Frame | None" = None

    held: dict[Var, bool]
    rest: Iterator[tuple[Var, bool]]
    back: Iterator[tuple[Var, bool]] | None
    lane: Any
    priority: int
    sequence: int
    wait: int
    flushes: int
    next: "Task | None"


class Call(Task):
    """One pushed operator; ``inputs`` and ``writes`` as they were given, duplicates included.

    ``raises`` is the number of raises that the push came after: it decides which stale marks stand.
    """

    __slots__ = ("fn", "inputs", "key", "name", "raises", "where", "writes")

    fn: Callable[[], None]
    inputs: Sequence[Var]
    writes: Sequence[Var]
    key: Hashable
    name: str
    where: traceback.StackSummary | None
    raises: int

    # Not `__init__`: a class that has one takes half as long again to call.
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
        self.back = None
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


# What a thread is inside of: an inline operator as (reads, writes, what is around it), which is a
# plain tuple because the inline path makes one for each operator; or a call with its own fields.
Frame: TypeAlias = tuple[Sequence[Var], Sequence[Var], "Frame | None"] | Call


class HereCall(Call):
    """A call that the pushing thread runs itself, after waiting at ``gate`` for its variables."""

    __slots__ = ("gate", "outer", "owner")


class Held(Task):
    """Variables that are held with no call of an engine behind them.

    Args:
        reads: Variables that are held for reading.
        writes: Variables that are held for writing.
    """

    __slots__ = ()

    def __init__(self, reads: Sequence[Var], writes: Sequence[Var]) -> None:
        self.held = dict.fromkeys(reads, False)
        for var in writes:
            self.held[var] = True
        self.rest = iter(self.held.items())
        self.back = None
        self.next = None
        self.lane = None
        self.priority = self.sequence = self.flushes = 0
        self.wait = 1


class HostWait(Task):
    """A thread that waits for a variable; it holds nothing, and lets others pass when granted.

    So one whose thread has gone needs no taking back.

    Args:
        var: The variable.
        write: Whether it waits for readers, too.
        owner: What the thread is inside of.
    """

    __slots__ = ("gate", "owner")

    def __init__(self, var: Var, write: bool, owner: Frame | None) -> None:
        self.held = {var: write}
        self.lane = None
        self.next = None
        self.priority = self.sequence = self.flushes = self.wait = 0
        self.owner = owner
        self.gate = threading.Lock()
        self.gate.acquire()


def standing_failure(reads: Sequence[Var], raises: int) -> Failure | None:
    """Return the first failure that keeps an operator from reading; None if it may run.

    Args:
        reads: Variables that it reads; the caller holds them.
        raises: Number of raises that its push came after.
    """
    for var in reads:
        if var.error is not None:
            failure = var.error.standing(raises)
            if failure is not None:
                return failure
    return None


def skip(reads: Sequence[Var], writes: Sequence[Var], failure: Failure) -> None:
    """Leave the failure because of which an operator does not run on what it would have written.

    An update in place leaves a variable stale, unless its value was never computed; anything else
    that the operator writes is missing.
    """
    updated = set(reads)
    for var in writes:
        intact = var in updated and type(var.error) in (type(None), Stale)
        var.error = Stale(failure) if intact else failure


def leave_failure(reads: Sequence[Var], writes: Sequence[Var], failure: Failure) -> None:
    """Leave the failure of an operator that raised on all that it would have written."""
    several = len(writes) > 1
    updated = set(reads) if several else ()
    for var in writes:
        var.error = Output(failure) if several and var not in updated else failure


def frames_of(frame: Frame | None) -> list[tuple[Sequence[Var], Sequence[Var]]]:
    """Return the reads and writes of each operator that a thread is inside of, innermost first.

    A call that still waits for its variables is none of them.
    """
    # No generator: what interrupts one while it is closed gets lost.
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


def touches(frame: Frame | None, reads: Sequence[Var], writes: Sequence[Var]) -> bool:
    """Whether an operator would wait for those that its thread is inside of, wholly or in part.

    Args:
        frame: What the thread is inside of.
        reads: Variables that the operator reads.
        writes: Variables that it writes.
    """
    wanted = {*reads, *writes}
    for held_reads, held_writes in frames_of(frame):
        if not wanted.isdisjoint(held_writes):
            return True
        for var in held_reads:
            if var in wanted and (var.queue is not None or var in writes):
                return True
    return False


def reclaim(failure: Failure, frame: Frame | None) -> None:
    """Free all variables from jobs, but for the operators of ``frame``; for a fork's child.

    Args:
        failure: What becomes of a variable with a pending write: its value will never be complete.
        frame: The operators that the forking thread is running.
    """
    gc.unfreeze()  # what the program has set aside is not listed
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
            # An operator around this one may write it.
            if var.active >= 0 and var not in writes:
                var.active += 1


def waits_for(target: Task, frame: Frame) -> bool:
    """Whether ``target`` cannot be granted before the running operators of ``frame`` end.

    Tasks come and go meanwhile, so a cycle that is found may be gone: a real one stays.
    """
    return target in tasks_behind(frame)


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
    """The tasks in the queue of ``var`` that cannot have it before ``task`` has had it."""
    waiting = list(var.queue or ())
    if task not in waiting:
        return waiting
    waiting = waiting[waiting.index(task) + 1 :]
    if task.held[var]:
        return waiting
    return list(itertools.dropwhile(lambda other: not other.held[var], waiting))
