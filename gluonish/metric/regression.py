"""How far predicted numbers are off: MAE, MSE, RMSE, PearsonCorrelation."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import (
    EvalMetric,
    alias,
    check_average,
    check_label_shapes,
    host_pairs,
    register,
)

__all__ = ["MAE", "MSE", "RMSE", "PearsonCorrelation"]


class _Distance(EvalMetric):
    """A number for each batch, averaged over batches; vectors count as columns."""

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch.

        Args:
            labels: List of arrays of numbers, or one NDArray.
            preds: List of arrays that broadcast with the labels, or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number, or do not broadcast.
        """
        for label, pred in host_pairs(labels, preds):
            expected, predicted = _column(label), _column(pred)
            try:
                difference = expected - predicted
            except ValueError as error:
                raise ArgumentError(
                    f"{type(self).__name__}: expected predictions that broadcast with labels "
                    f"{label.shape}, got {pred.shape}"
                ) from error
            self._add(self._of_batch(difference), 1)

    def _of_batch(self, difference: Any) -> Any:
        raise NotImplementedError


def _column(values: Any) -> Any:
    return values.reshape(-1, 1) if values.ndim == 1 else values


@register
class MAE(_Distance):
    """The mean absolute difference of labels and predictions, averaged over batches.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
    """

    def __init__(
        self,
        name: str = "mae",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_batch(self, difference: Any) -> Any:
        return np.abs(difference).mean()


@register
class MSE(_Distance):
    """The mean squared difference of labels and predictions, averaged over batches.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
    """

    def __init__(
        self,
        name: str = "mse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_batch(self, difference: Any) -> Any:
        return np.square(difference).mean()


@register
class RMSE(_Distance):
    """The root of the mean squared difference of each batch, averaged over batches.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
    """

    def __init__(
        self,
        name: str = "rmse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_batch(self, difference: Any) -> Any:
        return np.sqrt(np.square(difference).mean())


Moments = tuple[float, float, float]


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of labels and predictions.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
        average: ``"macro"``: the mean over batches; ``"micro"``: over all elements at once.

    Raises:
        ArgumentError: for another ``average``.
    """

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
        """Forget what ``average="micro"`` keeps."""
        self._label: Moments = (0.0, 0.0, 0.0)
        self._pred: Moments = (0.0, 0.0, 0.0)
        self._cov = 0.0

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self.reset_micro()

    def update_variance(self, new_values: Any, *aggregate: float) -> Moments:
        """Return count, mean and sum of squared deviations with more values.

        Args:
            new_values: Array of the values.
            *aggregate: Count, mean and sum of squared deviations so far.
        """
        count, mean, squares = aggregate
        added = new_values.size
        total = count + added
        delta = float(new_values.mean()) - mean
        spread = float(np.square(new_values - new_values.mean()).sum())
        return (
            total,
            mean + delta * added / total,
            squares + spread + delta * delta * count * added / total,
        )

    def update_cov(self, label: Any, pred: Any) -> None:
        """Add to the sum of products of deviations; before the means are updated.

        Args:
            label: Array of labels.
            pred: Array of predictions, of the same size.
        """
        count, label_mean, _ = self._label
        added = label.size
        inner = float(((label - label.mean()) * (pred - pred.mean())).sum())
        apart = (float(label.mean()) - label_mean) * (float(pred.mean()) - self._pred[1])
        self._cov += inner + apart * count * added / (count + added)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch.

        Args:
            labels: List of arrays of numbers, or one NDArray.
            preds: List of arrays of the labels' shapes, or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number or shape.
        """
        for label, pred in host_pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            expected = label.ravel().astype(np.float64)
            predicted = pred.ravel().astype(np.float64)
            if self.average == "macro":
                self._add(np.corrcoef(predicted, expected)[0, 1], 1)
            elif expected.size:
                self.update_cov(expected, predicted)
                self._label = self.update_variance(expected, *self._label)
                self._pred = self.update_variance(predicted, *self._pred)
                self._add(0.0, 1)

    def get(self) -> tuple[str, float]:
        """Return name and value; NaN before any batch, and where one side does not vary."""
        if self.average == "macro" or self.num_inst == 0:
            return super().get()
        spread = math.sqrt(self._label[2] * self._pred[2])
        return self.name, self._cov / spread if spread else math.nan

    def get_global(self) -> tuple[str, float]:
        """Return name and value since the last `reset`."""
        return super().get_global() if self.average == "macro" else self.get()
