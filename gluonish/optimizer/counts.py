"""UpdateCounts: the update counts of weights, which rates and bias corrections depend on."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from gluonish.optimizer.settled import Settled, Steps

Index = int | str
Value = TypeVar("Value")


class PerDevice(Generic[Value]):
    """A mutable value for each device, created as a copy of an initial value."""

    def __init__(self, initial: Value, copy: Callable[[Value], Value]) -> None:
        self._initial, self._copy = initial, copy
        self._values: dict[int, Value] = {}

    def on(self, device_id: int) -> Value:
        """Return the value of a device, which may be mutated."""
        if device_id not in self._values:
            self._values[device_id] = self._copy(self._initial)
        return self._values[device_id]


class UpdateCounts:
    """Base class of `Optimizer` that counts updates for each device, under MXNet's names.

    Attributes:
        begin_num_update: Number of earlier updates.
        num_update: The maximum number of updates of a weight.
    """

    # Initial counts of a device. A class attribute, as files do not contain it and a user's
    # optimizer may define __setstate__.
    _loaded_counts: Mapping[Index, int] = MappingProxyType({})
    # Names of all attributes on which rates depend and that steps change.
    step_state: ClassVar[tuple[str, ...]] = ("num_update", "_index_update_count")
    # Steps that the device may skip; an attribute of the instance while there are any.
    _steps: Steps | None = None

    num_update = Settled[int]()
    _all_index_update_counts = Settled[dict[int, dict[Index, int]]]()
    _index_update_count = Settled[dict[Index, int]]()

    def _start_counts(self, begin: int) -> None:
        self.begin_num_update = begin
        self.num_update = begin
        # Updates per index, by device id: each device counts its copies of the weights.
        self._all_index_update_counts = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]

    def _set_current_context(self, device_id: int) -> None:
        """Switch to the counts of another device; a new one begins with the loaded counts."""
        if self._steps is not None:
            self._steps.settle()
        own = vars(self)  # without the calls of `Settled`
        counts = own["_all_index_update_counts"]
        if device_id not in counts:
            counts[device_id] = dict(self._loaded_counts)
        own["_index_update_count"] = counts[device_id]

    def _progress(self) -> dict[str, Any]:
        """Return the progress on the most advanced device as plain data.

        Returns:
            ``num_update``, and under ``weights`` a dict from index to a dict of the weight, where
            ``count`` is its number of updates. Subclasses add values that updates carry over.
        """
        every = self._all_index_update_counts
        weights = {i: {"count": every[device][i]} for i, device in self._furthest().items()}
        return {"num_update": self.num_update, "weights": weights}

    def _resume(self, progress: Mapping[str, Any]) -> None:
        """Continue from the result of `_progress` on all devices, including new ones."""
        self.num_update = progress["num_update"]
        self._loaded_counts = {
            i: facts["count"] for i, facts in progress["weights"].items() if "count" in facts
        }
        for counts in self._all_index_update_counts.values():
            counts.update(self._loaded_counts)

    def _continue_on_any_device(self) -> None:
        """Continue on all devices from the most advanced one.

        Counts and other values are stored by device id. When states move to other devices, such as
        by loading a file or `Trainer` parameters' ``reset_ctx``, no device may restart from 0.
        """
        self._resume(self._progress())

    def _furthest(self) -> dict[Index, int]:
        """Return, for each index, the device with the most updates; the first one among equals."""
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
