"""Metrics of the distance of predictions from labels, averaged over samples."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.metric import EvalMetric, check_label_shapes, regression
from gluonish.metric.base import pairs

__all__ = [
    "MAE",
    "MSE",
    "RMSE",
    "MeanCosineSimilarity",
    "MeanPairwiseDistance",
    "PearsonCorrelation",
]


class _OverSamples(regression.Distance):
    """Base class of errors averaged over samples, the first axis."""

    @staticmethod
    def _add_distance(
        measure: Callable[..., Any], xp: ModuleType, totals: Any, label: Any, pred: Any
    ) -> None:
        difference = regression.column_difference(label, pred)
        count = difference.shape[0] if difference.ndim else 1
        if count:
            totals[0] += count * measure(xp, difference)
            totals[1] += count


class MAE(_OverSamples, regression.MAE):
    """Mean absolute error, averaged over samples.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """


class MSE(_OverSamples, regression.MSE):
    """Mean squared error, averaged over samples.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """


class RMSE(MSE):
    """Root of the mean squared error of all samples.

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
        super().__init__(name, output_names, label_names)

    def get(self) -> tuple[str, float]:
        """Return ``(name, value)`` since the last `reset` or `reset_local`; NaN without a batch."""
        name, mean = super().get()
        return name, math.sqrt(mean)

    def get_global(self) -> tuple[str, float]:
        """Return ``(name, value)`` since the last `reset`."""
        name, mean = super().get_global()
        return name, math.sqrt(mean)


class PearsonCorrelation(regression.PearsonCorrelation):
    """Pearson correlation of the labels and predictions of all batches together.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, average="micro")


class MeanPairwiseDistance(EvalMetric):
    """Mean over samples of the p-norm of prediction minus label.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        p: Order of the norm, a positive number.

    Raises:
        ArgumentError: ``p`` is not positive.
    """

    def __init__(
        self,
        name: str = "mpd",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        p: float = 2,
    ) -> None:
        if not p > 0:
            raise ArgumentError(f"MeanPairwiseDistance: expected a positive p, got {p}")
        super().__init__(name, output_names, label_names, p=p, has_global_stats=True)
        self.p = p

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: Vectors (N, ...): a list of arrays, or one array.
            preds: Predictions, in the same form and with the same shapes.

        Raises:
            ArgumentError: Labels and predictions differ in number or in shape.
        """
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            self._tally(partial(_add_norms, self.p), [label], [pred])


def _add_norms(p: float, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    rows = label.shape[0] if label.ndim else 1
    if rows:
        difference = xp.abs((pred - label).reshape(rows, -1).astype(xp.float64))
        totals[0] += ((difference**p).sum(axis=1) ** (1 / p)).sum()
        totals[1] += rows


class MeanCosineSimilarity(EvalMetric):
    """Mean over vectors, the last axis, of the cosine of the angle of prediction and label.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        eps: Smallest product of the norms, to avoid division by 0.
    """

    def __init__(
        self,
        name: str = "cos_sim",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: Vectors (..., D): a list of arrays, or one array.
            preds: Predictions, in the same form and with the same shapes.

        Raises:
            ArgumentError: Labels and predictions differ in number or in shape.
        """
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            self._tally(partial(_add_cosines, self.eps), [label], [pred])


def _add_cosines(eps: float, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    if not label.size:
        return
    a, b = (x.reshape(-1, x.shape[-1] if x.ndim else 1).astype(xp.float64) for x in (label, pred))
    norms = xp.sqrt((a * a).sum(axis=1)) * xp.sqrt((b * b).sum(axis=1))
    totals[0] += ((a * b).sum(axis=1) / xp.maximum(norms, eps)).sum()
    totals[1] += len(a)
