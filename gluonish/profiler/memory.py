"""Memory over time: the bytes of arrays that live on each device, as counters.

The totals also have how many bytes each operator asked for, under the scopes and Blocks around it.
"""

from collections.abc import Callable

from gluonish.core.allocation_observers import observe_allocations, stop_observing_allocations
from gluonish.core.context import Context
from gluonish.profiler.recorder import recorder
from gluonish.profiler.scopes import NOWHERE, current_place


class _Counter:
    """Tells the recorder of each array that begins or ends.

    Counted are arrays that began while it watches: results, parameters, arenas.
    """

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        """Count an array; ``name`` is who asked."""
        around = current_place.get(NOWHERE).path
        if name:  # that of a Block's memory begins with the Block's
            around = around.removesuffix(f"{name.partition(':')[0]}:")
        recorder.memory(_device_name(context), nbytes, around + (name or "unnamed"))

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        """Count it off."""
        recorder.memory(_device_name(context), -nbytes)


def _device_name(context: Context) -> str:
    return f"{context.device_type}/{context.device_id}"


def observe_memory() -> Callable[[], None]:
    """Start recording allocated memory; return a function that stops it."""
    recorder.forget_memory()
    counter = _Counter()
    observe_allocations(counter)
    return lambda: stop_observing_allocations(counter)
