"""EvalMetric, the base class: sums over batches since the last local or global reset.

`update` is asynchronous: an engine operation computes a batch's sums on the device of the
predictions, and adds them to float64 totals there. Reading a sum, as `get` does, fetches the
totals.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.device import Device
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.habit_tables import METRIC
from gluonish.core.habits import add_habits
from gluonish.core.object_repr import default_repr
from gluonish.core.registry import get_alias_func, get_register_func
from gluonish.metric.totals import Totals
from gluonish.ndarray import NDArray

NameValue = tuple[str, float]
Kernel = Callable[..., None]


def check_label_shapes(
    labels: Any, preds: Any, wrap: bool = False, shape: bool = False
) -> tuple[Any, Any]:
    """Check that there are as many labels as predictions.

    Args:
        labels: One array, or a list of arrays.
        preds: One array, or a list of arrays.
        wrap: Whether to put a single NDArray into a list.
        shape: Whether to compare the shapes of two arrays instead of the lengths of two lists.

    Returns:
        ``(labels, preds)``, as lists if ``wrap`` is set.

    Raises:
        ArgumentError: The numbers, or the shapes, differ.
    """
    found = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if found[0] != found[1]:
        expected = "predictions of the labels' shape" if shape else "as many predictions as labels"
        raise ArgumentError(f"metric: expected {expected} {found[0]}, got {found[1]}")
    if wrap:
        labels = [labels] if isinstance(labels, NDArray) else labels
        preds = [preds] if isinstance(preds, NDArray) else preds
    return labels, preds


def check_average(metric: str, average: str) -> str:
    """Check ``average`` of a metric, and return it.

    Raises:
        ArgumentError: ``average`` is neither ``"macro"``, a mean over batches, nor ``"micro"``.
    """
    if average not in ("macro", "micro"):
        raise ArgumentError(f"{metric}: expected average 'macro' or 'micro', got {average!r}")
    return average


def to_host(values: Any) -> np.ndarray[Any, Any]:
    """Convert an NDArray or array-like to a NumPy array."""
    if isinstance(values, NDArray):
        return values.asnumpy()
    return np.asarray(values)


def pairs(labels: Any, preds: Any) -> list[tuple[Any, Any]]:
    """Return (label, prediction) pairs of NDArrays or NumPy arrays.

    Raises:
        ArgumentError: The numbers of predictions and labels differ.
    """
    labels, preds = check_label_shapes(labels, preds, wrap=True)
    return [(_array(label), _array(pred)) for label, pred in zip(labels, preds, strict=True)]


def weights_of(metric: str, sample_weight: Any, labels: Sequence[Any]) -> list[Any]:
    """Return weights for each array of labels, as arrays; Nones if there are no weights.

    Args:
        metric: Name of the metric's class, for messages.
        sample_weight: A list of arrays, one NDArray, or None.
        labels: The labels, whose shapes or sizes the weights have.

    Raises:
        ArgumentError: The weights do not fit the labels in number or size.
    """
    if sample_weight is None:
        return [None] * len(labels)
    many = isinstance(sample_weight, list | tuple)
    found = [_array(x) for x in (sample_weight if many else [sample_weight])]
    if len(found) != len(labels) or any(
        weight.shape not in (label.shape, label.shape[:1])
        for weight, label in zip(found, labels, strict=True)
    ):
        expected, got = ([tuple(x.shape) for x in arrays] for arrays in (labels, found))
        advice = "; put one array of weights for each array of labels into a list" if many else ""
        raise ArgumentError(
            f"{metric}: expected a weight for each sample of labels, of the shapes {expected}, got "
            f"{got}{advice}"
        )
    return found


def _array(values: Any) -> Any:
    return values if isinstance(values, NDArray) else np.asarray(values)


class _Sum:
    """Descriptor for a sum of a metric; reading the sum first fetches the totals from devices."""

    _field: str

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = f"_{name}"

    def __get__(self, metric: "EvalMetric | None", owner: type) -> Any:
        if metric is None:
            return self
        metric._fetch_pending()
        return getattr(metric, self._field)

    def __set__(self, metric: "EvalMetric", value: Any) -> None:
        metric._fetch_pending()
        setattr(metric, self._field, value)


class EvalMetric:
    """Base class of metrics; a subclass defines `update`, which adds a batch to the running sums.

    The value of a metric is a sum divided by a count. `reset_local` clears the local sum and count,
    `reset` also the global ones.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        **kwargs: The subclass's other arguments, which `get_config` returns. ``has_global_stats``:
            whether `update` maintains the global sums.

    Attributes:
        sum_metric, num_inst: Local sum and count; the metric is their quotient.
        global_sum_metric, global_num_inst: Sum and count since the last `reset`.
    """

    __repr__ = default_repr

    sum_metric = _Sum()
    num_inst = _Sum()
    global_sum_metric = _Sum()
    global_num_inst = _Sum()

    _sum_metric: float
    _num_inst: float
    _global_sum_metric: float
    _global_num_inst: float

    # Length of the totals on a device: sum, count, and additional numbers of a subclass.
    _total_count = 2

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats: bool = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self._pending: dict[Device, Totals] = {}
        self._retired: list[Totals] = []
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """Return the class name and the arguments of the metric as a dict, for `create`."""
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Add one batch of arrays by name.

        Args:
            label: Labels by name, selected by ``label_names``.
            pred: Predictions by name, selected by ``output_names``.
        """
        self.update(_select(label, self.label_names), _select(pred, self.output_names))

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: A list of label arrays, or one NDArray.
            preds: A list of as many prediction arrays, or one NDArray.

        Raises:
            NotSupportedError: The subclass does not define this method.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a subclass that defines update(labels, preds), "
            "got none"
        )

    def _tally(self, kernel: Kernel, labels: Sequence[Any], preds: Sequence[Any]) -> None:
        """Run a kernel that adds to the totals on the device of the predictions, asynchronously.

        Args:
            kernel: Called with NumPy or CuPy, the totals (a float64 vector), and the raw arrays.
            labels: NDArrays or NumPy arrays; copied from other devices if needed.
            preds: NDArrays or NumPy arrays.
        """
        arrays = (*labels, *preds)
        if not arrays:
            return
        if not all(isinstance(x, NDArray) for x in arrays):
            totals = np.zeros(self._total_count)
            kernel(np, totals, *map(to_host, arrays))
            self._absorb(totals, local=True)
            return
        device = preds[0]._device
        pending = self._pending.get(device)
        if pending is None:
            pending = self._pending[device] = Totals(device, self._total_count)
        pending.push(kernel, arrays, type(self).__name__)

    def _fetch_pending(self) -> None:
        """Fetch the pending totals from devices and add them to the sums."""
        if not self._pending and not self._retired:
            return
        pending, retired = self._pending, self._retired
        self._pending, self._retired = {}, []
        for totals in retired:
            self._absorb(totals.fetch(), local=False)
        for totals in pending.values():
            self._absorb(totals.fetch(), local=True)

    def _absorb(self, totals: np.ndarray[Any, Any], *, local: bool) -> None:
        """Add totals to the global sums, and to the local sums if ``local``."""
        self._add(float(totals[0]), int(totals[1]), local=local)

    def _add(self, total: float, count: float, *, local: bool = True) -> None:
        """Add a sum and a count to the global ones, and to the local ones if ``local``."""
        self._global_sum_metric += total
        self._global_num_inst += count
        if local:
            self._sum_metric += total
            self._num_inst += count

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copying and pickling, after fetching all totals from devices."""
        self._fetch_pending()
        return self.__dict__

    def reset(self) -> None:
        """Clear all sums, local and global."""
        self._pending, self._retired = {}, []
        self.num_inst = 0
        self.sum_metric = 0.0
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self) -> None:
        """Clear the local sums."""
        self._retired += self._pending.values()
        self._pending = {}
        self._num_inst = 0
        self._sum_metric = 0.0

    def over_ranks(self, store: Any) -> "EvalMetric":
        """Return a copy of this metric that covers the batches of all processes.

        Every process must call this method with an equal metric; all get the same value. This
        metric is not changed.

        Args:
            store: The KVStore that connects the processes, such as ``mx.kv.create("dist_sync")``.

        Raises:
            ArgumentTypeError: The store has no ``gather``.
        """
        if not hasattr(store, "gather"):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected a store with gather, got {type(store).__name__}"
            )
        found = copy.deepcopy(self)
        found._set_sums(store.gather(self._all_sums()))
        return found

    def _all_sums(self) -> Any:
        """Return all sums in a picklable form, for `_set_sums`."""
        return self.sum_metric, self.num_inst, self.global_sum_metric, self.global_num_inst

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        """Replace the sums by the totals over several metrics."""
        local, count, total, total_count = (sum(part) for part in zip(*sums_by_rank, strict=True))
        self.sum_metric, self.num_inst = local, count
        self.global_sum_metric, self.global_num_inst = total, total_count

    def get(self) -> tuple[Any, Any]:
        """Return ``(name, value)`` since the last `reset` or `reset_local`; NaN without a batch."""
        if self.num_inst == 0:
            return self.name, math.nan
        return self.name, self.sum_metric / self.num_inst

    def get_global(self) -> tuple[Any, Any]:
        """Return ``(name, value)`` since the last `reset`."""
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, math.nan
        return self.name, self.global_sum_metric / self.global_num_inst

    def get_name_value(self) -> list[NameValue]:
        """Return the result of `get` as a list of (name, value) pairs."""
        return _pairs(*self.get())

    def get_global_name_value(self) -> list[NameValue]:
        """Return the result of `get_global` as a list of (name, value) pairs."""
        return _pairs(*self.get_global())


add_habits(EvalMetric, METRIC)


def _pairs(names: Any, values: Any) -> list[NameValue]:
    names = names if isinstance(names, list) else [names]
    values = values if isinstance(values, list) else [values]
    return list(zip(names, values, strict=True))


def _select(arrays: Mapping[str, Any], names: Sequence[str] | None) -> list[Any]:
    if names is None:
        return list(arrays.values())
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ArgumentError(f"metric: expected an array {missing[0]!r}, got {sorted(arrays)}")
    return [arrays[name] for name in names]


register = get_register_func(EvalMetric, "metric")
alias = get_alias_func(EvalMetric, "metric")
