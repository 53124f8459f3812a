"""Metrics of the order of scores: AUROC and AveragePrecision."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import alias, pairs, register, weights_of
from gluonish.metric.matrix import averaged, checked_mean
from gluonish.metric.samples import SampleMetric

Vector = np.ndarray[Any, Any]

_MAX_THRESHOLDS = 1_000_000


class _RankingMetric(SampleMetric):
    """Base of metrics of a class against the rest, of two, of several or of independent classes."""

    def __init__(
        self,
        average: str | None,
        thresholds: int | Sequence[float] | None,
        name: str,
        output_names: Sequence[str] | None,
        label_names: Sequence[str] | None,
    ) -> None:
        self.average = checked_mean(type(self).__name__, average, "micro", "weighted")
        self.thresholds = thresholds
        self._thresholds = _threshold_values(type(self).__name__, thresholds)
        super().__init__(
            name,
            output_names,
            label_names,
            average=average,
            thresholds=thresholds,
            has_global_stats=True,
        )

    def update(self, labels: Any, preds: Any, sample_weight: Any = None) -> None:
        """Store the samples of one batch; copies of arrays stay on their devices until `get`.

        Labels out of range, and scores that are NaN, raise an ArgumentError when the value is read.

        Args:
            labels: A list of arrays, or one NDArray: class indices (N,), or 0 and 1 of the scores'
                shape (N, classes) for independent classes.
            preds: In the same form, scores: (N,) or (N, 1) of class 1 of two; (N, 2), of which the
                second column counts; or (N, classes), each column for a class against the rest.
            sample_weight: In the same form, weights (N,) of 0 or more; None for 1. Negative ones
                raise an ArgumentError when the value is read.

        Raises:
            ArgumentError: Labels, predictions and weights differ in number, or their shapes do not
                fit.
        """
        batches = pairs(labels, preds)
        weights = weights_of(type(self).__name__, sample_weight, [label for label, _ in batches])
        for (label, pred), weight in zip(batches, weights, strict=True):
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
            earlier = self._shape_of(*self._samples[0][:2]) if self._samples else form
            if len(earlier) != len(form):
                raise ArgumentError(
                    f"{type(self).__name__}: expected labels of "
                    f"{'0 and 1 for each class' if len(earlier) == 2 else 'class indices (N,)'} "
                    f"as in earlier batches, got shape {label.shape}"
                )
            if weight is not None and weight.size != shape[0]:
                raise ArgumentError(
                    f"{type(self).__name__}: expected weights ({shape[0]},), got {weight.shape}"
                )
            self._store(label, pred, *(() if weight is None else (weight,)))

    def _value(self, samples: Sequence[Any]) -> Any:
        scores = np.concatenate([arrays[1] for arrays in samples])
        labels = np.concatenate([x[0].reshape(self._shape_of(x[0], x[1])) for x in samples])
        weights = np.concatenate([_weights(*arrays) for arrays in samples])
        refused = weights[~((weights >= 0) & np.isfinite(weights))]
        if refused.size:
            raise ArgumentError(
                f"{type(self).__name__}: expected finite weights of 0 or more, got {refused[0]}"
            )
        if np.isnan(scores).any():
            raise ArgumentError(f"{type(self).__name__}: expected scores, got NaN")
        scores = scores.reshape(len(scores), -1)
        if labels.ndim == 2:
            self._check_labels(labels, 2)
            return self._of_classes(labels == 1, scores, weights)
        classes = scores.shape[1]
        self._check_labels(labels, max(2, classes))
        if classes <= 2:
            return self._area(labels == 1, scores[:, -1], weights)
        return self._of_classes(labels[:, None] == np.arange(classes), scores, weights)

    def _of_classes(self, positive: Vector, scores: Vector, weights: Vector) -> Any:
        """Return the value of several classes, of arrays (N, classes) and weights (N,)."""
        classes = scores.shape[1]
        if self.average == "micro":
            return self._area(positive.ravel(), scores.ravel(), np.repeat(weights, classes))
        found = [self._area(positive[:, i], scores[:, i], weights) for i in range(classes)]
        support = weights @ positive if self.average == "weighted" else None
        return averaged(np.array(found), self.average, support)

    def _area(self, positive: Vector, scores: Vector, weights: Vector) -> float:
        """Return the value of one class."""
        counted = weights > 0
        if not counted.any():
            return math.nan
        positive, scores, weights = positive[counted], scores[counted], weights[counted]
        return self._of_counts(*_weights_above(positive, scores, weights, self._thresholds))

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
    def _of_counts(right: Vector, wrong: Vector, total: tuple[float, float]) -> float:
        """Compute the metric of one class from the results of `_weights_above`."""
        raise NotImplementedError


def _weights(label: Any, pred: Any, weight: Any = None) -> Vector:
    """Return the weights of a batch."""
    return np.ones(pred.shape[0]) if weight is None else weight.astype(np.float64).ravel()


def _threshold_values(metric: str, thresholds: Any) -> Vector | None:
    """Return thresholds from the highest; None for all scores.

    Raises:
        ArgumentError: They are fewer than 2, too many, or not finite.
    """
    if thresholds is None:
        return None
    if isinstance(thresholds, int) and 2 <= thresholds <= _MAX_THRESHOLDS:
        return np.linspace(1.0, 0.0, thresholds)
    try:
        found = np.asarray([] if isinstance(thresholds, int) else thresholds, dtype=np.float64)
    except (TypeError, ValueError):  # no numbers
        found = np.empty(0)
    if found.ndim != 1 or found.size < 2 or not np.isfinite(found).all():
        raise ArgumentError(
            f"{metric}: expected thresholds None, a number of 2 or more up to {_MAX_THRESHOLDS}, "
            f"or a list of finite numbers, got {thresholds!r:.60}"
        )
    return np.sort(found)[::-1]


def _weights_above(
    positive: Vector, scores: Vector, weights: Vector, thresholds: Vector | None
) -> tuple[Vector, Vector, tuple[float, float]]:
    """Return weights of positive and of negative samples that reach each threshold, and of all.

    Thresholds descend; None for one above all scores, and all distinct scores.
    """
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    ordered = scores[order].astype(np.float64)
    right = np.cumsum(np.where(positive, weights, 0.0)[order])
    wrong = np.cumsum(np.where(positive, 0.0, weights)[order])
    total = float(right[-1]), float(wrong[-1])
    if thresholds is None:
        ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
        return np.append(0.0, right[ends]), np.append(0.0, wrong[ends]), total
    counts = np.searchsorted(-ordered, -thresholds, side="right")
    return np.append(0.0, right)[counts], np.append(0.0, wrong)[counts], total


@register
class AUROC(_RankingMetric):
    """Area under the curve of true against false positive rate (ROC).

    It is the probability that a sample of the class has a higher score than another one, where
    equal scores count half. Of more than two classes, each is measured against the rest.

    Args:
        average: ``"macro"`` for the mean over the classes that have positive and negative samples;
            ``"weighted"`` for their mean, weighted by the samples of each class; ``"micro"`` for
            one curve of the scores of all classes; None for a value of each class, NaN for the
            others: `get` then returns lists of names, such as ``auroc_0``, and values. Of two
            classes there is one value.
        thresholds: Thresholds of the curve: a list, or a number of them at equal distances from 0
            to 1; None for all scores. With few, the area is an approximation, as in torchmetrics.
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
        thresholds: int | Sequence[float] | None = None,
    ) -> None:
        super().__init__(average, thresholds, name, output_names, label_names)

    @staticmethod
    def _of_counts(right: Vector, wrong: Vector, total: tuple[float, float]) -> float:
        if not total[0] or not total[1]:
            return math.nan
        heights = right[1:] + right[:-1]
        return float((np.diff(wrong) * heights).sum() / (2 * total[0] * total[1]))


@register
@alias("average_precision")
class AveragePrecision(_RankingMetric):
    """Average precision: the sum of precisions at each score, times the increases of recall.

    Of more than two classes, each is measured against the rest.

    Args:
        average: ``"macro"`` for the mean over the classes that have positive samples;
            ``"weighted"`` for their mean, weighted by the samples of each class; ``"micro"`` for
            one curve of the scores of all classes; None for a value of each class, NaN for the
            others: `get` then returns lists of names, such as ``average_precision_0``, and values.
            Of two classes there is one value.
        thresholds: As for `AUROC`.
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
        thresholds: int | Sequence[float] | None = None,
    ) -> None:
        super().__init__(average, thresholds, name, output_names, label_names)

    @staticmethod
    def _of_counts(right: Vector, wrong: Vector, total: tuple[float, float]) -> float:
        if not total[0]:
            return math.nan
        reached = right + wrong
        precision = right / (reached + (reached == 0))
        return float((np.diff(right, prepend=0) * precision).sum() / total[0])
