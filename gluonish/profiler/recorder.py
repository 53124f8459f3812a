"""Recorder: what happened when, for traces, and how long in sum, for tables.

Terms: a span is what a thread did from one time to another; an interval is the same of no thread in
particular, so that intervals may overlap; a count is the value of a counter, a mark an instant. A
job is what the engine ran (`gluonish.profiler.events`).

Invariants: events are kept only while `Recorder.active`. There is no lock, as a handler or a
destructor that works with arrays may come anywhere: numbers are added in place, with no call
between reading and writing one. A time is in nanoseconds of `now`. About `MOST_EVENTS` are kept at
most, some 500 bytes each; what comes after is counted and forgotten, until events are dropped.
Totals go on.

Changes of memory come at any moment. So they only go on a queue, and whoever looks at the events or
adds one works it off.

Whoever records further kinds of events calls these methods, and installs its hooks when the
profiler starts (`gluonish.profiler.state`), so that nothing is spent while it does not run.
"""

import itertools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from gluonish.profiler.events import Job, Kind, Row, Totals, TraceEvent

Key = tuple[str, str]  # category and name

MEMORY = "Device Storage"  # MXNet's category
ALLOCATIONS = "allocated bytes"
MOST_EVENTS = 1_000_000

_MOST_CHANGES = 1000  # that wait to be counted

_LOG = logging.getLogger("gluonish")
_ENGINE_THREAD = "gluonish-engine"

# Monotonic, and yet a time of day: what the clocks differed by when the module was imported.
_EPOCH_NS = time.time_ns() - time.perf_counter_ns()


START_NS = _EPOCH_NS + time.perf_counter_ns()  # what traces count from


def now() -> int:
    """Return the time in nanoseconds since 1970, from a clock that never goes backwards."""
    return _EPOCH_NS + time.perf_counter_ns()


def from_counter(time_ns: int) -> int:
    """Convert a time of ``time.perf_counter_ns`` to the scale of `now`.

    Args:
        time_ns: Time in nanoseconds.
    """
    return _EPOCH_NS + time_ns


class _Thread(threading.local):
    """The row of the calling thread. Identifiers of threads are used again, these are not."""

    numbers = itertools.count()

    def __init__(self) -> None:
        name = threading.current_thread().name
        self.row = Row(next(self.numbers), name, name.startswith(_ENGINE_THREAD))


_thread = _Thread()


def this_row() -> Row:
    """Return the `Row` of the calling thread."""
    return _thread.row


class _Change(NamedTuple):
    """A change of the bytes that live on a device; ``kept``: whether it is an event, too."""

    time_ns: int
    row: Row
    device: str
    nbytes: int
    kept: bool
    owner: str


class Recorder:
    """Stores events and their statistics.

    Attributes:
        active: Whether events are recorded.
        keeps_totals: Whether statistics are collected, too.
        dropped: Number of events lost because the recorder was full, since it was last emptied.
    """

    __slots__ = (
        "_bytes",
        "_changes",
        "_events",
        "_told",
        "_totals",
        "active",
        "dropped",
        "keeps_totals",
    )

    def __init__(self) -> None:
        self.active = False
        self.keeps_totals = False
        self.dropped = 0
        self._told = False  # whether the log says that it is full
        self._events: list[TraceEvent | Job] = []
        self._totals: dict[Key, list[int]] = {}  # count, sum, least, most, whether of times
        self._changes: deque[_Change] = deque()
        self._bytes: dict[str, list[int]] = {}  # one number each

    def span(
        self,
        category: str,
        name: str,
        start_ns: int,
        stop_ns: int,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Record what this thread did between two times.

        Args:
            category: Category of the event.
            name: Name of the event.
            start_ns: Start time, as `now` gives it.
            stop_ns: End time.
            details: Further values to show with it.
        """
        self._keep("span", category, name, start_ns, stop_ns - start_ns, details=details)

    def interval(self, category: str, name: str, start_ns: int, stop_ns: int) -> None:
        """Record an interval that belongs to no single thread.

        Args:
            category: Category of the event.
            name: Name of the event.
            start_ns: Start time, as `now` gives it.
            stop_ns: End time.
        """
        self._keep("interval", category, name, start_ns, stop_ns - start_ns)

    def count(self, category: str, name: str, value: int) -> None:
        """Record the current value of a counter.

        Args:
            category: Category of the counter.
            name: Name of the counter.
            value: Its value.
        """
        self._keep("count", category, name, now(), 0, value)

    def mark(self, category: str, name: str, scope: str) -> None:
        """Record the current instant.

        Args:
            category: Category of the marker.
            name: Name of the marker.
            scope: What the mark applies to, such as ``"process"``.
        """
        self._keep("mark", category, name, now(), 0, scope=scope)

    def job(self, job: Job) -> None:
        """Record an operation that the engine ran.

        Args:
            job: The operation.
        """
        if not self.active:
            return
        self._add(job)
        if self.keeps_totals:
            self._total(job.category, job.name, job.stop_ns - job.start_ns, True)
            for step in job.steps or ():
                self._total("operator", step.name, step.stop_ns - step.start_ns, True)
        self._tell_if_full()

    def memory(self, device: str, nbytes: int, owner: str = "") -> None:
        """Record an allocation on a device, or the release of one; a release takes no lock.

        Args:
            device: Name of the device, such as ``"cpu/0"``.
            nbytes: Number of bytes; negative for a release.
            owner: Who allocated the array, with the enclosing scopes; a key of the statistics.
        """
        self._changes.append(_Change(now(), _thread.row, device, nbytes, self.active, owner))
        if nbytes > 0 and len(self._changes) > _MOST_CHANGES:
            self._work_off()

    def forget_memory(self) -> None:
        """Reset the number of allocated bytes to 0."""
        self._work_off()
        self._bytes = {}

    def _keep(
        self,
        kind: Kind,
        category: str,
        name: str,
        start_ns: int,
        duration_ns: int,
        value: int = 0,
        scope: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        if not self.active:
            return
        row = _thread.row
        event = TraceEvent(kind, category, name, start_ns, duration_ns, row, value, scope, details)
        self._add(event)
        if self.keeps_totals and kind != "mark":
            is_time = kind != "count"
            self._total(category, name, duration_ns if is_time else value, is_time)
        self._tell_if_full()

    def _add(self, event: TraceEvent | Job) -> None:
        """Keep an event if there is room."""
        self._work_off()
        self._append(event)

    def _append(self, event: TraceEvent | Job) -> None:
        if len(self._events) < MOST_EVENTS:
            self._events.append(event)
        else:
            self.dropped += 1

    def _tell_if_full(self) -> None:
        """Say once that events are dropped."""
        if self.dropped and not self._told:
            self._told = True
            _LOG.warning(
                "profiler: %d events are kept; later ones go to the totals only, until a dump with "
                "finished=True",
                MOST_EVENTS,
            )

    def _work_off(self) -> None:
        """Make counts of the changes of memory."""
        while True:
            try:  # a loop turns where others may come: no look before it is taken out
                time_ns, row, device, nbytes, kept, owner = self._changes.popleft()
            except IndexError:
                return
            live = self._bytes.setdefault(device, [0])
            live[0] += nbytes
            value = live[0]
            if not kept:
                continue
            name = f"Memory: {device}"
            self._append(TraceEvent("count", MEMORY, name, time_ns, 0, row, value))
            if self.keeps_totals:
                self._total(MEMORY, name, value, False)
                if owner:
                    self._total(ALLOCATIONS, f"{device} {owner}", nbytes, False)

    def _total(self, category: str, name: str, amount: int, is_time: bool) -> None:
        sums = self._totals.setdefault((category, name), [0, 0, amount, amount, is_time])
        sums[0] += 1
        sums[1] += amount
        if amount < sums[2]:
            sums[2] = amount
        if amount > sums[3]:
            sums[3] = amount

    def events(self) -> list[TraceEvent | Job]:
        """Return the events recorded so far, in the order in which they ended."""
        self._work_off()
        return list(self._events)

    def jobs(self) -> list[Job]:
        """Return the engine's operations recorded so far, in the order of their pushes."""
        found = [event for event in self.events() if isinstance(event, Job)]
        return sorted(found, key=lambda job: job.call)

    def drop(self, count: int, first: TraceEvent | Job | None = None) -> None:
        """Drop the first events, which were written to a file.

        Args:
            count: Number of events to drop.
            first: The first of them; if another event is first by now, nothing is dropped, because
                another writer already did it. None drops whatever is first.
        """
        whole = slice(0, count)
        if first is not None and not (self._events and self._events[0] is first):
            return
        del self._events[whole]  # a step, with the line above
        self.dropped = 0
        self._told = False

    def event_count(self) -> int:
        """Return the number of stored events."""
        self._work_off()
        return len(self._events)

    def totals(self, *, clear: bool = False) -> Mapping[Key, Totals]:
        """Return the statistics, by category and name.

        Args:
            clear: Whether to reset them.
        """
        self._work_off()
        kept = self._totals
        if clear:
            self._totals = {}
        return {
            key: Totals(count, total, least, most, bool(is_time))
            for key, (count, total, least, most, is_time) in tuple(kept.items())
        }

    def clear(self) -> None:
        """Drop all events and statistics."""
        self._work_off()
        self._events = []
        self._totals = {}
        self.dropped = 0
        self._told = False

    def forget(self) -> None:
        """Start over, empty and inactive, in a forked process."""
        self.active = False
        self._changes = deque()
        self._bytes = {}
        self.clear()


recorder = Recorder()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=recorder.forget)
