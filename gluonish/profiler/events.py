"""What the profiler keeps: jobs of the engine with their operators, and everything else.

A *job* is one push to the engine and its run. It is an operator of its own, or a segment of a
graph, whose operators are its *steps*. A *row* is a thread, as traces show it.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = ["Job", "Kind", "Operand", "Row", "Step", "Totals", "TraceEvent", "is_of_ranks"]

Kind = Literal["span", "interval", "count", "mark"]


class Operand(NamedTuple):
    """An array that an operator reads or writes.

    Attributes:
        shape: Its shape.
        dtype: Name of its dtype.
        nbytes: Its size in bytes.
    """

    shape: tuple[int, ...]
    dtype: str
    nbytes: int


class Row(NamedTuple):
    """A thread.

    Attributes:
        number: Differs from that of every other thread of the process, past ones too.
        name: The thread's name.
        is_engine: Whether the engine started it.
    """

    number: int
    name: str
    is_engine: bool


class Step(NamedTuple):
    """An operator inside a segment; times in nanoseconds of `gluonish.profiler.recorder.now`.

    Attributes:
        name: The operator.
        node: Name of the graph's node.
        start_ns: When it began.
        stop_ns: When it ended.
        inputs: What it reads.
        outputs: What it writes.
    """

    name: str
    node: str
    start_ns: int
    stop_ns: int
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]


def is_of_ranks(lane: Hashable) -> bool:
    """Whether work with other ranks goes to a lane, rather than a device's."""
    return isinstance(lane, tuple) and lane[:1] == ("mpi",)


class Job(NamedTuple):
    """What the engine was given and ran; times as of `Step`.

    Attributes:
        call: Number of the push, in order.
        name: Name that it was pushed with.
        lane: Lane key that it was pushed to, such as ``("cpu", 0, "compute")``.
        scope: Names of the scopes and Blocks around the push, each with a colon after it.
        push_ns: When it was pushed.
        pushed_ns: When the profiler let go of the push.
        start_ns: When it began to run.
        stop_ns: When it ended.
        pusher: Thread that pushed it.
        runner: Thread that ran it.
        steps: Operators of a segment; None where the job is one operator.
        inputs: What it reads.
        outputs: What it writes.
        error: What it raised, empty for nothing.
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
    """Something else that happened.

    Attributes:
        kind: See `gluonish.profiler.recorder`.
        category: What it belongs to, such as a domain.
        name: Its name.
        start_ns: When it was, or began.
        duration_ns: How long it took.
        row: Thread that recorded it.
        value: Of a count.
        scope: Of a mark: what it is for, such as ``"process"``.
        details: What else is known of a span.
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
    """Sums of the events of one name: durations in nanoseconds, or values of a counter.

    Attributes:
        count: How many events.
        total: Their sum.
        least: The smallest.
        most: The largest.
        is_time: Whether they are durations.
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
