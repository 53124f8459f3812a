"""What a trace says in sum: operators, how busy devices were, memory, and time spent waiting."""

from collections.abc import Iterable
from typing import NamedTuple

from gluonish.tools.profile.trace import PYTHON, Row, Span, Trace

__all__ = ["Device", "Lane", "Operator", "Summary", "covered_us", "summarize"]

Interval = tuple[float, float]


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


class Summary(NamedTuple):
    """A trace in sum.

    Attributes:
        duration_us: From the first event to the end of the last.
        operators: Those that took the longest first.
        operator_us: The time of all operators together.
        in_graphs: How many of their runs were parts of a graph's segments.
        devices: All devices that ran something or held memory.
        waits: How often the program waited for the engine.
        wait_us: How long in all.
        dropped: Events that are missing because there were too many.
    """

    duration_us: float
    operators: list[Operator]
    operator_us: float
    in_graphs: int
    devices: list[Device]
    waits: int
    wait_us: float
    dropped: int


def summarize(trace: Trace) -> Summary:
    """Return a trace in sum."""
    runs = [span for span in trace.spans if span.category == "operator"]
    operator_us = sum(span.duration_us for span in runs)
    by_row: dict[int, list[Span]] = {}
    for span in trace.spans:
        by_row.setdefault(span.row, []).append(span)
    waits = [span for span in trace.spans if span.category == "wait"]
    program = [row.number for row in trace.rows if row.process == PYTHON]
    return Summary(
        trace.duration_us,
        _operators(runs, operator_us),
        operator_us,
        sum(span.depth > 0 for span in runs),
        _devices(trace, by_row),
        len(waits),
        # Threads may wait at the same time, and one wait may stand in another.
        sum(_length(_union(s for s in by_row[row] if s.category == "wait")) for row in program),
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
