"""Recorded events: jobs of the engine with their operators, and all others.

A *job* is one push to the engine and its run: a single operator, or a segment of a graph, whose
operators are its *steps*. A *row* is a thread in the trace.

Scopes: prefixes for the names of recorded events.
"""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gluonish.gluon.block import Block

Kind = Literal["span", "interval", "count", "mark"]


class Operand(NamedTuple):
    """An array that an operator reads or writes.

    Attributes:
        shape: Shape of the array.
        dtype: Name of the dtype.
        nbytes: Size in bytes.
    """

    shape: tuple[int, ...]
    dtype: str
    nbytes: int


class Row(NamedTuple):
    """A thread, which is a row of the trace.

    Attributes:
        number: Unique number of the thread; never reused in the process.
        name: Name of the thread.
        is_engine: Whether the thread is one of the engine's worker threads.
    """

    number: int
    name: str
    is_engine: bool


class Step(NamedTuple):
    """An operator within a segment. Times are nanoseconds, from `gluonish.profiler.recorder.now`.

    Attributes:
        name: Name of the operator.
        node: Name of the graph's node.
        start_ns: Start time.
        stop_ns: End time.
        inputs: Arrays that the operator reads.
        outputs: Arrays that the operator writes.
    """

    name: str
    node: str
    start_ns: int
    stop_ns: int
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]


def is_of_ranks(lane: Hashable) -> bool:
    """Whether a lane runs communication with other ranks."""
    return isinstance(lane, tuple) and lane[:1] == ("mpi",)


class Job(NamedTuple):
    """An operation that the engine ran. Times are nanoseconds, as in `Step`.

    Attributes:
        call: Number of the push, ascending.
        name: Name of the push.
        lane: Key of the lane, such as ``("cpu", 0, "compute")``.
        scope: Names of the enclosing scopes and Blocks, each followed by a colon.
        push_ns: When the operation was pushed.
        pushed_ns: When the push returned.
        start_ns: When the operation started to run.
        stop_ns: When the operation ended.
        pusher: Thread that pushed the operation.
        runner: Thread that ran the operation.
        steps: Operators of a segment; None for a single operator.
        inputs: Arrays that the operation reads.
        outputs: Arrays that the operation writes.
        error: Text of the error that the operation raised; empty if it succeeded.
    """

    call: int
    name: str
    lane: Hashable
    scope: str
    push_ns: int
    pushed_ns: int
    start_ns: int
    stop_ns: int
    pusher: Row
    runner: Row
    steps: list[Step] | None
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    error: str

    @property
    def category(self) -> str:
        """``"operator"``, ``"segment"`` of a graph, or ``"exchange"`` with other ranks."""
        if self.steps is not None:
            return "segment"
        return "exchange" if is_of_ranks(self.lane) else "operator"


class TraceEvent(NamedTuple):
    """A recorded event other than a job.

    Attributes:
        kind: One of the kinds listed in `gluonish.profiler.recorder`.
        category: Category, such as the name of a domain.
        name: Name of the event.
        start_ns: Start time.
        duration_ns: Duration of the event.
        row: Thread that recorded it.
        value: Value of a counter.
        scope: Scope of a mark, such as ``"process"``.
        details: Further values shown with a span.
    """

    kind: Kind
    category: str
    name: str
    start_ns: int
    duration_ns: int
    row: Row
    value: int = 0
    scope: str = ""
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Statistics of all events of one name: durations in nanoseconds, or values of a counter.

    Attributes:
        count: Number of events.
        total: Sum.
        least: Minimum.
        most: Maximum.
        is_time: Whether the values are durations.
    """

    count: int
    total: int
    least: int
    most: int
    is_time: bool

    @property
    def mean(self) -> float:
        """The mean."""
        return self.total / self.count


class Location(NamedTuple):
    """Location of a call in the program.

    Attributes:
        path: Names of the enclosing scopes and Blocks, each followed by a colon.
        parent: The innermost enclosing Block.
    """

    path: str
    parent: Block | None


TOP_LEVEL = Location("", None)
current_location: ContextVar[Location] = ContextVar("gluonish_profiled_place")


@contextmanager
def scope(name: str = "<unk>:", append_mode: bool = True) -> Iterator[None]:
    """Context manager: prefix a name to everything recorded inside ``with scope(name):``.

    In the trace the name precedes the names of Blocks called inside, and appears in the argument
    ``scope`` of operators pushed inside.

    Args:
        name: The name; a colon is appended if missing.
        append_mode: Whether the names of enclosing scopes stay in front of the name.
    """
    location = current_location.get(TOP_LEVEL)
    named = name if name.endswith(":") else f"{name}:"
    token = current_location.set(
        Location(location.path + named if append_mode else named, location.parent)
    )
    try:
        yield
    finally:
        current_location.reset(token)
