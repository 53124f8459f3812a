"""Summary of a trace: operators, busy times of devices, memory, and waits."""

from collections.abc import Iterable
from typing import NamedTuple

from gluonish.tools.profile.trace import Row, Span, Trace

Interval = tuple[float, float]

# The profiler's names for spans inside an exchange between ranks.
PART = "part of communication"
WAITING = "waiting for ranks"


class Operator(NamedTuple):
    """Statistics of all runs of one operator.

    Attributes:
        name: Name of the operator.
        runs: Number of runs.
        total_us: Total time in microseconds.
        mean_us: Mean time.
        longest_us: Maximum time.
        share: Fraction of the time of all operators, from 0 to 1.
        nbytes: Total bytes read and written.
        failed: Number of runs that failed.
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
    """One row of a device in the timeline.

    Attributes:
        name: The row's name.
        busy_us: Busy time.
    """

    name: str
    busy_us: float


class Device(NamedTuple):
    """Busy times and memory of a device.

    Attributes:
        name: Name such as ``cpu/0``.
        lanes: Rows of the device.
        busy: Intervals (begin, end) in which at least one row was busy, in order.
        busy_us: Total length of these intervals.
        peak_nbytes: Peak memory of arrays; None if the trace does not include memory.
    """

    name: str
    lanes: list[Lane]
    busy: list[Interval]
    busy_us: float
    peak_nbytes: int | None


class Communication(NamedTuple):
    """Communication of a rank with the others.

    Attributes:
        rank: The rank.
        exchanges: Number of exchanges with other ranks or servers.
        nbytes: Bytes sent.
        waiting_us: Time waiting for other ranks.
        transfer_us: Time of the transfers.
        hidden: Fraction of the transfers that overlaps with computation, from 0 to 1.
    """

    rank: int
    exchanges: int
    nbytes: int
    waiting_us: float
    transfer_us: float
    hidden: float


class Summary(NamedTuple):
    """The summary of a trace.

    Attributes:
        duration_us: Time from the first event to the end of the last.
        operators: Statistics of the operators, sorted by total time, longest first.
        operator_us: Total time of all operators.
        in_graphs: Number of runs within segments of graphs.
        devices: All devices with operators or memory.
        waits: Number of waits for the engine.
        wait_us: Total time of waits, as a mean over ranks.
        communication: Communication of each rank; empty for one process.
        dropped: Number of events lost to a full buffer.
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
    """Return the summary of a trace."""
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
        # Waits of threads may overlap, and waits may be nested.
        sum(_length(_union(s for s in by_row[row] if s.category == "wait")) for row in program)
        / max(1, len(ranks)),
        [found for rank in ranks if (found := _communication(trace, rank, by_row)) is not None],
        trace.dropped,
    )


def covered_us(left: list[Interval], right: list[Interval]) -> float:
    """Return the overlap of two sorted lists of disjoint intervals."""
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
    exchanges = [span for span in spans if span.category == "communication"]
    if not exchanges:
        return None
    waiting = [span for span in spans if span.name == WAITING and span.category == PART]
    waiting_us = sum(span.duration_us for span in waiting)
    # The transfer is the exchange without its wait, which comes first.
    ends = {span.start_us: span.start_us + span.duration_us for span in waiting}
    busy = _merged(
        (ends.get(span.start_us, span.start_us), span.start_us + span.duration_us)
        for span in exchanges
    )
    computing = _union(span for row in mine if row.is_device for span in by_row[row.number])
    transfer_us = _length(busy)
    return Communication(
        rank,
        len(exchanges),
        sum(int(span.details.get("bytes", 0)) for span in exchanges),
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
    """Return the union of intervals as sorted, disjoint intervals."""
    merged: list[Interval] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _length(intervals: Iterable[Interval]) -> float:
    return sum(end - begin for begin, end in intervals)
