"""Metrics of counts by class: ConfusionMatrix, MeanIoU, TopKAccuracyPerClass."""

import math
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int
from gluonish.metric.base import alias, pairs, register, weights_of
from gluonish.metric.counts import CountingMetric, Vector

_NORMALIZE = (None, "true", "pred", "all")


class _ByClass(CountingMetric):
    """Base of metrics whose sums, after three others, are of class indices.

    The third sum counts labels and predictions that are of no class.
    """

    num_classes: int

    def _check(self, totals: Vector) -> None:
        if totals[2]:
            raise ArgumentError(
                f"{type(self).__name__}: expected labels and predictions in [0, "
                f"{self.num_classes}), got {int(totals[2])} others"
            )


class _MatrixMetric(_ByClass):
    """Base of metrics of the confusion matrix."""

    axis: int
    ignore_label: int | None

    def __init__(
        self,
        num_classes: int,
        axis: int,
        ignore_label: int | None,
        name: str,
        output_names: Sequence[str] | None,
        label_names: Sequence[str] | None,
        **kwargs: Any,
    ) -> None:
        self.num_classes = as_int(type(self).__name__, "num_classes", num_classes, 1)
        self.axis, self.ignore_label = axis, ignore_label
        self._total_count = 3 + self.num_classes**2
        super().__init__(
            name,
            output_names,
            label_names,
            num_classes=num_classes,
            axis=axis,
            ignore_label=ignore_label,
            has_global_stats=True,
            **kwargs,
        )

    def update(self, labels: Any, preds: Any, sample_weight: Any = None) -> None:
        """Add one batch to the metric.

        Classes out of range raise an ArgumentError when the value is read.

        Args:
            labels: True class indices of any shape: a list of arrays, or one NDArray.
            preds: In the same form, class indices of the labels' shape, or scores with one more
                axis of classes, whose argmax is the prediction.
            sample_weight: In the same form, weights of the labels' shape, which are summed instead
                of counting 1; None for 1.

        Raises:
            ArgumentError: Labels, predictions and weights differ in number, or their shapes do not
                fit.
        """
        found = pairs(labels, preds)
        weights = weights_of(type(self).__name__, sample_weight, [label for label, _ in found])
        for (label, pred), weight in zip(found, weights, strict=True):
            axis = None if pred.shape == label.shape else self._checked_axis(label, pred)
            kernel = partial(_add_matrix, axis, self.num_classes, self.ignore_label)
            if weight is not None and weight.shape != label.shape:
                raise ArgumentError(
                    f"{type(self).__name__}: expected weights of the labels' shape {label.shape}, "
                    f"got {weight.shape}"
                )
            self._tally(kernel, [label], [pred] if weight is None else [pred, weight])

    def _checked_axis(self, label: Any, pred: Any) -> int:
        shape = pred.shape
        if -len(shape) <= self.axis < len(shape):
            axis = self.axis % len(shape)
            others = shape[:axis] + shape[axis + 1 :]
            if shape[axis] == self.num_classes and math.prod(others) == label.size:
                return axis
        raise ArgumentError(
            f"{type(self).__name__}: expected predictions of the labels' shape {label.shape}, or "
            f"with {self.num_classes} classes on axis {self.axis}, got {shape}; the call is "
            "update(labels, preds)"
        )

    def _matrix(self, sums: Vector) -> Vector:
        return sums[3:].reshape(self.num_classes, self.num_classes)


def _add_matrix(
    axis: int | None,
    classes: int,
    ignored: int | None,
    xp: ModuleType,
    totals: Any,
    label: Any,
    pred: Any,
    weight: Any = None,
) -> None:
    expected = label.ravel().astype(xp.int64)
    predicted = (pred if axis is None else pred.argmax(axis=axis)).ravel().astype(xp.int64)
    counted = xp.ones(expected.shape, bool) if ignored is None else expected != ignored
    inside = (expected >= 0) & (expected < classes) & (predicted >= 0) & (predicted < classes)
    totals[1] += xp.count_nonzero(counted)
    totals[2] += xp.count_nonzero(counted & ~inside)
    # What is not counted goes to a last code.
    codes = xp.where(counted & inside, expected * classes + predicted, classes**2)
    weights = None if weight is None else weight.ravel().astype(xp.float64)
    totals[3:] += xp.bincount(codes, weights=weights, minlength=classes**2 + 1)[:-1]


@register
@alias("confusion_matrix")
class ConfusionMatrix(_MatrixMetric):
    """Confusion matrix: how many samples of each class (row) are predicted as each (column).

    With weights of samples it has their sums, which are integers if all of them are whole.

    Args:
        num_classes: Number of classes, 1 or more.
        normalize: What the counts are divided by: ``"true"`` for the number of labels of the row's
            class, ``"pred"`` for the number of predictions of the column's class, ``"all"`` for
            the number of samples; a sum of 0 gives zeros. None for counts.
        axis: Axis of the classes, if predictions are scores.
        ignore_label: Label whose samples do not count; None for no such label.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: ``num_classes`` or ``normalize`` has none of these values.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.metric.ConfusionMatrix(num_classes=2)
        >>> metric.update(mx.nd.array([0, 0, 1]), mx.nd.array([0, 1, 1]))
        >>> metric.get()[1]
        array([[1, 1],
               [0, 1]])
    """

    def __init__(
        self,
        num_classes: int,
        normalize: str | None = None,
        axis: int = 1,
        ignore_label: int | None = None,
        name: str = "confusion_matrix",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if normalize not in _NORMALIZE:
            raise ArgumentError(
                f"ConfusionMatrix: expected normalize 'true', 'pred', 'all' or None, got "
                f"{normalize!r}"
            )
        self.normalize = normalize
        super().__init__(
            num_classes, axis, ignore_label, name, output_names, label_names, normalize=normalize
        )

    def _value(self, sums: Vector) -> Any:
        matrix = self._matrix(sums)
        if not sums[1]:
            return np.full_like(matrix, math.nan)
        if self.normalize is None:
            whole = matrix.astype(np.int64)
            return whole if (whole == matrix).all() else matrix
        axis = {"true": 1, "pred": 0, "all": None}[self.normalize]
        total = matrix.sum(axis=axis, keepdims=True)
        return matrix / (total + (total == 0))


@register
@alias("mean_iou", "miou")
class MeanIoU(_MatrixMetric):
    """Mean over classes of intersection over union: ``TP / (TP + FP + FN)``, for segmentation.

    The elements of all batches count together. Classes that are neither among labels nor among
    predictions do not count.

    Args:
        num_classes: Number of classes, 1 or more.
        average: ``"macro"`` for the mean over classes; None for a value of each class, NaN for
            those that do not occur: `get` then returns lists of names, such as ``mean_iou_0``, and
            values.
        axis: Axis of the classes, if predictions are scores.
        ignore_label: Label whose elements do not count, such as 255; None for no such label.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: ``num_classes`` or ``average`` has none of these values.
    """

    def __init__(
        self,
        num_classes: int,
        average: str | None = "macro",
        axis: int = 1,
        ignore_label: int | None = None,
        name: str = "mean_iou",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.average = checked_mean("MeanIoU", average)
        super().__init__(
            num_classes, axis, ignore_label, name, output_names, label_names, average=average
        )

    def _value(self, sums: Vector) -> Any:
        matrix = self._matrix(sums)
        right = matrix.diagonal()
        union = matrix.sum(axis=0) + matrix.sum(axis=1) - right
        return averaged(quotients(right, union), self.average)


@register
@alias("top_k_accuracy_per_class")
class TopKAccuracyPerClass(_ByClass):
    """Top-k accuracy of each class: the fraction of its samples whose label is among the best.

    `get` returns lists of names, such as ``top_k_accuracy_per_class_0``, and values; NaN for a
    class without samples. Of equal scores, that of the lower class index is the better one.

    Args:
        num_classes: Number of classes, 1 or more.
        top_k: Number of classes to consider, from 1 to ``num_classes``.
        name: Name of the metric, to which `get` appends ``_`` and the class.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.

    Raises:
        ArgumentError: ``num_classes`` or ``top_k`` is out of range.
    """

    def __init__(
        self,
        num_classes: int,
        top_k: int = 1,
        name: str = "top_k_accuracy_per_class",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.num_classes = as_int("TopKAccuracyPerClass", "num_classes", num_classes, 1)
        self.top_k = as_int("TopKAccuracyPerClass", "top_k", top_k, 1)
        if self.top_k > self.num_classes:
            raise ArgumentError(
                f"TopKAccuracyPerClass: expected top_k of at most num_classes={num_classes}, got "
                f"{top_k}"
            )
        self._total_count = 3 + 2 * self.num_classes
        super().__init__(
            name,
            output_names,
            label_names,
            num_classes=num_classes,
            top_k=top_k,
            has_global_stats=True,
        )

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Labels out of range raise an ArgumentError when the value is read.

        Args:
            labels: True class indices (N,): a list of arrays, or one NDArray.
            preds: Scores (N, num_classes), in the same form.

        Raises:
            ArgumentError: Labels and predictions differ in number, or their shapes do not fit.
        """
        for label, pred in pairs(labels, preds):
            if pred.shape != (label.size, self.num_classes):
                raise ArgumentError(
                    f"TopKAccuracyPerClass: expected scores ({label.size}, {self.num_classes}), "
                    f"got {pred.shape}"
                )
            self._tally(partial(_add_ranks, self.top_k), [label], [pred])

    def _value(self, sums: Vector) -> Any:
        right, count = sums[3:].reshape(2, -1)
        return quotients(right, count).tolist()


def _add_ranks(top_k: int, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    count, classes = pred.shape
    expected = label.ravel().astype(xp.int64)
    inside = (expected >= 0) & (expected < classes)
    safe = xp.where(inside, expected, 0)
    own = xp.take_along_axis(pred, safe[:, None], axis=1)
    before = xp.arange(classes)[None, :] < safe[:, None]
    rank = ((pred > own) | ((pred == own) & before)).sum(axis=1)
    codes = xp.where(inside, safe, classes)
    right = xp.where(inside & (rank < top_k), safe, classes)
    totals[1] += count
    totals[2] += count - xp.count_nonzero(inside)
    totals[3 : 3 + classes] += xp.bincount(right, minlength=classes + 1)[:-1]
    totals[3 + classes :] += xp.bincount(codes, minlength=classes + 1)[:-1]


def checked_mean(metric: str, average: str | None, *others: str) -> str | None:
    """Check ``average`` of a metric over classes, and return it.

    Args:
        metric: Name of the metric's class, for messages.
        average: The argument.
        *others: Names of averages that the metric has besides ``"macro"``.

    Raises:
        ArgumentError: ``average`` is none of them, and not None.
    """
    known = ("macro", *others)
    if average is not None and average not in known:
        names = ", ".join(map(repr, known))
        raise ArgumentError(f"{metric}: expected average {names} or None, got {average!r}")
    return average


def quotients(a: Vector, b: Vector) -> Vector:
    """Return ``a / b``, with NaN where b is 0."""
    found: Vector = np.divide(a, b, out=np.full(a.shape, math.nan), where=b != 0)
    return found


def averaged(values: Vector, average: str | None, weights: Vector | None = None) -> Any:
    """Return the mean of the values other than NaN, or a list of all without ``average``.

    Args:
        values: The values of classes.
        average: None for a list.
        weights: Weights of the classes in the mean; None for equal ones.
    """
    if average is None:
        return values.tolist()
    known = ~np.isnan(values)
    if weights is not None:
        total = float(weights[known].sum())
        return float((values * weights)[known].sum()) / total if total else math.nan
    return float(values[known].mean()) if known.any() else math.nan
