"""Metrics of predicted classes: Accuracy and TopKAccuracy."""

import math
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int
from gluonish.metric.base import EvalMetric, alias, pairs, register


@register
@alias("acc")
class Accuracy(EvalMetric):
    """Accuracy: the fraction of predictions that equal the label.

    Args:
        axis: Axis of the classes, if predictions are scores.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.Accuracy()
        >>> scores = mx.nd.array([[0.3, 0.7], [0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        >>> metric.update(mx.nd.array([1, 0, 0, 0]), scores)
        >>> metric.get()
        ('accuracy', 0.75)
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: True class indices: a list of arrays, one per output, or one NDArray.
            preds: Predictions, in the same form: class indices of the labels' shape, or scores with
                one more axis, whose argmax is the prediction.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        for label, pred in pairs(labels, preds):
            shape = pred.shape
            axis = None if shape == label.shape else self._checked_axis(shape)
            found = math.prod(shape) if axis is None else math.prod(shape) // max(1, shape[axis])
            if found != label.size:
                raise ArgumentError(
                    f"Accuracy: expected predictions of {label.size} labels {label.shape}, "
                    f"got {found} of {shape}"
                )
            self._tally(partial(_count_right, axis), [label], [pred])

    def _checked_axis(self, shape: tuple[int, ...]) -> int:
        if not -len(shape) <= self.axis < len(shape):
            raise ArgumentError(
                f"Accuracy: expected predictions with axis {self.axis}, got shape {shape}; the "
                "call is update(labels, preds)"
            )
        return self.axis


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """Top-k accuracy: the fraction of labels among the ``top_k`` classes with the highest scores.

    Args:
        top_k: Number of classes to consider, 2 or more.
        name: Name of the metric, to which ``_`` and ``top_k`` are appended, as in
            ``top_k_accuracy_5``.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: ``top_k`` is below 2.
    """

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        top_k = as_int("TopKAccuracy", "top_k", top_k)
        super().__init__(name, output_names, label_names, top_k=top_k, has_global_stats=True)
        if top_k <= 1:
            raise ArgumentError(
                f"TopKAccuracy: expected top_k of at least 2, got {top_k}; use Accuracy"
            )
        self.top_k = top_k
        self.name += f"_{top_k}"

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: True class indices (N,): a list of arrays, one per output, or one NDArray.
            preds: Scores (N, classes), in the same form.

        Raises:
            ArgumentError: The numbers of labels and predictions differ, or there are fewer than
                ``top_k`` classes.
        """
        for label, pred in pairs(labels, preds):
            shape = pred.shape
            if len(shape) not in (1, 2) or shape[-1] < self.top_k:
                raise ArgumentError(
                    f"TopKAccuracy: expected scores (N, classes) of {self.top_k} classes or more, "
                    f"got {shape}"
                )
            if label.size != shape[0]:
                raise ArgumentError(
                    f"TopKAccuracy: expected scores of {label.size} labels, got {shape}"
                )
            self._tally(partial(_count_among_best, self.top_k), [label], [pred])


def _count_right(axis: int | None, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    classes = pred if axis is None else pred.argmax(axis=axis)
    right = classes.astype(xp.int32).ravel() == label.astype(xp.int32).ravel()
    totals[0] += xp.count_nonzero(right)
    totals[1] += right.size


def _count_among_best(top_k: int, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    expected = label.ravel().astype(xp.int32)
    ranked = xp.argpartition(pred.astype(xp.float32), -top_k)
    if ranked.ndim == 2:
        ranked, expected = ranked[:, -top_k:], expected[:, None]
    totals[0] += xp.count_nonzero(ranked == expected)
    totals[1] += expected.size
