"""Metrics of the order of scores: AUROC and AveragePrecision."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import alias, pairs, register
from gluonish.metric.matrix import averaged, checked_mean
from gluonish.metric.samples import SampleMetric

Vector = np.ndarray[Any, Any]


class _RankingMetric(SampleMetric):
    """Base of metrics of a class against the rest, of two, of several or of independent classes."""

    def __init__(
        self,
        average: str | None,
        name: str,
        output_names: Sequence[str] | None,
        label_names: Sequence[str] | None,
    ) -> None:
        self.average = checked_mean(type(self).__name__, average)
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Store the samples of one batch; copies of arrays stay on their devices until `get`.

        Labels out of range, and scores that are NaN, raise an ArgumentError when the value is read.

        Args:
            labels: A list of arrays, or one NDArray: class indices (N,), or 0 and 1 of the scores'
                shape (N, classes) for independent classes.
            preds: In the same form, scores: (N,) or (N, 1) of class 1 of two; (N, 2), of which the
                second column counts; or (N, classes), each column for a class against the rest.

        Raises:
            ArgumentError: Labels and predictions differ in number, or their shapes do not fit.
        """
        for label, pred in pairs(labels, preds):
            shape = pred.shape
            if len(shape) not in (1, 2) or not (label.shape == shape or label.size == shape[0]):
                raise ArgumentError(
                    f"{type(self).__name__}: expected scores ({label.size},) or ({label.size}, "
                    f"classes) of labels {label.shape}, got {shape}"
                )
            stored = self._samples[0][1].shape[1:] if self._samples else shape[1:]
            if stored != shape[1:]:
                raise ArgumentError(
                    f"{type(self).__name__}: expected scores (N, {', '.join(map(str, stored))}) "
                    f"as in earlier batches, got {shape}"
                )
            form = self._shape_of(label, pred)
            earlier = self._shape_of(*self._samples[0]) if self._samples else form
            if len(earlier) != len(form):
                raise ArgumentError(
                    f"{type(self).__name__}: expected labels of "
                    f"{'0 and 1 for each class' if len(earlier) == 2 else 'class indices (N,)'} "
                    f"as in earlier batches, got shape {label.shape}"
                )
            self._store(label, pred)

    def _value(self, samples: Sequence[Any]) -> Any:
        scores = np.concatenate([pred for _, pred in samples])
        labels = np.concatenate([label.reshape(self._shape_of(label, p)) for label, p in samples])
        if np.isnan(scores).any():
            raise ArgumentError(f"{type(self).__name__}: expected scores, got NaN")
        scores = scores.reshape(len(scores), -1)
        if labels.ndim == 2:
            self._check_labels(labels, 2)
            found = [
                self._of_class(labels[:, i] == 1, scores[:, i]) for i in range(labels.shape[1])
            ]
            return averaged(np.array(found), self.average)
        classes = scores.shape[1]
        self._check_labels(labels, max(2, classes))
        if classes <= 2:
            return self._of_class(labels == 1, scores[:, -1])
        found = [self._of_class(labels == i, scores[:, i]) for i in range(classes)]
        return averaged(np.array(found), self.average)

    @staticmethod
    def _shape_of(label: Any, pred: Any) -> tuple[int, ...]:
        """Return the shape of labels: of independent classes, or of one class a sample."""
        is_independent = len(pred.shape) == 2 and pred.shape[1] > 1 and label.shape == pred.shape
        return label.shape if is_independent else (-1,)

    def _check_labels(self, labels: Vector, classes: int) -> None:
        wrong = labels[(labels < 0) | (labels >= classes) | (labels != np.floor(labels))]
        if wrong.size:
            raise ArgumentError(
                f"{type(self).__name__}: expected labels in [0, {classes}), got {wrong.flat[0]}"
            )

    @staticmethod
    def _of_class(positive: Vector, scores: Vector) -> float:
        """Compute the metric of one class from whether each sample is of it, and the scores."""
        raise NotImplementedError


def _counts_above(positive: Vector, scores: Vector) -> tuple[Vector, Vector]:
    """Return how many positive and negative samples reach each distinct score, from the highest."""
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    ranked, ordered = positive[order], scores[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
    found = np.cumsum(ranked)[ends].astype(np.float64)
    return found, ends + 1.0 - found


@register
class AUROC(_RankingMetric):
    """Area under the curve of true against false positive rate (ROC).

    It is the probability that a sample of the class has a higher score than another one, where
    equal scores count half. Of more than two classes, each is measured against the rest.

    Args:
        average: ``"macro"`` for the mean over the classes that have positive and negative samples;
            None for a value of each class, NaN for the others: `get` then returns lists of names,
            such as ``auroc_0``, and values. Of two classes there is one value.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: ``average`` has another value.

    References:
        T. Fawcett, An introduction to ROC analysis, 2006.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.AUROC()
        >>> metric.update(mx.nd.array([0, 0, 1, 1]), mx.nd.array([0.1, 0.4, 0.35, 0.8]))
        >>> metric.get()
        ('auroc', 0.75)
    """

    def __init__(
        self,
        average: str | None = "macro",
        name: str = "auroc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(average, name, output_names, label_names)

    @staticmethod
    def _of_class(positive: Vector, scores: Vector) -> float:
        right, wrong = _counts_above(positive, scores)
        if not right[-1] or not wrong[-1]:
            return math.nan
        heights = right + np.append(0, right[:-1])
        return float((np.diff(wrong, prepend=0) * heights).sum() / (2 * right[-1] * wrong[-1]))


@register
@alias("average_precision")
class AveragePrecision(_RankingMetric):
    """Average precision: the sum of precisions at each score, times the increases of recall.

    Of more than two classes, each is measured against the rest.

    Args:
        average: ``"macro"`` for the mean over the classes that have positive samples; None for a
            value of each class, NaN for the others: `get` then returns lists of names, such as
            ``average_precision_0``, and values. Of two classes there is one value.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: ``average`` has another value.
    """

    def __init__(
        self,
        average: str | None = "macro",
        name: str = "average_precision",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(average, name, output_names, label_names)

    @staticmethod
    def _of_class(positive: Vector, scores: Vector) -> float:
        right, wrong = _counts_above(positive, scores)
        if not right[-1]:
            return math.nan
        precision = right / (right + wrong)
        return float((np.diff(right, prepend=0) * precision).sum() / right[-1])
