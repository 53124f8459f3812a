"""Writing events as a trace that Perfetto and Chrome show: JSON of the Trace Event Format.

Every device is a process; its rows are the threads of its lanes, and what ran in the thread that
pushed it has a row beside those. The program's threads are rows of the process ``python``: pushes,
calls of Blocks and functions, waits. Domains of the program's own are processes, too. An arrow
leads from each push to its run.
"""

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from gluonish.core.files import atomic_write
from gluonish.profiler.events import Job, Operand, Row, Step, TraceEvent
from gluonish.profiler.recorder import MEMORY, START_NS

__all__ = ["write_trace"]

Entry = dict[str, Any]

# What a mark is drawn across: all, a process, or a thread.
_MARK_SCOPES = {"global": "g", "thread": "t"}
# Spans of these are what the program's threads do.
_PYTHON = "python"
_OF_PYTHON = {"api", "block", "block trace", "wait"}
_NS_PER_US = 1000


def write_trace(path: str, events: Iterable[TraceEvent | Job], dropped: int = 0) -> None:
    """Write events to a file; readers see the old file or the whole new one.

    Args:
        path: The file.
        events: In any order.
        dropped: How many there were besides.

    Raises:
        MissingFileError: The folder does not exist.
        OSError: The file cannot be written.
    """
    rows = _Rows()
    encode = json.JSONEncoder(separators=(",", ":")).encode
    with atomic_write(path) as file:
        file.write(b'{"traceEvents":[\n')
        for number, event in enumerate(events):
            for entry in _entries(event, number, rows):
                file.write(encode(entry).encode() + b",\n")
        names = [encode(entry) for entry in rows.names()]
        file.write(",\n".join(names).encode())
        other = {"program": "gluonish", "dropped": dropped, "start_s": START_NS / 1e9}
        file.write(b'\n],"displayTimeUnit":"ms","otherData":' + encode(other).encode() + b"}\n")


class _Rows:
    """Processes and rows of a trace, numbered as they come."""

    def __init__(self) -> None:
        self._processes: dict[str, int] = {}
        self._rows: dict[tuple[int, str, Row], int] = {}

    def process(self, name: str) -> int:
        """Return the number of a process."""
        return self._processes.setdefault(name, len(self._processes) + 1)

    def place(self, process: str, kind: str, row: Row) -> Entry:
        """Return a row: a process's thread, for one kind of lane."""
        pid = self.process(process)
        tid = self._rows.setdefault((pid, kind, row), len(self._rows) + 1)
        return {"pid": pid, "tid": tid}

    def names(self) -> Iterator[Entry]:
        """Give what names them all."""
        order = sorted(self._processes, key=lambda name: (name != _PYTHON, "/" not in name, name))
        for name, pid in self._processes.items():
            yield _metadata("process_name", pid, 0, {"name": name})
            yield _metadata("process_sort_index", pid, 0, {"sort_index": order.index(name)})
        workers: dict[tuple[int, str], int] = {}
        ordered = sorted(self._rows, key=lambda key: (key[0], key[1], not key[2].is_engine, key[2]))
        for index, (pid, kind, row) in enumerate(ordered):
            name = row.name
            if kind and row.is_engine:
                workers[pid, kind] = workers.get((pid, kind), 0) + 1
                name = f"{kind} worker {workers[pid, kind]}"
            elif kind:
                name = f"{kind} inline in {row.name}"
            tid = self._rows[pid, kind, row]
            yield _metadata("thread_name", pid, tid, {"name": name})
            yield _metadata("thread_sort_index", pid, tid, {"sort_index": index})


def _metadata(name: str, pid: int, tid: int, args: Entry) -> Entry:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": args}


def _us(time_ns: int) -> float:
    """Return a time in microseconds since the recorder's start, so that no digit is lost."""
    return (time_ns - START_NS) / _NS_PER_US


def _entries(event: TraceEvent | Job, number: int, rows: _Rows) -> Iterator[Entry]:
    """Give what stands in the file for an event."""
    if isinstance(event, Job):
        yield from _job_entries(event, rows)
        return
    entry: Entry = {"name": event.name, "cat": event.category, "ts": _us(event.start_ns)}
    if event.kind == "count":
        is_memory = event.category == MEMORY
        process = event.name.removeprefix("Memory: ") if is_memory else event.category
        args = {"bytes" if is_memory else event.name: event.value}
        yield {**entry, "ph": "C", "pid": rows.process(process), "tid": 0, "args": args}
        return
    process = _PYTHON if event.category in _OF_PYTHON else event.category
    entry |= rows.place(process, "", event.row)
    if event.kind == "span":
        yield {**entry, "ph": "X", "dur": event.duration_ns / _NS_PER_US}
    elif event.kind == "interval":
        yield {**entry, "ph": "b", "id": number}
        stop_ns = event.start_ns + event.duration_ns
        yield {**entry, "ph": "e", "id": number, "ts": _us(stop_ns)}
    else:
        yield {**entry, "ph": "i", "s": _MARK_SCOPES.get(event.scope, "p")}


def _job_entries(job: Job, rows: _Rows) -> Iterator[Entry]:
    """Give a job, its operators, its push and the arrow between."""
    device, kind = _device_and_kind(job.lane)
    run = rows.place(device, kind, job.runner)
    push = rows.place(_PYTHON, "", job.pusher)
    args: Entry = {"call": job.call, **_operands(job)}
    if job.scope:
        args["scope"] = job.scope
    if job.steps is not None:
        args["steps"] = len(job.steps)
    if job.error:
        args["error"] = job.error
    yield _span(job.name, job.category, job.start_ns, job.stop_ns, run, args)
    for step in job.steps or ():
        own = {"call": job.call, "node": step.node, **_operands(step)}
        yield _span(step.name, "operator", step.start_ns, step.stop_ns, run, own)
    yield _span(job.name, "push", job.push_ns, job.pushed_ns, push, {"call": job.call})
    flow = {"name": "push", "cat": "flow", "id": job.call}
    yield {**flow, "ph": "s", "ts": _us(job.push_ns), **push}
    yield {**flow, "ph": "f", "bp": "e", "ts": _us(job.start_ns), **run}


def _device_and_kind(lane: Hashable) -> tuple[str, str]:
    """Return the process and the kind of row for a lane's key."""
    if isinstance(lane, tuple) and len(lane) == 3:
        return f"{lane[0]}/{lane[1]}", str(lane[2])
    return "engine", str(lane)


def _span(
    name: str, category: str, start_ns: int, stop_ns: int, place: Entry, args: Entry
) -> Entry:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": _us(start_ns),
        "dur": (stop_ns - start_ns) / _NS_PER_US,
        **place,
        "args": args,
    }


def _operands(of: Job | Step) -> Entry:
    """Return shapes, dtypes and bytes of what is read and written."""
    both: dict[str, Sequence[Operand]] = {"in": of.inputs, "out": of.outputs}
    return {
        "shapes": {way: [list(x.shape) for x in found] for way, found in both.items()},
        "dtypes": {way: [x.dtype for x in found] for way, found in both.items()},
        "bytes": {way: sum(x.nbytes for x in found) for way, found in both.items()},
    }
