"""Reads a trace of the profiler: its rows, their spans, and memory."""

import json
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from gluonish.core.errors import FileFormatError
from gluonish.core.files import open_to_read

# Name of the process whose rows are the threads of the program.
PYTHON = "python"
_MEMORY_CATEGORY = "Device Storage"
_OF_RANK = re.compile(r"rank (\d+): (.*)", re.DOTALL)


class Row(NamedTuple):
    """A row of the timeline: a thread of a device's lane, or a thread of the program.

    Attributes:
        number: Number of the row in the trace.
        process: The device, such as ``cpu/0``, or `PYTHON`; with several ranks, ``rank 1: cpu/0``.
        rank: The rank; 0 without ranks.
        name: Name of the row in the trace.
        is_device: Whether operators run in this row.
        is_program: Whether the row is a thread of the program.
        depth: Maximum nesting of spans.
    """

    number: int
    process: str
    rank: int
    name: str
    is_device: bool
    is_program: bool
    depth: int


class Span(NamedTuple):
    """An interval of a row, with the activity in it.

    Attributes:
        row: The number of the row.
        name: The activity, such as an operator.
        category: ``operator``, ``segment``, ``block``, ``api``, ``wait``, ``push`` and others.
        start_us: Microseconds after the start of the trace.
        duration_us: Duration in microseconds.
        depth: Number of enclosing spans.
        details: Further attributes, such as shapes.
    """

    row: int
    name: str
    category: str
    start_us: float
    duration_us: float
    depth: int
    details: dict[str, Any]


class Trace(NamedTuple):
    """The contents of a trace file.

    Attributes:
        rows: The rows with spans, in the order in which they are shown.
        spans: The spans, sorted by row, start and depth.
        memory: For each device, pairs of a time in microseconds and the bytes of arrays after it.
        duration_us: Time from the first event to the end of the last.
        dropped: Number of events lost to a full buffer.
    """

    rows: list[Row]
    spans: list[Span]
    memory: dict[str, list[tuple[float, int]]]
    duration_us: float
    dropped: int


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace that the profiler wrote.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: The file is not a trace.
    """
    with open_to_read(path, "profile") as file:
        text = file.read()
    try:
        content = json.loads(text)
        return _parse(content["traceEvents"], content.get("otherData", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(
            f"profile: expected a trace in {os.fspath(path)!r}, got {type(error).__name__}: {error}"
        ) from None


def _parse(events: list[dict[str, Any]], other: dict[str, Any]) -> Trace:
    named = {
        (event["name"], event["pid"], event.get("tid", 0)): event["args"]
        for event in events
        if event["ph"] == "M"
    }
    timed = [event for event in events if event["ph"] != "M"]
    start_us = min((event["ts"] for event in timed), default=0.0)
    stop_us = max((event["ts"] + event.get("dur", 0.0) for event in timed), default=0.0)
    by_row: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in timed:
        if event["ph"] == "X":
            by_row.setdefault((event["pid"], event["tid"]), []).append(event)
    rows: list[Row] = []
    spans: list[Span] = []
    for key in sorted(by_row, key=lambda key: _sort_key(key, named)):
        nested = _nested(by_row[key], start_us)
        rows.append(_row(key, named, max(span.depth for span in nested) + 1))
        spans.extend(nested)
    memory: dict[str, list[tuple[float, int]]] = {}
    for event in timed:
        if event["ph"] == "C" and event.get("cat") == _MEMORY_CATEGORY:
            curve = memory.setdefault(_process(event["pid"], named), [])
            curve.append((event["ts"] - start_us, int(event["args"]["bytes"])))
    for curve in memory.values():
        curve.sort(key=lambda point: point[0])
    return Trace(rows, spans, memory, stop_us - start_us, int(other.get("dropped", 0)))


def _sort_key(key: tuple[int, int], named: dict[Any, Any]) -> tuple[int, int, int, int, int]:
    """Return the sort key of a row: ranks in order, the program's threads last in each."""
    pid, tid = key
    rank, device = _split_rank(_process(pid, named))
    is_python = device == PYTHON
    process = int(named.get(("process_sort_index", pid, 0), {}).get("sort_index", pid))
    thread = int(named.get(("thread_sort_index", pid, tid), {}).get("sort_index", tid))
    return (rank, int(is_python), process, thread, tid)


def _process(pid: int, named: dict[Any, Any]) -> str:
    return str(named.get(("process_name", pid, 0), {}).get("name", pid))


def _split_rank(process: str) -> tuple[int, str]:
    """Return the rank in a process's name, and the rest of the name."""
    found = _OF_RANK.fullmatch(process)
    return (int(found[1]), found[2]) if found else (0, process)


def _row(key: tuple[int, int], named: dict[Any, Any], depth: int) -> Row:
    pid, tid = key
    process = _process(pid, named)
    name = str(named.get(("thread_name", pid, tid), {}).get("name", tid))
    rank, device = _split_rank(process)
    kind, _, number = device.partition("/")
    is_device = bool(kind) and number.isdecimal()
    return Row(tid, process, rank, name, is_device, device == PYTHON, depth)


def _nested(events: Iterable[dict[str, Any]], origin_us: float) -> list[Span]:
    """Return the spans of one row's events, with depths; the events are nested or disjoint."""
    spans = []
    ends: list[float] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        spans.append(
            Span(
                event["tid"],
                event["name"],
                event["cat"],
                event["ts"] - origin_us,
                event["dur"],
                len(ends),
                event.get("args", {}),
            )
        )
        ends.append(event["ts"] + event["dur"])
    return spans
