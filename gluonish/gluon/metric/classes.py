"""Metrics of predicted classes, with a threshold: Fbeta, F1, MCC, BinaryAccuracy."""

import math
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import gluonish.numpy as mx_np
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.metric import EvalMetric
from gluonish.metric.base import pairs
from gluonish.ndarray import NDArray

__all__ = ["F1", "MCC", "BinaryAccuracy", "Fbeta", "one_hot", "predict_with_threshold"]

_CLASS_TYPES = ("binary", "multiclass", "multilabel")
_AVERAGES = ("micro", "macro", "binary")
Counts = np.ndarray[Any, Any]


def predict_with_threshold(pred: Any, threshold: Any = 0.5) -> Any:
    """Return which scores are above a threshold, as bool.

    Args:
        pred: Scores.
        threshold: A number, or an array with a threshold for each class, the last axis.

    Raises:
        ArgumentTypeError: ``threshold`` is neither.
    """
    if isinstance(threshold, np.ndarray | NDArray | float | int | np.number):
        return pred > threshold
    raise ArgumentTypeError(
        f"predict_with_threshold: expected threshold as a number or an array, got "
        f"{type(threshold).__name__}"
    )


def one_hot(idx: Any, num: int) -> Any:
    """Return rows that are 1 at a class and 0 elsewhere, int32 (N, num).

    Args:
        idx: Classes (N,).
        num: Number of classes.
    """
    return (mx_np.arange(num, dtype="int32") == idx[:, None].astype("int32")).astype("int32")


def _check_choice(metric: str, name: str, value: Any, choices: Sequence[str]) -> Any:
    if value not in choices:
        raise ArgumentError(f"{metric}: expected {name} among {list(choices)}, got {value!r}")
    return value


class _Counting(EvalMetric):
    """Base class of metrics of the counts of right and wrong predictions of each class."""

    class_type = "binary"
    threshold: Any = 0.5

    def reset(self) -> None:
        """Clear all sums, local and global."""
        super().reset()
        self._classes: int | None = None
        self._local: Counts = np.zeros((4, 1))
        self._global: Counts = np.zeros((4, 1))

    def reset_local(self) -> None:
        """Clear the local sums."""
        super().reset_local()
        self._local = np.zeros_like(self._global)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the counts.

        Args:
            labels: Classes (N,): a list of arrays, or one array; for ``"multilabel"`` 0 or 1 for
                each class, (N, classes).
            preds: Scores (N, classes), in the same form; for two classes also the scores (N,) of
                class 1.

        Raises:
            ArgumentError: The numbers of labels and predictions differ, or the number of classes
                changed.
        """
        for label, pred in pairs(labels, preds):
            self._set_classes(self._checked_classes(label.shape, pred.shape))
            kernel = partial(_add_counts, self.class_type, self.threshold)
            self._tally(kernel, [label], [pred])

    def _checked_classes(self, label: tuple[int, ...], pred: tuple[int, ...]) -> int:
        """Return the number of classes of a batch.

        Raises:
            ArgumentError: The shapes do not match.
        """
        count, metric = math.prod(label), type(self).__name__
        if self.class_type == "binary":
            if math.prod(pred) != count and pred != (count, 2):
                raise ArgumentError(
                    f"{metric}: expected scores ({count},) or ({count}, 2), got {pred}"
                )
            return 1
        expected = label if self.class_type == "multilabel" else (count, *pred[1:])
        if pred != expected or len(pred) != 2:
            raise ArgumentError(
                f"{metric}: expected scores (N, classes) of labels {label}, got {pred}"
            )
        return pred[1]

    def _set_classes(self, classes: int) -> None:
        if self._classes is None:
            self._classes = classes
            self._total_count = 3 + 4 * classes
            self._local, self._global = np.zeros((2, 4, classes))
        elif self._classes != classes:
            raise ArgumentError(
                f"{type(self).__name__}: expected scores of {self._classes} classes, as before, "
                f"got {classes}"
            )

    def _absorb(self, totals: np.ndarray[Any, Any], *, local: bool) -> None:
        if totals[2]:
            raise ArgumentError(
                f"{type(self).__name__}: expected labels 0 and 1, got {int(totals[2])} others; "
                "class_type='multiclass' takes more classes"
            )
        counts = totals[3:].reshape(4, -1)
        self._global = self._global + counts
        if local:
            self._local = self._local + counts
        self._add(0.0, float(totals[1]), local=local)

    def _all_sums(self) -> Any:
        return super()._all_sums(), self._local, self._global

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        sums, local, total = zip(*sums_by_rank, strict=True)
        super()._set_sums(sums)
        self._local, self._global = np.sum(local, axis=0), np.sum(total, axis=0)

    def get(self) -> tuple[str, Any]:
        """Return ``(name, value)`` since the last `reset` or `reset_local`; NaN without a batch."""
        return self.name, self._value(self._local) if self.num_inst else math.nan

    def get_global(self) -> tuple[str, Any]:
        """Return ``(name, value)`` since the last `reset`."""
        return self.name, self._value(self._global) if self.global_num_inst else math.nan

    def _value(self, counts: Counts) -> Any:
        """Compute the metric from true and false positives, false and true negatives."""
        raise NotImplementedError


def _add_counts(
    class_type: str, threshold: Any, xp: ModuleType, totals: Any, label: Any, pred: Any
) -> None:
    if class_type == "multiclass":
        classes = xp.arange(pred.shape[1])
        expected = label.reshape(-1, 1).astype(xp.int64) == classes
        found = pred.argmax(axis=1).reshape(-1, 1) == classes
    else:
        if class_type == "binary":
            scores = pred.reshape(-1, 1) if pred.size == label.size else pred[:, 1:]
            label = label.reshape(-1, 1)
        else:
            scores = pred
        bound = threshold.asnumpy() if isinstance(threshold, NDArray) else threshold
        found = scores > xp.asarray(bound)
        whole = label.astype(xp.int64)
        expected = whole == 1
        totals[2] += xp.count_nonzero((whole != 0) & (whole != 1))
    counts = totals[3:].reshape(4, -1)
    counts[0] += (expected & found).sum(axis=0)
    counts[1] += (~expected & found).sum(axis=0)
    counts[2] += (expected & ~found).sum(axis=0)
    counts[3] += (~expected & ~found).sum(axis=0)
    totals[1] += label.shape[0]


class Fbeta(_Counting):
    """F-beta score: ``(1 + beta^2) precision recall / (beta^2 precision + recall)``.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        class_type: ``"binary"``, ``"multiclass"``: the class with the highest score is predicted,
            or ``"multilabel"``: each class whose score is above the threshold.
        beta: Weight of the recall; 1 for `F1`.
        threshold: A class is predicted if its score is above it: a number, or an array with one
            for each class.
        average: ``"micro"``: compute one value from the counts of all classes; ``"macro"``: average
            the values of the classes; ``"binary"``: return the values of the classes.

    Raises:
        ArgumentError: ``class_type`` or ``average`` has another value.
    """

    def __init__(
        self,
        name: str = "fbeta",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        class_type: str = "binary",
        beta: float = 1,
        threshold: Any = 0.5,
        average: str = "micro",
    ) -> None:
        kind = type(self).__name__
        self.class_type = _check_choice(kind, "class_type", class_type, _CLASS_TYPES)
        self.average = _check_choice(kind, "average", average, _AVERAGES)
        self.beta = beta
        self.threshold = threshold
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _value(self, counts: Counts) -> Any:
        if self.average == "micro":
            counts = counts.sum(axis=1, keepdims=True)
        right, wrong, missed, _ = counts
        square = self.beta**2
        below = (1 + square) * right + square * missed + wrong
        scores = (1 + square) * right / np.where(below == 0, 1, below)
        if self.average == "binary":
            return mx_np.array(scores, dtype="float64")
        return float(scores.mean())


class F1(Fbeta):
    """F1 score: the harmonic mean of precision and recall; 0 where both are 0.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        class_type: As for `Fbeta`.
        threshold: As for `Fbeta`.
        average: As for `Fbeta`.

    Raises:
        ArgumentError: ``class_type`` or ``average`` has another value.
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        class_type: str = "binary",
        threshold: Any = 0.5,
        average: str = "micro",
    ) -> None:
        super().__init__(name, output_names, label_names, class_type, 1, threshold, average)


class MCC(_Counting):
    """Matthews correlation coefficient of two classes, in [-1, 1]; 0 if a class never occurs.

    A score above 0.5 predicts class 1.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _value(self, counts: Counts) -> Any:
        right, wrong, missed, negative = counts[:, 0]
        sums = (right + wrong, right + missed, negative + wrong, negative + missed)
        spread = math.prod(float(x) or 1.0 for x in sums)
        return float((right * negative - wrong * missed) / math.sqrt(spread))


class BinaryAccuracy(EvalMetric):
    """Accuracy of two classes, or of several labels: the fraction of right predictions.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        threshold: Class 1 is predicted if the score is above it: a number, or an array with one for
            each class.

    Example:
        >>> import gluonish as mx
        >>> metric = mx.gluon.metric.BinaryAccuracy(threshold=0.6)
        >>> metric.update(mx.np.array([0, 1, 0]), mx.np.array([0.7, 1, 0.55]))
        >>> metric.get()
        ('binary_accuracy', 0.6666666666666666)
    """

    def __init__(
        self,
        name: str = "binary_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        threshold: Any = 0.5,
    ) -> None:
        self.threshold = threshold
        super().__init__(
            name, output_names, label_names, threshold=threshold, has_global_stats=True
        )

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: 0 or 1 for each prediction: a list of arrays, or one array.
            preds: Scores of class 1, in the same form and with the same shapes.

        Raises:
            ArgumentError: Labels and predictions differ in number or in size.
        """
        for label, pred in pairs(labels, preds):
            if label.size != pred.size:
                raise ArgumentError(
                    f"BinaryAccuracy: expected scores of {label.shape}, as the labels, got "
                    f"{pred.shape}"
                )
            self._tally(partial(_count_right, self.threshold), [label], [pred])


def _count_right(threshold: Any, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    bound = threshold.asnumpy() if isinstance(threshold, NDArray) else threshold
    found = (pred > xp.asarray(bound)).ravel()
    totals[0] += xp.count_nonzero(found == (label.ravel().astype(xp.int32) == 1))
    totals[1] += label.size
