"""Regression metrics: MAE, MSE, RMSE, PearsonCorrelation, R2."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import (
    EvalMetric,
    alias,
    check_average,
    check_label_shapes,
    pairs,
    register,
)
from gluonish.metric.counts import CountingMetric


class Distance(EvalMetric):
    """Base class of errors averaged over batches; arrays of one axis are treated as columns."""

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with one batch.

        Args:
            labels: List of arrays of numbers, or one NDArray.
            preds: List of arrays that broadcast with the labels, or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number, or do not broadcast.
        """
        for label, pred in pairs(labels, preds):
            try:
                np.broadcast_shapes(_column(label.shape), _column(pred.shape))
            except ValueError as error:
                raise ArgumentError(
                    f"{type(self).__name__}: expected predictions that broadcast with labels "
                    f"{label.shape}, got {pred.shape}"
                ) from error
            self._tally(partial(self._add_distance, self._measure), [label], [pred])

    @staticmethod
    def _measure(xp: ModuleType, difference: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def _add_distance(
        measure: Callable[..., Any], xp: ModuleType, totals: Any, label: Any, pred: Any
    ) -> None:
        totals[0] += measure(xp, column_difference(label, pred))
        totals[1] += 1


def column_difference(label: Any, pred: Any) -> Any:
    """Return labels minus predictions; arrays of one axis are treated as columns."""
    return label.reshape(_column(label.shape)) - pred.reshape(_column(pred.shape))


def _column(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape, 1) if len(shape) == 1 else shape


@register
class MAE(Distance):
    """Mean absolute error, averaged over batches.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        name: str = "mae",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _measure(xp: ModuleType, difference: Any) -> Any:
        return xp.abs(difference).mean()


@register
class MSE(Distance):
    """Mean squared error, averaged over batches.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        name: str = "mse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _measure(xp: ModuleType, difference: Any) -> Any:
        return xp.square(difference).mean()


@register
class RMSE(Distance):
    """Root mean squared error of each batch, averaged over batches.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        name: str = "rmse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _measure(xp: ModuleType, difference: Any) -> Any:
        return xp.sqrt(xp.square(difference).mean())


Moments = tuple[float, float, float]


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson correlation of labels and predictions.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        average: ``"macro"``: average the values of the batches; ``"micro"``: compute one value from
            all elements together.

    Raises:
        ArgumentError: ``average`` is neither ``"macro"`` nor ``"micro"``.
    """

    # After sum and count, the totals contain the `_moments` of all elements so far.
    _total_count = 2 + 6

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = check_average("PearsonCorrelation", average)
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def reset_micro(self) -> None:
        """Clear the running sums used with ``average="micro"``."""
        self._fetch_pending()
        self._all = np.zeros(6)

    def reset(self) -> None:
        """Clear all sums, local and global."""
        super().reset()
        self.reset_micro()

    def update_variance(self, new_values: Any, *aggregate: float) -> Moments:
        """Add values to a running count, mean and sum of squared deviations.

        Args:
            new_values: Array of the values to add.
            *aggregate: Count, mean and sum of squared deviations so far.

        Returns:
            Count, mean and sum of squared deviations after the addition.
        """
        count, mean, squares = aggregate
        before = np.array([count, mean, 0, squares, 0, 0], np.float64)
        merged = _merged(np, before, _moments(np, new_values, new_values))
        return float(merged[0]), float(merged[1]), float(merged[3])

    def update_cov(self, label: Any, pred: Any) -> None:
        """Add a batch to the running sum of products of deviations, before the means change.

        Args:
            label: Array of labels.
            pred: Array of predictions, of the same size.
        """
        self._fetch_pending()
        self._all[5] = _merged(np, self._all, _moments(np, label, pred))[5]

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: A list of arrays of numbers, or one NDArray.
            preds: Predictions, in the same form and with the same shapes.

        Raises:
            ArgumentError: Labels and predictions differ in number or in shape.
        """
        kernel = _add_correlation if self.average == "macro" else _add_moments
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            if self.average == "macro" or label.size:
                self._tally(kernel, [label], [pred])

    def _absorb(self, totals: np.ndarray[Any, Any], *, local: bool) -> None:
        super()._absorb(totals, local=local)
        if totals[2]:
            self._all = _merged(np, self._all, totals[2:])

    def _all_sums(self) -> Any:
        return super()._all_sums(), self._all

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        sums, moments = zip(*sums_by_rank, strict=True)
        super()._set_sums(sums)
        self._all = np.zeros(6)
        for each in moments:
            if each[0]:
                self._all = _merged(np, self._all, each)

    def get(self) -> tuple[str, float]:
        """Return ``(name, value)``; NaN before any batch and for constant labels or predictions."""
        if self.average == "macro" or self.num_inst == 0:
            return super().get()
        spread = math.sqrt(self._all[3] * self._all[4])
        return self.name, float(self._all[5]) / spread if spread else math.nan

    def get_global(self) -> tuple[str, float]:
        """Return ``(name, value)`` since the last `reset`."""
        return super().get_global() if self.average == "macro" else self.get()


def _moments(xp: ModuleType, label: Any, pred: Any) -> Any:
    """Return count, both means, both sums of squared deviations, and the sum of their products."""
    expected, predicted = label.ravel().astype(xp.float64), pred.ravel().astype(xp.float64)
    count = expected.size
    means = expected.sum() / max(1, count), predicted.sum() / max(1, count)
    expected -= means[0]
    predicted -= means[1]
    # Not `@`: it wakes BLAS threads, which stay awake longer than the computation takes.
    sums = [
        xp.einsum("i,i", x, y)
        for x, y in ((expected, expected), (predicted, predicted), (expected, predicted))
    ]
    # Set element by element: making an array from a list of device scalars would fetch them.
    found = xp.empty(6)
    for i, value in enumerate((count, *means, *sums)):
        found[i] = value
    return found


def _merged(xp: ModuleType, a: Any, b: Any) -> Any:
    """Combine the `_moments` of two sets of elements; the set of ``b`` must not be empty."""
    share = b[0] / (a[0] + b[0])
    delta = b[1:3] - a[1:3]
    merged = a + b
    merged[1:3] = a[1:3] + delta * share
    merged[3:5] += xp.square(delta) * (a[0] * share)
    merged[5] += delta[0] * delta[1] * (a[0] * share)
    return merged


def _add_moments(xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    totals[2:] = _merged(xp, totals[2:], _moments(xp, label, pred))
    totals[1] += 1


def _add_correlation(xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    with np.errstate(all="ignore"):  # NaN without elements, or for constant labels or predictions
        moments = _moments(xp, label, pred)
        totals[0] += moments[5] / xp.sqrt(moments[3] * moments[4])
    totals[1] += 1


@register
@alias("rsquared", "r_squared", "r2_score")
class R2(CountingMetric):
    """Coefficient of determination: ``1 - sum((y - p)^2) / sum((y - mean(y))^2)``.

    The elements of all batches and axes count together. The value is NaN for constant labels.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.R2()
        >>> metric.update(mx.nd.array([1, 2, 3]), mx.nd.array([1, 2, 2]))
        >>> metric.get()
        ('r2', 0.5)
    """

    # After sum and count, the totals contain the `_moments` of labels and errors.
    _total_count = 2 + 6

    def __init__(
        self,
        name: str = "r2",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: A list of arrays of numbers, or one NDArray.
            preds: Predictions, in the same form and with the same shapes.

        Raises:
            ArgumentError: Labels and predictions differ in number or in shape.
        """
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            if label.size:
                self._tally(_add_errors, [label], [pred])

    @staticmethod
    def _merge(before: Any, totals: Any) -> Any:
        if not totals[2]:
            return before
        return np.concatenate([before[:2] + totals[:2], _merged(np, before[2:], totals[2:])])

    def _value(self, sums: Any) -> float:
        count, _, error, spread, squares, _ = sums[2:].tolist()
        return 1 - (squares + count * error**2) / spread if spread else math.nan


def _add_errors(xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    expected = label.astype(xp.float64)
    totals[2:] = _merged(xp, totals[2:], _moments(xp, expected, expected - pred.astype(xp.float64)))
    totals[1] += label.size


RSquared = R2
