"""Traces for Perfetto and Chrome: JSON in the Trace Event Format.

Every device is a process; its rows are the threads of its lanes, and separate rows for operators
that ran in the pushing thread. The program's threads are rows of the process ``python``: pushes,
calls of Blocks and functions, waits. Domains of the program are processes, too. An arrow leads from
each push to its run.

In a job of several ranks names of processes begin with the rank, and each rank has a process for
its communication with other ranks and the work of its server.
"""

import json
import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from gluonish.core.files import atomic_write
from gluonish.kvstore.distributed.world import joined
from gluonish.profiler.events import Job, Operand, Row, Step, TraceEvent, is_of_ranks
from gluonish.profiler.ranks import (
    EXCHANGE,
    PATIENCE_S,
    PHASE,
    SERVER,
    TraceCollection,
    file_of_rank,
    send_trace,
)
from gluonish.profiler.recorder import MEMORY, START_NS

Entry = dict[str, Any]

# Scope of a mark: global, thread, or else the process.
_MARK_SCOPES = {"global": "g", "thread": "t"}
# Categories of spans on the program's threads.
_PYTHON = "python"
_OF_PYTHON = {"api", "block", "block trace", "wait"}
_COMMUNICATION = "communication"
_OF_COMMUNICATION = {EXCHANGE, PHASE, SERVER}
_EXCHANGES = "exchange"  # the kind of the lane
_MOST_PROCESSES, _MOST_ROWS, _MOST_IDS = 1000, 100_000, 10**9  # of a rank
_NS_PER_US = 1000

_LOG = logging.getLogger("gluonish")
_encode_text = json.JSONEncoder(separators=(",", ":")).encode


def write_trace(path: str, events: Iterable[TraceEvent | Job], dropped: int = 0) -> None:
    """Write events to a trace file, atomically: readers see the old or the complete new file.

    In a job of several ranks the file contains this rank's events only; see `write_together`.

    Args:
        path: Path of the file.
        events: The events, in any order.
        dropped: Number of events that were dropped.

    Raises:
        MissingFileError: The folder does not exist.
        OSError: The file cannot be written.
    """
    world = joined()
    rank = None if world is None else world.rank
    _write(path, encoded(events, rank), lambda: _other(dropped))


def write_alone(path: str, events: Iterable[TraceEvent | Job], dropped: int = 0) -> None:
    """Write this rank's trace without waiting for others; ranks other than 0 write `file_of_rank`.

    Arguments and errors are those of `write_trace`.
    """
    world = joined()
    path_of_rank = path if world is None or world.rank == 0 else str(file_of_rank(path, world.rank))
    write_trace(path_of_rank, events, dropped)


def write_together(path: str, events: Iterable[TraceEvent | Job], dropped: int = 0) -> None:
    """Write one file with the traces of all ranks that call this within a few seconds.

    Rank 0 writes it; a rank that rank 0 does not wait for writes its own file, whose name contains
    its number. Arguments and errors are those of `write_trace`.
    """
    world = joined()
    if world is None:
        write_trace(path, events, dropped)
    elif world.rank == 0:
        _write_all(path, events, dropped, TraceCollection(world))
    elif send_trace(world, partial(encoded, events, world.rank), dropped):
        file_of_rank(path, world.rank).unlink(missing_ok=True)
    else:
        path_of_rank = file_of_rank(path, world.rank)
        _LOG.warning(
            "profiler: rank 0 did not call dump within %g s; the trace of rank %d goes to %s",
            *(PATIENCE_S, world.rank, path_of_rank),
        )
        write_trace(str(path_of_rank), events, dropped)


def _write_all(
    path: str, events: Iterable[TraceEvent | Job], dropped: int, ranks: TraceCollection
) -> None:
    def other() -> Entry:
        clocks = {str(rank): clock._asdict() for rank, clock in ranks.clocks.items()}
        found = _other(dropped + ranks.dropped)
        return found | {
            "start_s": ranks.origin_ns / 1e9,
            "ranks": 1 + len(clocks),
            "clocks": clocks,
        }

    _write(path, chain(encoded(events, 0, ranks.origin_ns), ranks.traces()), other)
    if ranks.missing:
        _LOG.warning(
            "profiler: the trace lacks rank %s, which did not call dump within %g s",
            *(", ".join(map(str, ranks.missing)), PATIENCE_S),
        )


def _other(dropped: int) -> Entry:
    return {"program": "gluonish", "dropped": dropped, "start_s": START_NS / 1e9}


def _write(path: str, lines: Iterable[bytes], other: Callable[[], Entry]) -> None:
    """Write the list of events, then the other data."""
    with atomic_write(path) as file:
        file.write(b'{"traceEvents":[\n')
        first = True
        for piece in lines:
            file.write(piece if first else b",\n" + piece)
            first = False
        file.write(b'\n],"displayTimeUnit":"ms","otherData":' + _encode(other()) + b"}\n")


def encoded(
    events: Iterable[TraceEvent | Job], rank: int | None = None, origin_ns: int = START_NS
) -> Iterator[bytes]:
    """Yield the JSON of events in pieces, separated by commas.

    Args:
        events: The events, in any order.
        rank: Rank that recorded the events; None if there is only one process.
        origin_ns: Time from which times count, in nanoseconds.
    """
    rows = _Rows(rank)
    for number, event in enumerate(events, rows.first_id):
        for entry in _entries(event, number, rows):
            yield _encode({**entry, "ts": (entry["ts"] - origin_ns) / _NS_PER_US})
    yield from map(_encode, rows.names())


def _encode(entry: Entry) -> bytes:
    return _encode_text(entry).encode()


class _Rows:
    """Processes and rows of a trace, numbered in the order of their first use.

    Args:
        rank: The rank, for distinct numbers and names; None for a single process.
    """

    def __init__(self, rank: int | None) -> None:
        self._processes: dict[str, int] = {}
        self._rows: dict[tuple[int, str, Row], int] = {}
        self._prefix = "" if rank is None else f"rank {rank}: "
        self._first_process = _MOST_PROCESSES * (rank or 0) + 1
        self._first_row = _MOST_ROWS * (rank or 0) + 1
        self.first_id = _MOST_IDS * (rank or 0)

    def process(self, name: str) -> int:
        """Return the number of a process."""
        return self._processes.setdefault(name, self._first_process + len(self._processes))

    def row(self, process: str, kind: str, row: Row) -> Entry:
        """Return the numbers of a row: a thread of a process, for one kind of lane."""
        pid = self.process(process)
        tid = self._rows.setdefault((pid, kind, row), self._first_row + len(self._rows))
        return {"pid": pid, "tid": tid}

    def names(self) -> Iterator[Entry]:
        """Yield the metadata with all names."""
        order = sorted(self._processes, key=lambda name: (name != _PYTHON, "/" not in name, name))
        for name, pid in self._processes.items():
            index = self._first_process - 1 + order.index(name)
            yield _metadata("process_name", pid, 0, {"name": self._prefix + name})
            yield _metadata("process_sort_index", pid, 0, {"sort_index": index})
        workers: dict[tuple[int, str], int] = {}
        ordered = sorted(self._rows, key=lambda key: (key[0], key[1], not key[2].is_engine, key[2]))
        for index, (pid, kind, row) in enumerate(ordered):
            name = row.name
            if kind == _EXCHANGES:
                name = "with other ranks"
            elif kind and row.is_engine:
                workers[pid, kind] = workers.get((pid, kind), 0) + 1
                name = f"{kind} worker {workers[pid, kind]}"
            elif kind:
                name = f"{kind} inline in {row.name}"
            tid = self._rows[pid, kind, row]
            yield _metadata("thread_name", pid, tid, {"name": name})
            yield _metadata("thread_sort_index", pid, tid, {"sort_index": index})


def _metadata(name: str, pid: int, tid: int, args: Entry) -> Entry:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": args}


def _entries(event: TraceEvent | Job, number: int, rows: _Rows) -> Iterator[Entry]:
    """Yield the entries of an event, with ``ts`` in nanoseconds."""
    if isinstance(event, Job):
        yield from _job_entries(event, rows)
        return
    entry: Entry = {"name": event.name, "cat": event.category, "ts": event.start_ns}
    if event.kind == "count":
        is_memory = event.category == MEMORY
        process = event.name.removeprefix("Memory: ") if is_memory else event.category
        args = {"bytes" if is_memory else event.name: event.value}
        yield {**entry, "ph": "C", "pid": rows.process(process), "tid": 0, "args": args}
        return
    process, kind = _PYTHON if event.category in _OF_PYTHON else event.category, ""
    if event.category in _OF_COMMUNICATION:
        process, kind = _COMMUNICATION, "" if event.category == SERVER else _EXCHANGES
    entry |= rows.row(process, kind, event.row)
    if event.kind == "span":
        details: Entry = {"args": event.details} if event.details else {}
        yield {**entry, "ph": "X", "dur": event.duration_ns / _NS_PER_US, **details}
    elif event.kind == "interval":
        yield {**entry, "ph": "b", "id": number}
        stop_ns = event.start_ns + event.duration_ns
        yield {**entry, "ph": "e", "id": number, "ts": stop_ns}
    else:
        yield {**entry, "ph": "i", "s": _MARK_SCOPES.get(event.scope, "p")}


def _job_entries(job: Job, rows: _Rows) -> Iterator[Entry]:
    """Yield the entries of a job, its operators, its push, and the arrow from push to run."""
    device, kind = _device_and_kind(job.lane)
    run = rows.row(device, kind, job.runner)
    push = rows.row(_PYTHON, "", job.pusher)
    call = rows.first_id + job.call
    args: Entry = {"call": call, **_operands(job)}
    if job.scope:
        args["scope"] = job.scope
    if job.steps is not None:
        args["steps"] = len(job.steps)
    if job.error:
        args["error"] = job.error
    yield _span(job.name, job.category, job.start_ns, job.stop_ns, run, args)
    for step in job.steps or ():
        step_args = {"call": call, "node": step.node, **_operands(step)}
        yield _span(step.name, "operator", step.start_ns, step.stop_ns, run, step_args)
    yield _span(job.name, "push", job.push_ns, job.pushed_ns, push, {"call": call})
    flow = {"name": "push", "cat": "flow", "id": call}
    yield {**flow, "ph": "s", "ts": job.push_ns, **push}
    yield {**flow, "ph": "f", "bp": "e", "ts": job.start_ns, **run}


def _device_and_kind(lane: Hashable) -> tuple[str, str]:
    """Return the process and the kind of row for a lane's key."""
    if is_of_ranks(lane):
        return _COMMUNICATION, _EXCHANGES
    if isinstance(lane, tuple) and len(lane) == 3:
        return f"{lane[0]}/{lane[1]}", str(lane[2])
    return "engine", str(lane)


def _span(name: str, category: str, start_ns: int, stop_ns: int, row: Entry, args: Entry) -> Entry:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": start_ns,
        "dur": (stop_ns - start_ns) / _NS_PER_US,
        **row,
        "args": args,
    }


def _operands(of: Job | Step) -> Entry:
    """Return shapes, dtypes and bytes of the arrays read and written."""
    both: dict[str, Sequence[Operand]] = {"in": of.inputs, "out": of.outputs}
    return {
        "shapes": {way: [list(x.shape) for x in found] for way, found in both.items()},
        "dtypes": {way: [x.dtype for x in found] for way, found in both.items()},
        "bytes": {way: sum(x.nbytes for x in found) for way, found in both.items()},
    }
