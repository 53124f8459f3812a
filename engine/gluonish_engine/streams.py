"""GPU lanes: the interface of streams, and the launches that may still use a variable.

Launches on a lane are numbered by *stamps*: 1 for the first launch, and so on. A variable refers to
stamps, not events. An event is recorded only when another lane or the host needs one, or will need
one (`Engine.mark`); it then covers all launches since the previous event.

Invariants: all of this changes in steps (docs/engine.md), without a lock. The stamps in
``_events`` increase, none is above ``launched``; ``_finished <= launched``, and both only grow.
"""

import itertools
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, Protocol

# Maximum number of events of a lane; a later event may stand in for a dropped one.
_MOST_EVENTS = 64


class Stream(Protocol):
    """Interface of a device stream; events are opaque to the engine.

    Every method may be called from any thread and makes the device current by itself.
    """

    def launch(self, fn: Callable[[], None], name: str) -> None:
        """Run ``fn``, the operator ``name``, in this thread with device and stream current."""
        ...

    def record(self) -> Any:
        """Record and return a new event after everything launched so far."""
        ...

    def wait_event(self, event: Any) -> None:
        """Make later work of this stream wait for ``event``, without blocking the host."""
        ...

    def synchronize_event(self, event: Any) -> None:
        """Block the calling thread until ``event`` is reached; raise errors of the device."""
        ...

    def event_done(self, event: Any) -> bool:
        """Whether ``event`` has been reached, without blocking."""
        ...


class StreamLane:
    """The lane of one registered stream, which counts its launches.

    Attributes:
        launched: Stamp of the newest launch, 0 before the first.
        siblings: Lanes of other streams, used round-robin with this one.
    """

    # A stream launches in the calling thread anyway: "inline when ready" is for CPU lanes only.
    load = 1
    started = False
    is_stream = True

    def __init__(self, key: Hashable, stream: Stream) -> None:
        self.key = key
        self.stream = stream
        self.siblings: list[StreamLane] = []
        self._rotation = itertools.count()
        self.launched = 0
        self._finished = 0
        self._events: deque[tuple[int, Any]] = deque(maxlen=_MOST_EVENTS)
        self._waited: dict[StreamLane, int] = {}

    def next(self) -> "StreamLane":
        """Return the lane of the next launch: this one or a sibling, round-robin."""
        if not self.siblings:
            return self
        turn = next(self._rotation) % (len(self.siblings) + 1)
        return self.siblings[turn - 1] if turn else self

    def event_for(self, stamp: int) -> Any:
        """Return an event after launch ``stamp``, recording one if there is none yet."""
        return self._behind(stamp)[1]

    def _behind(self, stamp: int) -> tuple[int, Any]:
        """Return the first event after launch ``stamp``, preceded by the last stamp it covers."""
        for entry in list(self._events):
            if entry[0] >= stamp:
                return entry
        covered = self.launched
        made = covered, self.stream.record()
        if not self._events or covered > self._events[-1][0]:  # a step, up to the call
            self._events.append(made)
        return made

    def finished(self, stamp: int) -> bool:
        """Whether launch ``stamp`` is done, without blocking."""
        if self._finished >= stamp:
            return True
        recorded, event = self._behind(stamp)
        if not self.stream.event_done(event):
            return False
        self._note_finished(recorded)
        return True

    def synchronize(self, stamp: int) -> None:
        """Block the calling thread until launch ``stamp`` is done.

        Raises:
            Exception: The error that the device reports.
        """
        if self._finished >= stamp:
            return
        recorded, event = self._behind(stamp)
        self.stream.synchronize_event(event)
        self._note_finished(recorded)

    def wait_for(self, other: "StreamLane", stamp: int) -> None:
        """Make later launches here wait for launch ``stamp`` of another lane."""
        if self._waited.get(other, 0) >= stamp:
            return
        if other._finished < stamp:
            stamp, event = other._behind(stamp)
            self.stream.wait_event(event)
        # Overwriting another thread's higher stamp is harmless: the next launch waits once more.
        self._waited[other] = stamp

    def abandon(self) -> None:
        """Mark everything as finished: a forked child cannot reach the device."""
        self._finished = self.launched
        self._events.clear()

    def _note_finished(self, stamp: int) -> None:
        if stamp > self._finished:  # a step
            self._finished = stamp
        events = self._events
        while len(events) > 1:
            first = events[0]
            if first[0] > self._finished:
                break
            if events and events[0] is first:  # a step; another thread may have done it
                del events[0]


class StreamUse:
    """The launches that may still use a variable: the last write, and later reads by lane.

    Attributes:
        write: Lane and stamp of the last write; None without one.
        reads: Stamp of the last read by lane.
    """

    __slots__ = ("reads", "write")

    # No `__init__`, which would be a third of the cost of a use.
    write: tuple[StreamLane, int] | None
    reads: dict[StreamLane, int]

    def pending(self, write: bool) -> list[tuple[StreamLane, int]]:
        """Return the launches that a read (or, with ``write``, a write) must wait for."""
        found = [] if self.write is None else [self.write]
        if write:
            found.extend(self.reads.items())
        return found

    def precedes(self, lane: StreamLane, write: bool) -> bool:
        """Whether later launches of ``lane`` come after these without any further waiting.

        Args:
            write: Whether the next launch writes the variable.
        """
        last = self.write
        if last is not None and last[0] is not lane and lane._waited.get(last[0], 0) < last[1]:
            return False
        if not write:
            return True
        for other, stamp in tuple(self.reads.items()):
            if other is not lane and lane._waited.get(other, 0) < stamp:
                return False
        return True
