"""Writing events as a trace that Chrome and Perfetto show: JSON of the Trace Event Format."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gluonish.core.files import atomic_write
from gluonish.profiler.recorder import TraceEvent

__all__ = ["write_trace"]

Entry = dict[str, Any]

# What a mark is drawn across: all, a process, or a thread.
_MARK_SCOPES = {"global": "g", "thread": "t"}
_NS_PER_US = 1000


def write_trace(path: str, events: Iterable[TraceEvent]) -> None:
    """Write events to a file; readers see the old file or the whole new one.

    Each category is shown as a process of its own.

    Args:
        path: The file.
        events: In any order.

    Raises:
        MissingFileError: The folder does not exist.
        OSError: The file cannot be written.
    """
    categories: dict[str, int] = {}
    threads: dict[int, int] = {}
    entries = [
        entry
        for number, event in enumerate(events)
        for entry in _entries(
            event,
            number,
            categories.setdefault(event.category, len(categories)),
            threads.setdefault(event.thread, len(threads)),
        )
    ]
    names = [
        {"ph": "M", "name": "process_name", "pid": number, "args": {"name": category}}
        for category, number in categories.items()
    ]
    encoder = json.JSONEncoder(separators=(",", ":"))
    with atomic_write(path) as file:
        file.write(b'{"traceEvents":[\n')
        separator = b""
        for entry in names + entries:
            file.write(separator + encoder.encode(entry).encode())
            separator = b",\n"
        file.write(b'\n],"displayTimeUnit":"ms"}\n')


def _entries(event: TraceEvent, number: int, pid: int, tid: int) -> Iterator[Entry]:
    """Give what stands in the file for an event; times are in microseconds."""
    entry: Entry = {
        "name": event.name,
        "cat": event.category,
        "ts": event.start_ns / _NS_PER_US,
        "pid": pid,
        "tid": tid,
    }
    if event.kind == "span":
        yield {**entry, "ph": "X", "dur": event.duration_ns / _NS_PER_US}
    elif event.kind == "interval":
        yield {**entry, "ph": "b", "id": number}
        stop = (event.start_ns + event.duration_ns) / _NS_PER_US
        yield {**entry, "ph": "e", "id": number, "ts": stop}
    elif event.kind == "count":
        yield {**entry, "ph": "C", "args": {event.name: event.value}}
    else:
        yield {**entry, "ph": "i", "s": _MARK_SCOPES.get(event.scope, "p")}
