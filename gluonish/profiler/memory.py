"""Memory over time: the live bytes on each device, as counters.

The totals also have the bytes that each operator allocated, with the enclosing scopes and Blocks.
"""

from collections.abc import Callable

from gluonish.core.allocation_observers import observe_allocations, stop_observing_allocations
from gluonish.core.context import Context
from gluonish.profiler.recorder import recorder
from gluonish.profiler.scopes import TOP_LEVEL, current_location


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
