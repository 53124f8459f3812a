"""What a trace says in sum: operators, how busy devices were, memory, and time spent waiting."""

from collections.abc import Iterable
from typing import NamedTuple

from gluonish.tools.profile.trace import Row, Span, Trace

Interval = tuple[float, float]

# As the profiler names them: the parts of an exchange between ranks.
PART = "part of communication"
WAITING = "waiting for ranks"


class Operator(NamedTuple):
    """All runs of one operator.

    Attributes:
        name: The operator.
        runs: How often it ran.
        total_us: How long in all, in microseconds.
        mean_us: On average.
        longest_us: At most.
        share: Of the time of all operators, from 0 to 1.
        nbytes: Bytes that it read and wrote, in all.
        failed: How many of the runs ended with an error.
    """

    name: str
    runs: int
    total_us: float
    mean_us: float
    longest_us: float
    share: float
    nbytes: int
    failed: int


class Lane(NamedTuple):
    """One row of a device.

    Attributes:
        name: The row's name.
        busy_us: How long it ran something.
    """

    name: str
    busy_us: float


class Device(NamedTuple):
    """A device.

    Attributes:
        name: Such as ``cpu/0``.
        lanes: Its rows.
        busy: When at least one of them ran something, in order, as (begin, end).
        busy_us: How long that was.
        peak_nbytes: The most memory that arrays held there; None where the trace does not say.
    """

    name: str
    lanes: list[Lane]
    busy: list[Interval]
    busy_us: float
    peak_nbytes: int | None


class Communication(NamedTuple):
    """What a rank did with the others.

    Attributes:
        rank: The rank.
        exchanges: How often it exchanged arrays with others, or asked servers.
        nbytes: Bytes that it sent.
        waiting_us: How long it waited there for other ranks.
        transfer_us: How long the rest took.
        hidden: Part of the transfer in which a device of the rank computed, from 0 to 1.
    """

    rank: int
    exchanges: int
    nbytes: int
    waiting_us: float
    transfer_us: float
    hidden: float


class Summary(NamedTuple):
    """A trace in sum.

    Attributes:
        duration_us: From the first event to the end of the last.
        operators: Those that took the longest first.
        operator_us: The time of all operators together.
        in_graphs: How many of their runs were parts of a graph's segments.
        devices: All devices that ran something or held memory.
        waits: How often the program waited for the engine.
        wait_us: How long in all; of several ranks, on average.
        communication: What each rank did with the others; nothing where there is one process.
        dropped: Events that are missing because there were too many.
    """

    duration_us: float
    operators: list[Operator]
    operator_us: float
    in_graphs: int
    devices: list[Device]
    waits: int
    wait_us: float
    communication: list[Communication]
    dropped: int


def summarize(trace: Trace) -> Summary:
    """Return a trace in sum."""
    runs = [span for span in trace.spans if span.category == "operator"]
    operator_us = sum(span.duration_us for span in runs)
    by_row: dict[int, list[Span]] = {}
    for span in trace.spans:
        by_row.setdefault(span.row, []).append(span)
    waits = [span for span in trace.spans if span.category == "wait"]
    program = [row.number for row in trace.rows if row.is_program]
    ranks = sorted({row.rank for row in trace.rows})
    devices = _devices(trace, by_row)
    return Summary(
        trace.duration_us,
        _operators(runs, operator_us),
        operator_us,
        sum(span.depth > 0 for span in runs),
        devices,
        len(waits),
        # Threads may wait at the same time, and one wait may stand in another.
        sum(_length(_union(s for s in by_row[row] if s.category == "wait")) for row in program)
        / max(1, len(ranks)),
        [found for rank in ranks if (found := _communication(trace, rank, by_row)) is not None],
        trace.dropped,
    )


def covered_us(left: list[Interval], right: list[Interval]) -> float:
    """How long two lists of intervals, each in order and apart, were both going on."""
    common = 0.0
    i = j = 0
    while i < len(left) and j < len(right):
        begin, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        common += max(0.0, end - begin)
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common


def _communication(trace: Trace, rank: int, by_row: dict[int, list[Span]]) -> Communication | None:
    mine = [row for row in trace.rows if row.rank == rank]
    spans = [span for row in mine for span in by_row[row.number]]
    whole = [span for span in spans if span.category == "communication"]
    if not whole:
        return None
    waiting = [span for span in spans if span.name == WAITING and span.category == PART]
    waiting_us = sum(span.duration_us for span in waiting)
    # What is not waiting: between the end of the wait, where there is one, and the end.
    ends = {span.start_us: span.start_us + span.duration_us for span in waiting}
    busy = _merged(
        (ends.get(span.start_us, span.start_us), span.start_us + span.duration_us) for span in whole
    )
    computing = _union(span for row in mine if row.is_device for span in by_row[row.number])
    transfer_us = _length(busy)
    return Communication(
        rank,
        len(whole),
        sum(int(span.details.get("bytes", 0)) for span in whole),
        waiting_us,
        transfer_us,
        covered_us(busy, computing) / transfer_us if transfer_us else 0.0,
    )


def _operators(runs: Iterable[Span], operator_us: float) -> list[Operator]:
    by_name: dict[str, list[Span]] = {}
    for span in runs:
        by_name.setdefault(span.name, []).append(span)
    found = []
    for name, spans in by_name.items():
        total_us = sum(span.duration_us for span in spans)
        found.append(
            Operator(
                name,
                len(spans),
                total_us,
                total_us / len(spans),
                max(span.duration_us for span in spans),
                total_us / operator_us if operator_us else 0.0,
                sum(sum(span.details.get("bytes", {}).values()) for span in spans),
                sum("error" in span.details for span in spans),
            )
        )
    return sorted(found, key=lambda operator: (-operator.total_us, operator.name))


def _devices(trace: Trace, by_row: dict[int, list[Span]]) -> list[Device]:
    rows: dict[str, list[Row]] = {name: [] for name in trace.memory}
    for row in trace.rows:
        if row.is_device:
            rows.setdefault(row.process, []).append(row)
    devices = []
    for name in sorted(rows):
        busy = {row: _union(by_row[row.number]) for row in rows[name]}
        together = _merged(interval for intervals in busy.values() for interval in intervals)
        held = [nbytes for _, nbytes in trace.memory.get(name, ())]
        lanes = [Lane(row.name, _length(intervals)) for row, intervals in busy.items()]
        devices.append(Device(name, lanes, together, _length(together), max(held, default=None)))
    return devices


def _union(spans: Iterable[Span]) -> list[Interval]:
    return _merged((span.start_us, span.start_us + span.duration_us) for span in spans)


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The times that at least one interval covers, as intervals apart from each other."""
    merged: list[Interval] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _length(intervals: Iterable[Interval]) -> float:
    return sum(end - begin for begin, end in intervals)
