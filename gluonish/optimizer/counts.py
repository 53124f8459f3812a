"""UpdateCounts: how often each weight was updated, by which rates and corrections go."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, TypeVar

Index = int | str
Value = TypeVar("Value")


class PerDevice(Generic[Value]):
    """What an optimizer remembers of updates on each device.

    Args:
        first: What each device begins with, which is not changed.
        copy: Copies it.
    """

    def __init__(self, first: Value, copy: Callable[[Value], Value]) -> None:
        self._first, self._copy = first, copy
        self._values: dict[int, Value] = {}

    def on(self, device_id: int) -> Value:
        """Return the value of a device, to be changed in place."""
        if device_id not in self._values:
            self._values[device_id] = self._copy(self._first)
        return self._values[device_id]


class UpdateCounts:
    """What an `Optimizer` counts, under MXNet's names, and how it goes on elsewhere.

    Attributes:
        begin_num_update: Number of updates that were made before.
        num_update: The largest number of updates of a weight.
    """

    # Counts with which a device begins. A class attribute, as files do not have it and a user's
    # optimizer may define __setstate__.
    _loaded_counts: Mapping[Index, int] = MappingProxyType({})

    def _start_counts(self, begin: int) -> None:
        self.begin_num_update = begin
        self.num_update = begin
        # Updates per index, for each device number: every device counts its own copies.
        self._all_index_update_counts: dict[int, dict[Index, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]

    def _set_current_context(self, device_id: int) -> None:
        """Count updates for another device from now on; a new one goes on where a file left off."""
        counts = self._all_index_update_counts
        if device_id not in counts:
            counts[device_id] = dict(self._loaded_counts)
        self._index_update_count = counts[device_id]

    def _progress(self) -> dict[str, Any]:
        """Return how far updates have come on the device that is furthest, as plain data.

        Returns:
            ``num_update``, and under ``weights`` from index to what is known of a weight: ``count``
            is the number of its updates. Subclasses add what goes on from one update to the next.
        """
        every = self._all_index_update_counts
        weights = {i: {"count": every[device][i]} for i, device in self._furthest().items()}
        return {"num_update": self.num_update, "weights": weights}

    def _resume(self, progress: Mapping[str, Any]) -> None:
        """Go on from what `_progress` returned, on any device, also on those not seen yet."""
        self.num_update = progress["num_update"]
        self._loaded_counts = {
            i: known["count"] for i, known in progress["weights"].items() if "count" in known
        }
        for counts in self._all_index_update_counts.values():
            counts.update(self._loaded_counts)

    def _continue_on_any_device(self) -> None:
        """Have all devices go on from the furthest one.

        Counts, and what else is kept for each device, bear device numbers. When states move to
        other devices, as a file is loaded or a Trainer's parameters are reset, none may begin anew.
        """
        self._resume(self._progress())

    def _furthest(self) -> dict[Index, int]:
        """Return the device that has updated each index most often; the first of equal ones."""
        every, found = self._all_index_update_counts, dict[Index, int]()
        for device, counts in every.items():
            for index, count in counts.items():
                if index not in found or count > every[found[index]][index]:
                    found[index] = device
        return found

    def _update_count(self, index: Index | Sequence[Index]) -> None:
        """Count an update of these indices on the current device."""
        indices: Sequence[Index] = [index] if isinstance(index, int | str) else index
        counts = self._index_update_count
        for i in indices:
            counts[i] = counts.get(i, self.begin_num_update) + 1
            self.num_update = max(counts[i], self.num_update)
