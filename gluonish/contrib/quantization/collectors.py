"""Collectors of layer outputs on calibration data."""

import inspect
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.core.progress import progress_bar
from gluonish.io import DataBatch, DataIter
from gluonish.ndarray import NDArray
from gluonish.ndarray import contrib as nd_contrib
from gluonish.ndarray.creation import array

Histogram = tuple[Any, Any, float, float, float]


class Collector(Protocol):
    """The interface of a custom collector."""

    min_max_dict: dict[str, tuple[float, float]]
    collect: Callable[..., None]


class CalibrationCollector:
    """Base class of collectors; a custom one overrides `collect`, which fills ``min_max_dict``.

    Attributes:
        include_layer: Names of the outputs to collect; None for all.
        min_max_dict: Dict from output name to the range (min, max) to quantize.
    """

    __repr__ = default_repr

    def __init__(self) -> None:
        self.include_layer: list[str] | None = None
        self.min_max_dict: dict[str, tuple[float, float]] = {}

    def collect(self, name: str, op_name: Any, arr: Any = None) -> None:
        """Process an output of a layer for one batch; subclasses define this.

        A subclass may define ``collect(name, arr)``, as in MXNet 1.9, or, as in 2.0,
        ``collect(name, op_name, arr)``.

        Args:
            name: Name of the output.
            op_name: Name of the operator; may be left out, so that ``arr`` is the second argument.
            arr: Values of the output, an NDArray.
        """
        raise NotImplementedError

    def post_collect(self) -> dict[str, tuple[float, float]]:
        """Return the range (min, max) of each collected output, by name."""
        return self.min_max_dict

    def _is_wanted(self, name: str) -> bool:
        return self.include_layer is None or name in self.include_layer


class LayerOutputMinMaxCollector(CalibrationCollector):
    """Collects the minimum and maximum of each output.

    Args:
        quantized_dtype: Stored as an attribute.
        include_layer: Names of the outputs to collect; None for all.
        logger: Logs a line for each output.
    """

    def __init__(
        self,
        quantized_dtype: str = "auto",
        include_layer: Collection[str] | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        super().__init__()
        self.quantized_dtype = quantized_dtype
        self.include_layer = None if include_layer is None else list(include_layer)
        self.logger = logger

    def collect(self, name: str, op_name: Any, arr: Any = None) -> None:
        """Extend the range of an output to include these values.

        Args:
            name: Name of the output.
            op_name: Name of the operator; may be left out, so that ``arr`` is the second argument.
            arr: Values of the output, an NDArray.
        """
        if not self._is_wanted(name):
            return
        values = _finite(name, op_name if arr is None else arr)
        low, high = float(values.min()), float(values.max())
        if name in self.min_max_dict:
            before = self.min_max_dict[name]
            low, high = min(low, before[0]), max(high, before[1])
        self.min_max_dict[name] = (low, high)
        if self.logger:
            self.logger.debug("Collecting layer %s: min %f, max %f", name, low, high)


class LayerHistogramCollector(CalibrationCollector):
    """Collects a histogram of each output, symmetric around 0.

    Args:
        num_bins: Initial number of bins.
        include_layer: Names of the outputs to collect; None for all.
        logger: Logs a line for each output.

    Attributes:
        hist_dict: Dict from output name to counts, bin edges, minimum, maximum, and largest
            absolute value.
    """

    def __init__(
        self,
        num_bins: int = 8001,
        include_layer: Collection[str] | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        super().__init__()
        self.hist_dict: dict[str, Histogram] = {}
        self.num_bins = num_bins
        self.include_layer = None if include_layer is None else list(include_layer)
        self.logger = logger

    def collect(self, name: str, op_name: Any, arr: Any = None) -> None:
        """Add an output's values to its histogram.

        Args:
            name: Name of the output.
            op_name: Name of the operator; may be left out, so that ``arr`` is the second argument.
            arr: Values of the output, an NDArray.
        """
        if not self._is_wanted(name):
            return
        values = _finite(name, op_name if arr is None else arr)
        low, high = values.min(), values.max()
        size = max(abs(low), abs(high))
        if name in self.hist_dict:
            self.hist_dict[name] = combine_histogram(self.hist_dict[name], values, low, high, size)
        else:
            counts, edges = np.histogram(values, bins=self.num_bins, range=(-size, size))
            self.hist_dict[name] = (counts, edges, low, high, size)
        if self.logger:
            self.logger.debug("Collecting layer %s: min %f, max %f", name, low, high)


def _finite(name: str, arr: Any) -> Any:
    values = arr.asnumpy() if isinstance(arr, NDArray) else np.asarray(arr)
    values = values.astype(np.float32, copy=False)
    if not values.size or not np.isfinite(values).all():
        raise ArgumentError(
            f"quantization: expected finite values in {name} on the calibration data, got "
            f"{'none' if not values.size else 'nan or inf'}; leave it out with exclude_layers"
        )
    return values


def combine_histogram(
    old_hist: Histogram, arr: Any, new_min: float, new_max: float, new_th: float
) -> Histogram:
    """Return a histogram after adding values; bins are added if the values exceed its range.

    Args:
        old_hist: Counts, edges symmetric around 0, minimum, maximum, and last edge.
        arr: The values to add.
        new_min: Minimum of the added values.
        new_max: Maximum of the added values.
        new_th: Largest absolute value of the added values.
    """
    counts, edges, old_min, old_max, old_th = old_hist
    low, high = min(old_min, new_min), max(old_max, new_max)
    values = arr.asnumpy() if isinstance(arr, NDArray) else arr
    if new_th <= old_th:
        more, _ = np.histogram(values, bins=len(counts), range=(-old_th, old_th))
        return counts + more, edges, low, high, old_th
    bins = len(counts)
    width = 2 * old_th / bins
    grown = int((new_th - old_th) // width + 1)
    reach = grown * width + old_th
    found, new_edges = np.histogram(values, bins=grown * 2 + bins, range=(-reach, reach))
    found[grown : bins + grown] += counts
    return found, new_edges, low, high, reach


def optimal_thresholds(
    hist_dict: dict[str, Histogram],
    quantized_dtype: str,
    num_quantized_bins: int = 255,
    logger: logging.Logger | None = None,
) -> dict[str, tuple[float, float]]:
    """Return the range to quantize for each output, chosen to minimize the relative entropy.

    The relative entropy (KL divergence) is between the values and their quantized form.

    Args:
        hist_dict: Histograms, as `LayerHistogramCollector` collects them.
        quantized_dtype: ``"auto"`` and ``"uint8"`` give non-negative outputs twice as many bins.
        num_quantized_bins: Number of quantized values.
        logger: Logs a line for each output.
    """
    found = {}
    for name, (counts, edges, low, high, _) in hist_dict.items():
        above = low >= 0 and quantized_dtype in ("auto", "uint8")
        bins = num_quantized_bins * 2 + 1 if above else num_quantized_bins
        arrays = array(counts, dtype="float32"), array(edges, dtype="float32")
        threshold, divergence = nd_contrib.calibrate_entropy(*arrays, num_quantized_bins=bins)
        size = float(threshold.asnumpy()[0])
        found[name] = (0.0 if low >= 0 else -size, size)
        if logger:
            logger.debug(
                "layer=%s, min_val=%f, max_val=%f, th=%f, divergence=%f",
                *(name, low, high, size, float(divergence.asnumpy()[0])),
            )
    return found


_MODES = "expected `none`, `naive`, `entropy` or `customize`"


def collector_of(
    what: str, mode: str, quantized_dtype: str, names: Collection[str], custom: Any, logger: Any
) -> Any:
    """Return the collector for a mode of calibration.

    Args:
        what: Name of the calling function, for error messages.
        mode: ``"naive"``, ``"entropy"`` or ``"customize"``.
        quantized_dtype: ``"auto"``, ``"int8"`` or ``"uint8"``.
        names: Names of the outputs to collect.
        custom: The custom collector, for ``"customize"``.
        logger: Logs the progress.

    Raises:
        ArgumentError: ``mode`` is unknown, or the custom collector is missing.
    """
    if mode == "naive":
        return LayerOutputMinMaxCollector(quantized_dtype, names, logger)
    if mode == "entropy":
        return LayerHistogramCollector(include_layer=names, logger=logger)
    if mode in ("customize", "custom"):
        if custom is None:
            raise ArgumentError(
                f"{what}: expected LayerOutputCollector for calib_mode {mode!r}, got none; pass "
                "an object with collect(name, arr) and min_max_dict"
            )
        return custom() if isinstance(custom, type) else custom
    raise ArgumentError(f"{what}: unknown calibration mode {mode} received, {_MODES}")


def thresholds_of(
    what: str, collector: Any, mode: str, quantized_dtype: str, logger: Any
) -> dict[str, tuple[float, float]]:
    """Return the range of each output that a collector has found.

    Args:
        what: Name of the calling function, for error messages.
        collector: The collector.
        mode: ``"naive"``, ``"entropy"`` or ``"customize"``.
        quantized_dtype: ``"auto"``, ``"int8"`` or ``"uint8"``.
        logger: Logs the progress.

    Raises:
        ArgumentError: ``mode`` is unknown, or the collector does not match it.
    """
    if mode == "entropy":
        if not hasattr(collector, "hist_dict"):
            raise ArgumentError(
                f"{what}: expected a collector with hist_dict for calib_mode 'entropy', got "
                f"{type(collector).__name__}"
            )
        return optimal_thresholds(collector.hist_dict, quantized_dtype, logger=logger)
    if mode not in ("naive", "customize", "custom"):
        raise ArgumentError(f"{what}: unknown calibration mode {mode} received, {_MODES}")
    if hasattr(collector, "post_collect"):
        collector.post_collect()
    if not hasattr(collector, "min_max_dict"):
        raise ArgumentError(
            f"{what}: expected a collector with min_max_dict, got {type(collector).__name__}"
        )
    return dict(collector.min_max_dict)


def arrays_of(batch: Any, context: Context) -> list[NDArray]:
    """Return the arrays of a batch, in order, on a device.

    Args:
        batch: An array, arrays in lists or tuples, or a DataBatch, whose ``data`` are used.
        context: The device.

    Raises:
        ArgumentTypeError: The batch contains another object.
    """
    if isinstance(batch, DataBatch):
        return [x for item in batch.data for x in arrays_of(item, context)]
    if isinstance(batch, list | tuple):
        return [x for item in batch for x in arrays_of(item, context)]
    if isinstance(batch, NDArray):
        return [batch.as_in_context(context)]
    if isinstance(batch, np.ndarray | np.generic):
        return [array(batch, ctx=context, dtype=batch.dtype)]
    raise ArgumentTypeError(
        f"calib_data: expected batches of arrays, got one with {type(batch).__name__}"
    )


def check_iterable(what: str, data: Any) -> None:
    """Check that calibration data can be iterated over.

    Args:
        what: Name of the calling function, for error messages.
        data: The data.

    Raises:
        ArgumentTypeError: The data cannot be iterated over.
    """
    if not isinstance(data, Iterable):
        raise ArgumentTypeError(
            f"{what}: expected calib_data as a DataIter, a DataLoader or another iterable of "
            f"batches, got {type(data).__name__}"
        )


def first_batch(what: str, data: Any, context: Context) -> list[NDArray]:
    """Return the arrays of the first batch; an iterator with `reset` is reset before and after.

    Args:
        what: Name of the calling function, for error messages.
        data: The data.
        context: Device of the arrays.

    Raises:
        ArgumentTypeError: The data cannot be iterated over.
    """
    check_iterable(what, data)
    _reset(data)
    for batch in data:
        _reset(data)
        return arrays_of(batch, context)
    return []


def batches(
    data: Any, num_examples: int | None, context: Context
) -> Iterator[tuple[list[NDArray], int]]:
    """Yield the arrays of each batch, and its number of samples.

    Args:
        data: The batches.
        num_examples: Number of samples after which to stop; None for all.
        context: Device of the arrays.
    """
    _reset(data)
    seen = 0
    for batch in data:
        arrays = arrays_of(batch, context)
        count = arrays[0].shape[0] if arrays and arrays[0].shape else 1
        if isinstance(batch, DataBatch) and batch.pad:
            count -= batch.pad
        yield arrays, count
        seen += count
        if num_examples is not None and seen >= num_examples:
            return


def _reset(data: Any) -> None:
    if isinstance(data, DataIter):
        data.reset()


def with_bar(steps: Iterator[tuple[list[NDArray], int]], total: int | None) -> Iterator[Any]:
    """Yield the arrays of each batch, with a progress bar of samples.

    Args:
        steps: Pairs of arrays and a number of samples.
        total: Total number of samples; None if unknown.
    """
    with progress_bar(desc="calibrate", total=total, unit="example", leave=False) as bar:
        for arrays, count in steps:
            yield arrays
            bar.update(count)


def examples_of(data: Any, num_examples: int | None) -> int | None:
    """Return the number of samples that calibration will use; None if unknown.

    Args:
        data: The batches.
        num_examples: Number of samples after which to stop; None for all.
    """
    dataset: Any = getattr(data, "_dataset", None)
    counts = [
        getattr(data, "num_data", None),
        len(dataset) if hasattr(dataset, "__len__") else None,
    ]
    return min((n for n in (num_examples, *counts) if isinstance(n, int)), default=None)


def takes_operator(collector: Any) -> bool:
    """Whether a collector's ``collect`` takes the operator's name, as in MXNet 2.0."""
    try:
        inspect.signature(collector.collect).bind("name", "operator", "values")
    except TypeError:
        return False
    return True


class LimitedBatches:
    """The first batches of calibration data, each time they are iterated over.

    Args:
        data: The batches.
        count: Maximum number of batches.
    """

    __repr__ = default_repr

    def __init__(self, data: Any, count: int) -> None:
        self._data = data
        self._count = count

    def __iter__(self) -> Iterator[Any]:
        _reset(self._data)
        return islice(iter(self._data), self._count)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "num_data":  # the number of samples is not known
            raise AttributeError(name)
        return getattr(self._data, name)


def limited(data: Any, num_batches: int | None) -> Any:
    """Return calibration data, or only the first ``num_batches`` of them unless that is None."""
    return data if num_batches is None or data is None else LimitedBatches(data, num_batches)
