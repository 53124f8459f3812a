"""Recorder: what happened when, for traces, and how long in sum, for tables.

Terms: a span is what a thread did from one time to another; an interval is the same of no thread in
particular, so that intervals may overlap; a count is the value of a counter, a mark an instant.

Invariants: events are kept only while `Recorder.active`, which is read without the lock. The lock
guards the events and the totals; nothing is called out to while it is held. A time is in
nanoseconds of `now`.

Whoever records further kinds of events calls these methods, and installs its hooks when the
profiler starts (`gluonish.profiler.state`), so that nothing is spent while it does not run.
"""

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

__all__ = ["Recorder", "Totals", "TraceEvent", "now", "recorder"]

Kind = Literal["span", "interval", "count", "mark"]
Key = tuple[str, str]  # category and name

# Monotonic, and yet a time of day: what the clocks differed by when the module was imported.
_EPOCH_NS = time.time_ns() - time.perf_counter_ns()


def now() -> int:
    """Return the time in nanoseconds since 1970, by a clock that is never set back."""
    return _EPOCH_NS + time.perf_counter_ns()


class TraceEvent(NamedTuple):
    """Something that happened.

    Attributes:
        kind: What it is; see the module.
        category: What it belongs to, such as a domain.
        name: Its name.
        start_ns: When it was, or began.
        duration_ns: How long it took.
        thread: Identifier of the thread that recorded it.
        value: Of a count.
        scope: Of a mark: what it is for, such as ``"process"``.
    """

    kind: Kind
    category: str
    name: str
    start_ns: int
    duration_ns: int
    thread: int
    value: int = 0
    scope: str = ""


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

    def with_one(self, amount: int) -> "Totals":
        """Return the totals with one event more."""
        return replace(
            self,
            count=self.count + 1,
            total=self.total + amount,
            least=min(self.least, amount),
            most=max(self.most, amount),
        )


class Recorder:
    """Keeps events and their totals.

    Attributes:
        active: Whether events are kept.
        keeps_totals: Whether totals are kept as well.
    """

    __slots__ = ("_events", "_lock", "_totals", "active", "keeps_totals")

    def __init__(self) -> None:
        self.active = False
        self.keeps_totals = False
        self._events: list[TraceEvent] = []
        self._totals: dict[Key, Totals] = {}
        self._lock = threading.Lock()

    def span(self, category: str, name: str, start_ns: int, stop_ns: int) -> None:
        """Keep what this thread did from one time to another."""
        self._keep("span", category, name, start_ns, stop_ns - start_ns)

    def interval(self, category: str, name: str, start_ns: int, stop_ns: int) -> None:
        """Keep what lasted from one time to another, whichever threads took part."""
        self._keep("interval", category, name, start_ns, stop_ns - start_ns)

    def count(self, category: str, name: str, value: int) -> None:
        """Keep the value of a counter."""
        self._keep("count", category, name, now(), 0, value)

    def mark(self, category: str, name: str, scope: str) -> None:
        """Keep that something happened now."""
        self._keep("mark", category, name, now(), 0, scope=scope)

    def _keep(
        self,
        kind: Kind,
        category: str,
        name: str,
        start_ns: int,
        duration_ns: int,
        value: int = 0,
        scope: str = "",
    ) -> None:
        if not self.active:
            return
        thread = threading.get_ident()
        event = TraceEvent(kind, category, name, start_ns, duration_ns, thread, value, scope)
        with self._lock:
            self._events.append(event)
            if self.keeps_totals and kind != "mark":
                amount = value if kind == "count" else duration_ns
                old = self._totals.get((category, name))
                self._totals[category, name] = (
                    Totals(1, amount, amount, amount, kind != "count")
                    if old is None
                    else old.with_one(amount)
                )

    def events(self) -> list[TraceEvent]:
        """Return what was kept so far."""
        with self._lock:
            return list(self._events)

    def drop(self, count: int) -> None:
        """Forget the first events, which were written."""
        with self._lock:
            del self._events[:count]

    def event_count(self) -> int:
        """Return how many events are kept."""
        return len(self._events)

    def totals(self, *, clear: bool = False) -> Mapping[Key, Totals]:
        """Return the totals by category and name.

        Args:
            clear: Whether to begin anew.
        """
        with self._lock:
            found = dict(self._totals)
            if clear:
                self._totals = {}
            return found

    def forget(self) -> None:
        """Begin anew, inactive; for a forked process, in which no other thread holds the lock."""
        self._lock = threading.Lock()
        self.active = False
        self._events = []
        self._totals = {}


recorder = Recorder()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=recorder.forget)
