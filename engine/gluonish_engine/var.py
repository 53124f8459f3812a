"""Var and Job: what a push reads or writes, and the queue of those who wait for it.

Invariants. The one lock of the threaded engine guards ``active``, ``queue`` and ``stream`` of every
variable, and ``wait``, ``calls``, ``held`` and ``open`` of every task that is not running:

- ``active`` is -1 while one job holds the variable for writing, the number of jobs that hold it for
  reading, else 0.
- ``queue`` is None or a non-empty deque of jobs in push order, and its head cannot be granted. So
  nobody overtakes: a read pushed after a waiting write waits behind it.
- A quiet operator (`gluonish_engine.scheduler`) holds its variables without a mark on them.
- ``active`` is set before ``queue`` shrinks. A thread without the lock that sees no quiet operator,
  *after that* no queue, and after that an ``active`` of at least 0 has seen a moment without
  pending writes.
- ``wait`` counts the variables whose queues the job stands in, and one more while the job is an
  open bulk. Once it is 0 the job owns all it asked for until it lets go, which takes it below 0.
- ``error`` is written only by whoever holds the variable for writing, before letting go, by a host
  wait that finds a stream broken, or, under the lock and only while nothing is pending, by
  an inline push that takes a stale mark away.
- ``version`` grows at each push of a write, in the pushing thread: whoever read the variable before
  holds an older one.
- ``stream`` is None unless a GPU stream may still use the variable.

Every job waits only for jobs pushed before it, hence no cycles, with one exception: a host wait
inside a running operator makes that operator wait for jobs pushed after it. `waits_for` finds the
cycles that this can close.
"""

import gc
import itertools
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from gluonish_engine.errors import EngineError, Failure, Stale
from gluonish_engine.streams import StreamUse

__all__ = [
    "Call",
    "Frame",
    "Job",
    "Task",
    "Var",
    "is_read_inside",
    "skip",
    "standing_failure",
    "waits_for",
]


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
        self.queue: deque[Task] | None = None
        self.stream: StreamUse | None = None


# What the operators running in one thread hold: (reads, writes, the frame around it or None). A
# plain tuple, because the inline path makes one for each operator.
Frame: TypeAlias = tuple[Sequence["Var"], Sequence["Var"], "Frame | None"]


class Task:
    """What holds variables, or waits for them.

    Attributes:
        held: Each variable with whether it is written.
        lane: The worker lane that runs it. None: a thread waits at the gate of a `Job` and does the
            rest.
        key: Lane key that was pushed to.
        priority: Those with a higher one start first within their lane.
        sequence: Place of the (first) push among all pushes.
        wait: See the invariants.
        flushes: How many of its operators write files.
    """

    __slots__ = ("flushes", "held", "key", "lane", "priority", "sequence", "wait")

    # The operators inside which a thread waits at the gate of a `Job`.
    owner: Frame | None = None

    held: dict[Var, bool]
    lane: Any
    key: Hashable
    priority: int
    sequence: int
    wait: int
    flushes: int

    def frame(self) -> Frame:
        """Return what it holds, for the thread that runs it."""
        reads = [var for var, write in self.held.items() if not write]
        return reads, [var for var, write in self.held.items() if write], None


class Call(Task):
    """One pushed operator; ``inputs`` and ``writes`` as they were given, duplicates included.

    ``raises`` is the number of raises that the push came after: it decides which stale marks stand.
    """

    __slots__ = ("fn", "inputs", "name", "raises", "where", "writes")

    fn: Callable[[], None]
    inputs: Sequence[Var]
    writes: Sequence[Var]
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

    def frame(self) -> Frame:
        """Return what the call holds, for the thread that runs it."""
        return self.inputs, self.writes, None


class Job(Task):
    """Calls that run one after the other once all their variables are granted.

    Args:
        calls: The operators; none for a host wait, which lets go as soon as it is granted.
        held: Each variable with whether it is written.
        lane: The worker lane that runs the job. None: a thread waits at ``gate`` and does the rest.
        key: Lane key that was pushed to.
        priority: Jobs with a higher one start first within their lane.
    """

    __slots__ = ("asked", "calls", "gate", "open", "owner")

    def __init__(
        self,
        calls: list[Call],
        held: dict[Var, bool],
        lane: Any = None,
        key: Hashable = None,
        priority: int = 0,
    ) -> None:
        self.calls = calls
        self.held = held
        self.lane = lane
        self.key = key
        self.priority = priority
        self.sequence = 0
        self.wait = 0
        self.flushes = 0
        self.open = False
        self.asked = False  # whether it has all its variables, or queues for them
        # A locked `threading.Lock` that is unlocked at the grant.
        self.gate: Any = None
        self.owner = None


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
        intact = var in updated and type(var.error) is not Failure
        var.error = Stale(failure) if intact else failure


def frames_of(frame: Frame | None) -> Iterator[tuple[Sequence[Var], Sequence[Var]]]:
    """Yield the reads and writes of each running operator of a thread, the innermost first."""
    while frame is not None:
        reads, writes, frame = frame
        yield reads, writes


def is_read_inside(var: Var, write: bool, frame: Frame) -> bool:
    """Whether an operator that a thread is inside of reads a variable, which is ready then.

    Args:
        var: A variable that is waited for.
        write: Whether to write it.
        frame: The operators.

    Raises:
        EngineError: if one of them writes it, or is in the way of writing.
    """
    for reads, writes in frames_of(frame):
        if var in writes or (write and var in reads):
            raise EngineError(
                "wait: expected a variable that the waiting operator leaves alone, "
                "got one that it writes (or, in wait_to_write, reads)"
            )
        if var in reads:
            return True
    return False


def reclaim(failure: Failure, frame: Frame | None) -> None:
    """Free all variables from jobs, but for the operators of ``frame``; for a fork's child.

    Args:
        failure: What becomes of a variable with a pending write: its value will never be complete.
        frame: The operators that the forking thread is running.
    """
    for var in gc.get_objects():
        if type(var) is not Var or not (var.active or var.queue):
            continue
        if var.active < 0 or any(job.held[var] for job in var.queue or ()):
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
    """Whether ``target`` cannot be granted before the running operators of ``frame`` end."""
    seen: set[Task] = set()
    stack: list[Task] = []
    _add_frame(frame, seen, stack)
    while stack:
        job = stack.pop()
        if job is target:
            return True
        if job.owner is not None:
            _add_frame(job.owner, seen, stack)
        for var in job.held:
            _add(_behind(var, job), seen, stack)
    return False


def _add_frame(frame: Frame | None, seen: set[Task], stack: list[Task]) -> None:
    for reads, writes in frames_of(frame):
        for var in itertools.chain(reads, writes):
            _add(var.queue or (), seen, stack)


def _add(jobs: Iterable[Task], seen: set[Task], stack: list[Task]) -> None:
    for job in jobs:
        if job not in seen:
            seen.add(job)
            stack.append(job)


def _behind(var: Var, job: Task) -> list[Task]:
    """The jobs in the queue of ``var`` that cannot have it before ``job`` has had it."""
    waiting = list(var.queue or ())
    if job not in waiting:
        return waiting
    waiting = waiting[waiting.index(job) + 1 :]
    if job.held[var]:
        return waiting
    return list(itertools.dropwhile(lambda other: not other.held[var], waiting))
