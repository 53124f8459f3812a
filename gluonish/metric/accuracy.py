"""How often the predicted class is right: Accuracy and TopKAccuracy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.metric.base import EvalMetric, alias, check_label_shapes, register, to_host
from gluonish.ndarray import NDArray

__all__ = ["Accuracy", "TopKAccuracy"]


@register
@alias("acc")
class Accuracy(EvalMetric):
    """The share of labels that equal the predicted class.

    Args:
        axis: Axis of the classes in predictions of another shape than the labels.
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
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
        """Add one batch.

        Args:
            labels: List of class arrays, or one NDArray.
            preds: List of arrays of the labels' shape (classes), or with one more axis (scores).

        Raises:
            ArgumentError: Labels and predictions differ in number.
        """
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            classes = to_host(pred if pred.shape == label.shape else _argmax(pred, self.axis))
            right = classes.ravel().astype(np.int32)
            expected = to_host(label).ravel().astype(np.int32)
            check_label_shapes(expected, right)
            self._add((right == expected).sum(), right.size)


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """The share of labels that are among the ``top_k`` classes of highest score.

    Args:
        top_k: How many classes count, 2 or more.
        name: What `get` calls the value, followed by ``_`` and ``top_k``.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.

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
        super().__init__(name, output_names, label_names, top_k=top_k, has_global_stats=True)
        if top_k <= 1:
            raise ArgumentError(
                f"TopKAccuracy: expected top_k of at least 2, got {top_k}; use Accuracy"
            )
        self.top_k = top_k
        self.name += f"_{top_k}"

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch.

        Args:
            labels: List of class arrays of N elements, or one NDArray.
            preds: List of scores (N, classes), or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number, or there are fewer than
                ``top_k`` classes.
        """
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            scores = to_host(pred).astype(np.float32)
            if scores.ndim not in (1, 2) or scores.shape[-1] < self.top_k:
                raise ArgumentError(
                    f"TopKAccuracy: expected scores (N, classes) of {self.top_k} classes or more, "
                    f"got {scores.shape}"
                )
            expected = to_host(label).ravel().astype(np.int32)
            check_label_shapes(expected, scores)
            ranked = np.argpartition(scores, -self.top_k)
            if ranked.ndim == 2:
                ranked = ranked[:, -self.top_k :]
                right = (ranked == expected[:, np.newaxis]).sum()
            else:
                right = (ranked == expected).sum()
            self._add(right, len(expected))


def _argmax(pred: Any, axis: int) -> Any:
    """Return the best classes, found on the device of the scores."""
    return nd.argmax(pred, axis=axis) if isinstance(pred, NDArray) else np.argmax(pred, axis)
