"""StaticValues: the arrays of a plan that later calls use again."""

from typing import Any

from gluonish.core.device import Device
from gluonish.core.dtype import UINT8
from gluonish.core.memory_owners import MemoryOwner, register_memory_owner
from gluonish.core.out_of_memory import empty_or_raise
from gluonish.graph.instructions import Values
from gluonish.graph.value_layout import ValueLayout
from gluonish.ops.support.memory_layout import array_of


class StaticValues:
    """The constants of a layout on a device, and memory for the values that its prologue computes.

    Args:
        layout: The layout.
        device: The device.
        entry_count: Planned instructions and chains, each of which has an entry behind the values.
    """

    def __init__(self, layout: ValueLayout, device: Device, entry_count: int = 0) -> None:
        self._layout = layout
        self._device = device
        self._entry_count = entry_count
        self._arrays = {index: _raw(array) for index, array in layout.constants.items()}
        self._shared = {
            index: array_of(
                empty_or_raise(device, (spec.nbytes,), UINT8, "packed parameters"),
                spec,
                channels_last=index in layout.channels_last,
            )
            for index, spec in layout.shared.items()
        }

    def views(self, arena: Any, state: Any = None) -> Values:
        """Return the values behind the arguments of a call.

        Args:
            arena: Bytes, `ValueLayout.arena_nbytes` or more.
            state: Bytes of the state, where there is one.
        """
        layout = self._layout
        first = layout.argument_count
        values: Values = [None] * (layout.count - first)
        for index, raw in (*self._arrays.items(), *self._shared.items()):
            values[index - first] = raw
        # Equal views are one object: CuPy copies an input that overlaps the output, unless both
        # are the same object.
        views: dict[tuple[Any, ...], Any] = {}
        for index, slot in layout.slots.items():
            spec, last = layout.specs[index], index in layout.channels_last
            key = (slot.in_state, slot.offset, spec, last)
            if key not in views:
                space = state if slot.in_state else arena
                memory = space[slot.offset : slot.offset + slot.nbytes]
                views[key] = array_of(memory, spec, channels_last=last)
            values[index - first] = views[key]
        for index, (view, spec) in layout.strided.items():
            slot = layout.slots[view.root]
            space = state if slot.in_state else arena
            memory = space[slot.offset : slot.offset + slot.nbytes]
            values[index - first] = view.of(memory, spec.dtype)
        if self._entry_count:
            values.append([None] * self._entry_count)
        return values


def _raw(array: Any) -> Any:
    array.wait_to_read()
    return array._data


def _holder(static: StaticValues) -> list[MemoryOwner]:
    shared = list(static._shared.values())
    return [MemoryOwner(static._device.context, "packed parameters of graphs", shared)]


register_memory_owner(StaticValues, _holder)
