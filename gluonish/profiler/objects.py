"""Events that a program records: tasks, frames, events, counters and markers."""

import threading
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.profiler.recorder import now, recorder

_MARK_SCOPES = ("global", "process", "thread", "task", "marker")


class Domain:
    """A named part of a program, with its own tasks, frames, counters and markers in the trace.

    Args:
        name: Name of the domain.

    Example:
        >>> import gluonish as mx
        >>> domain = mx.profiler.Domain("training")
        >>> loss = domain.new_counter("loss x 1000")
        >>> with_task = domain.new_task("augmentation")
        >>> with_task.start()
        >>> loss.set_value(1250)
        >>> with_task.stop()  # recorded if the profiler runs
    """

    __repr__ = default_repr

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> "Task":
        """Return a new `Task` of this domain.

        Args:
            name: Name of the task.
        """
        return Task(self, name)

    def new_frame(self, name: str) -> "Frame":
        """Return a new `Frame` of this domain.

        Args:
            name: Name of the frame.
        """
        return Frame(self, name)

    def new_counter(self, name: str, value: float | None = None) -> "Counter":
        """Return a new `Counter` of this domain.

        Args:
            name: Name of the counter.
            value: Initial value; None for 0.
        """
        return Counter(self, name, value)

    def new_marker(self, name: str) -> "Marker":
        """Return a new `Marker` of this domain.

        Args:
            name: Name of the marker.
        """
        return Marker(self, name)


def _domain_name(class_name: str, domain: Domain) -> str:
    if not isinstance(domain, Domain):
        raise ArgumentTypeError(f"{class_name}: expected a Domain, got {type(domain).__name__}")
    return domain.name


class _Timer:
    """Base class of timed events, which are recorded if the profiler runs at start and at stop."""

    __repr__ = default_repr

    _is_of_thread = False

    def __init__(self, category: str, name: str) -> None:
        self.name = name
        self._category = category
        # Start time by thread id; under 0 for an event that belongs to no thread.
        self._started: dict[int, int] = {}

    def __str__(self) -> str:
        return self.name

    def _key(self) -> int:
        return threading.get_ident() if self._is_of_thread else 0

    def start(self) -> None:
        """Start timing, again if it was started already."""
        if recorder.active:
            self._started[self._key()] = now()
        else:
            self._started.pop(self._key(), None)

    def stop(self) -> None:
        """Stop timing and record the duration; does nothing if it was not started."""
        began = self._started.pop(self._key(), None)
        if began is not None:
            recorder.interval(self._category, self.name, began, now())


class Task(_Timer):
    """A timed piece of work; it may move between threads and overlap other tasks.

    Args:
        domain: The `Domain` it belongs to.
        name: Name of the task.
    """

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(_domain_name("Task", domain), name)


class Frame(_Timer):
    """One timed pass through a loop, such as a batch.

    Args:
        domain: The `Domain` it belongs to.
        name: Name of the frame.
    """

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(f"{_domain_name('Frame', domain)},frame", name)


class Event(_Timer):
    """Timed work of one thread; each thread that starts it has its own times.

    Args:
        name: Name of the event.
    """

    _is_of_thread = True

    def __init__(self, name: str) -> None:
        super().__init__("event", name)


class Counter:
    """An integer whose value over time appears in the trace.

    ``counter += n`` and ``counter -= n`` change it, too.

    Args:
        domain: The `Domain` it belongs to.
        name: Name of the counter.
        value: Initial value; None for 0, which is not recorded.
    """

    __repr__ = default_repr

    def __init__(self, domain: Domain, name: str, value: float | None = None) -> None:
        self.name = name
        self._category = _domain_name("Counter", domain)
        self._value = 0
        if value is not None:
            self.set_value(value)

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: float) -> None:
        """Set the value.

        Args:
            value: The new value; fractions are truncated.
        """
        number = _integer(value)
        self._value = number
        recorder.count(self._category, self.name, number)

    def increment(self, delta: float = 1) -> None:
        """Add to the value.

        Args:
            delta: The number to add; fractions are truncated.
        """
        change = _integer(delta)
        self._value += change  # a step, with the line below
        number = self._value
        recorder.count(self._category, self.name, number)

    def decrement(self, delta: float = 1) -> None:
        """Subtract from the value.

        Args:
            delta: The number to subtract; fractions are truncated.
        """
        self.increment(-_integer(delta))

    def __iadd__(self, delta: float) -> "Counter":
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> "Counter":
        self.decrement(delta)
        return self


class Marker:
    """Marks instants in the trace.

    Args:
        domain: The `Domain` it belongs to.
        name: Name of the marker.
    """

    __repr__ = default_repr

    def __init__(self, domain: Domain, name: str) -> None:
        self.name = name
        self.domain = domain
        self._category = f"{_domain_name('Marker', domain)},instant_marker"

    def mark(self, scope: str = "process") -> None:
        """Record the current instant.

        Args:
            scope: What the mark applies to in the trace viewer: ``"global"``, ``"process"``,
                ``"thread"``, ``"task"`` or ``"marker"``.

        Raises:
            ArgumentError: ``scope`` is not one of those.
        """
        if scope not in _MARK_SCOPES:
            raise ArgumentError(f"Marker.mark: expected one of {_MARK_SCOPES}, got {scope!r}")
        recorder.mark(self._category, self.name, scope)


def _integer(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"Counter: expected a number, got {value!r}") from error
