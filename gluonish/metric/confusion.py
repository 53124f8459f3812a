"""Metrics of the confusion matrix: F1 and MCC of two classes, PCC of any number."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import (
    EvalMetric,
    check_average,
    check_label_shapes,
    host_pairs,
    register,
)

__all__ = ["F1", "MCC", "PCC"]

Counts = np.ndarray[Any, Any]


def _confusion(label: Any, pred: Any, classes: int) -> Counts:
    """Return how often each (label, predicted class) pair occurs, (classes, classes)."""
    return np.bincount(label * classes + pred, minlength=classes**2).reshape(classes, classes)


def _no_counts(classes: int = 2) -> Counts:
    return np.zeros((classes, classes), np.int64)


class _BinaryMetric(EvalMetric):
    """A number from the 2x2 confusion matrix, of each batch or of all."""

    average: str

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._local = _no_counts()
        self._global = _no_counts()

    def reset_local(self) -> None:
        """Forget the local sums."""
        super().reset_local()
        self._local = _no_counts()

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch; all its arrays count as one.

        Args:
            labels: List of arrays of N classes, 0 or 1, or one NDArray.
            preds: List of scores (N, 2), or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number, or labels have more than two
                values.
        """
        counts = _no_counts()
        for label, pred in host_pairs(labels, preds):
            counts += self._count(label, pred)
        if self.average == "macro":
            self._add(self._of_counts(counts), 1)
            return
        self._local += counts
        self._global += counts
        self.num_inst = int(self._local.sum())
        self.sum_metric = self._of_counts(self._local) * self.num_inst
        self.global_num_inst = int(self._global.sum())
        self.global_sum_metric = self._of_counts(self._global) * self.global_num_inst

    def _count(self, label: Any, pred: Any) -> Counts:
        expected = label.ravel().astype(np.int64)
        predicted = pred.argmax(axis=1).ravel()
        check_label_shapes(expected, predicted)
        if len(np.unique(expected)) > 2:
            raise ArgumentError(
                f"{type(self).__name__}: expected labels of two classes, "
                f"got {np.unique(expected).tolist()}"
            )
        return _confusion((expected == 1).astype(np.int64), (predicted == 1).astype(np.int64), 2)

    def _of_counts(self, counts: Counts) -> float:
        raise NotImplementedError


@register
class F1(_BinaryMetric):
    """The harmonic mean of precision and recall of class 1; 0 where neither is positive.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
        average: ``"macro"``: the mean over batches; ``"micro"``: over all labels at once.

    Raises:
        ArgumentError: for another ``average``.
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = check_average("F1", average)
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_counts(self, counts: Counts) -> float:
        (_, false_positive), (false_negative, true_positive) = counts.tolist()
        if not true_positive:
            return 0.0
        precision = true_positive / (true_positive + false_positive)
        recall = true_positive / (true_positive + false_negative)
        return float(2 * precision * recall / (precision + recall))


@register
class MCC(_BinaryMetric):
    """Matthews' correlation of labels and predicted classes, two of them, in -1..1.

    Empty rows and columns of the confusion matrix are left out of the denominator.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
        average: ``"macro"``: the mean over batches; ``"micro"``: over all labels at once.

    Raises:
        ArgumentError: for another ``average``.
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = check_average("MCC", average)
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_counts(self, counts: Counts) -> float:
        (true_negative, false_positive), (false_negative, true_positive) = counts.tolist()
        sums = [*counts.sum(axis=0).tolist(), *counts.sum(axis=1).tolist()]
        product = math.prod(value for value in sums if value)
        return float(
            (true_positive * true_negative - false_positive * false_negative) / math.sqrt(product)
        )


@register
class PCC(EvalMetric):
    """Pearson's correlation of labels and predicted classes, any number of them; NaN for only one.

    Args:
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
        has_global_stats: Whether `get_global` has a value of its own.

    Attributes:
        k: Number of classes seen, at least 2.
    """

    def __init__(
        self,
        name: str = "pcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        has_global_stats: bool = True,
    ) -> None:
        self.k = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def reset(self) -> None:
        """Forget everything."""
        self.global_num_inst = 0
        self._global = _no_counts(self.k)
        self.reset_local()

    def reset_local(self) -> None:
        """Forget the local counts."""
        self.num_inst = 0
        self._local = _no_counts(self.k)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch.

        Args:
            labels: List of arrays of N classes, or one NDArray.
            preds: List of scores (N, classes), or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number.
        """
        for label, pred in host_pairs(labels, preds):
            expected = label.ravel().astype(np.int64)
            predicted = (pred if pred.shape == label.shape else pred.argmax(axis=1)).ravel()
            predicted = predicted.astype(np.int64)
            check_label_shapes(expected, predicted)
            self._grow(1 + int(max(expected.max(initial=1), predicted.max(initial=1))))
            counts = _confusion(expected, predicted, self.k)
            self._local += counts
            self._global += counts
        self.num_inst += 1
        self.global_num_inst += 1

    def _grow(self, classes: int) -> None:
        if classes > self.k:
            margin = ((0, classes - self.k),) * 2
            self._local = np.pad(self._local, margin)
            self._global = np.pad(self._global, margin)
            self.k = classes

    @property
    def sum_metric(self) -> float:  # type: ignore[override]  # computed from the counts
        """The correlation since the last `reset_local`, times ``num_inst``."""
        return _correlation(self._local) * self.num_inst

    @property
    def global_sum_metric(self) -> float:  # type: ignore[override]  # computed from the counts
        """The correlation since the last `reset`, times ``global_num_inst``."""
        return _correlation(self._global) * self.global_num_inst


def _correlation(counts: Counts) -> float:
    total = int(counts.sum())
    of_label, of_pred = counts.sum(axis=1), counts.sum(axis=0)
    label_spread = int((of_label * (total - of_label)).sum())
    pred_spread = int((of_pred * (total - of_pred)).sum())
    if not label_spread or not pred_spread:
        return math.nan
    together = int((counts.diagonal() * total - of_label * of_pred).sum())
    return together / math.sqrt(label_spread * pred_spread)
