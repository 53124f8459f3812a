"""Recorder: events for traces, and their totals for tables.

Terms: a span is work of one thread between two times; an interval belongs to no thread, so
intervals may overlap; a count is the value of a counter, a mark an instant. A job is an operation
of the engine (`gluonish.profiler.events`).

Invariants: events are recorded only while `Recorder.active`. There is no lock, because handlers and
destructors that work with arrays may run anywhere: numbers are added in place, without a call
between reading and writing one. Times are in nanoseconds of `now`. At most about `MOST_EVENTS`
events are stored, some 500 bytes each; later ones are only counted, until events are dropped.
Totals continue.

Memory may be freed anywhere. So changes of memory are queued, and applied when events are read or
added.

Sources of events install their hooks when the profiler starts (`gluonish.profiler.state`), so that
they cost nothing while it does not run.

Memory over time: the live bytes on each device, as counters.

The totals also have the bytes that each operator allocated, with the enclosing scopes and Blocks.
"""

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gluonish.core.allocation_observers import observe_allocations, stop_observing_allocations
from gluonish.core.context import Context
from gluonish.core.operating_system import on_fork
from gluonish.profiler.events import TOP_LEVEL, Job, Kind, Row, Totals, TraceEvent, current_location

Key = tuple[str, str]  # category and name

MEMORY = "Device Storage"  # MXNet's category
ALLOCATIONS = "allocated bytes"
MOST_EVENTS = 1_000_000

_MOST_CHANGES = 1000  # in the queue

_LOG = logging.getLogger("gluonish")
_ENGINE_THREAD = "gluonish-engine"

# Offset from the monotonic clock to the time of day, at import.
_EPOCH_NS = time.time_ns() - time.perf_counter_ns()


START_NS = _EPOCH_NS + time.perf_counter_ns()  # origin of time in traces


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
    """Holds the `Row` of the calling thread, whose number, unlike thread ids, is never reused."""

    numbers = itertools.count()

    def __init__(self) -> None:
        name = threading.current_thread().name
        self.row = Row(next(self.numbers), name, name.startswith(_ENGINE_THREAD))


_thread = _Thread()


def this_row() -> Row:
    """Return the `Row` of the calling thread."""
    return _thread.row


class _Change(NamedTuple):
    """A change of the live bytes on a device; ``recorded`` if it is also stored as an event."""

    time_ns: int
    row: Row
    device: str
    nbytes: int
    recorded: bool
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
        "_logged",
        "_totals",
        "active",
        "dropped",
        "keeps_totals",
    )

    def __init__(self) -> None:
        self.active = False
        self.keeps_totals = False
        self.dropped = 0
        self._logged = False  # whether the warning that it is full was logged
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
        """Record work of this thread between two times.

        Args:
            category: Category of the event.
            name: Name of the event.
            start_ns: Start time, from `now`.
            stop_ns: End time.
            details: Further values to show with the event.
        """
        self._record("span", category, name, start_ns, stop_ns - start_ns, details=details)

    def interval(self, category: str, name: str, start_ns: int, stop_ns: int) -> None:
        """Record an interval that belongs to no single thread.

        Args:
            category: Category of the event.
            name: Name of the event.
            start_ns: Start time, from `now`.
            stop_ns: End time.
        """
        self._record("interval", category, name, start_ns, stop_ns - start_ns)

    def count(self, category: str, name: str, value: int) -> None:
        """Record the current value of a counter.

        Args:
            category: Category of the counter.
            name: Name of the counter.
            value: Current value.
        """
        self._record("count", category, name, now(), 0, value)

    def mark(self, category: str, name: str, scope: str) -> None:
        """Record the current instant.

        Args:
            category: Category of the marker.
            name: Name of the marker.
            scope: What the mark applies to, such as ``"process"``.
        """
        self._record("mark", category, name, now(), 0, scope=scope)

    def job(self, job: Job) -> None:
        """Record an operation that the engine ran."""
        if not self.active:
            return
        self._add(job)
        if self.keeps_totals:
            self._total(job.category, job.name, job.stop_ns - job.start_ns, True)
            for step in job.steps or ():
                self._total("operator", step.name, step.stop_ns - step.start_ns, True)
        self._log_if_full()

    def memory(self, device: str, nbytes: int, owner: str = "") -> None:
        """Record an allocation on a device, or a release.

        Args:
            device: Name of the device, such as ``"cpu/0"``.
            nbytes: Number of bytes; negative for a release.
            owner: Operator or Block that allocated the array, with the enclosing scopes.
        """
        self._changes.append(_Change(now(), _thread.row, device, nbytes, self.active, owner))
        if nbytes > 0 and len(self._changes) > _MOST_CHANGES:
            self._apply_changes()

    def forget_memory(self) -> None:
        """Reset the number of allocated bytes to 0."""
        self._apply_changes()
        self._bytes = {}

    def _record(
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
        self._log_if_full()

    def _add(self, event: TraceEvent | Job) -> None:
        """Store an event if there is space."""
        self._apply_changes()
        self._append(event)

    def _append(self, event: TraceEvent | Job) -> None:
        if len(self._events) < MOST_EVENTS:
            self._events.append(event)
        else:
            self.dropped += 1

    def _log_if_full(self) -> None:
        """Log once that events are dropped."""
        if self.dropped and not self._logged:
            self._logged = True
            _LOG.warning(
                "profiler: %d events are stored; later ones only count in the totals, until a dump "
                "with finished=True",
                MOST_EVENTS,
            )

    def _apply_changes(self) -> None:
        """Apply the queued changes of memory."""
        while True:
            try:  # no test before `popleft`: other code may run at each turn of a loop
                time_ns, row, device, nbytes, recorded, owner = self._changes.popleft()
            except IndexError:
                return
            live = self._bytes.setdefault(device, [0])
            live[0] += nbytes
            value = live[0]
            if not recorded:
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
        self._apply_changes()
        return list(self._events)

    def jobs(self) -> list[Job]:
        """Return the engine's operations recorded so far, in the order of their pushes."""
        found = [event for event in self.events() if isinstance(event, Job)]
        return sorted(found, key=lambda job: job.call)

    def drop(self, count: int, first: TraceEvent | Job | None = None) -> None:
        """Drop the first events, which were written to a file.

        Args:
            count: Number of events to drop.
            first: The expected first event: if it is gone, another writer has dropped the events,
                and nothing is dropped. None skips this check.
        """
        written = slice(0, count)
        if first is not None and not (self._events and self._events[0] is first):
            return
        del self._events[written]  # a step, with the line above
        self.dropped = 0
        self._logged = False

    def event_count(self) -> int:
        """Return the number of stored events."""
        self._apply_changes()
        return len(self._events)

    def totals(self, *, clear: bool = False) -> Mapping[Key, Totals]:
        """Return the statistics, by category and name.

        Args:
            clear: Whether to reset the statistics.
        """
        self._apply_changes()
        totals = self._totals
        if clear:
            self._totals = {}
        return {
            key: Totals(count, total, least, most, bool(is_time))
            for key, (count, total, least, most, is_time) in tuple(totals.items())
        }

    def clear(self) -> None:
        """Drop all events and statistics."""
        self._apply_changes()
        self._events = []
        self._totals = {}
        self.dropped = 0
        self._logged = False

    def reset(self) -> None:
        """Start over, empty and inactive, in a forked process."""
        self.active = False
        self._changes = deque()
        self._bytes = {}
        self.clear()


recorder = Recorder()
on_fork(after_in_child=recorder.reset)


class _Counter:
    """Observer that reports allocations to the recorder."""

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        """Record an allocation."""
        around = current_location.get(TOP_LEVEL).path
        if name:  # for memory of a Block it begins with the Block's name
            around = around.removesuffix(f"{name.partition(':')[0]}:")
        recorder.memory(_device_name(context), nbytes, around + (name or "unnamed"))

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        """Record a free."""
        recorder.memory(_device_name(context), -nbytes)


def _device_name(context: Context) -> str:
    return f"{context.device_type}/{context.device_id}"


def observe_memory() -> Callable[[], None]:
    """Start recording allocated memory; return a function that stops it."""
    recorder.forget_memory()
    counter = _Counter()
    observe_allocations(counter)
    return lambda: stop_observing_allocations(counter)
