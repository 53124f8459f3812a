"""How probable the right class was said to be: CrossEntropy, NegativeLogLikelihood, Perplexity."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import EvalMetric, alias, host_pairs, register

__all__ = ["CrossEntropy", "NegativeLogLikelihood", "Perplexity"]


class _LogLikelihood(EvalMetric):
    """The mean of ``-log(probability of the label + eps)``."""

    eps: float

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch.

        Args:
            labels: List of class arrays of N elements, or one NDArray.
            preds: List of probabilities (N, classes), or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number.
        """
        for label, pred in host_pairs(labels, preds):
            classes = label.ravel().astype(np.int64)
            if pred.ndim != 2 or len(pred) != classes.size:
                raise ArgumentError(
                    f"{type(self).__name__}: expected probabilities ({classes.size}, classes), "
                    f"got {pred.shape}"
                )
            of_label = pred[np.arange(classes.size), classes]
            self._add(-np.log(of_label + self.eps).sum(), classes.size)


@register
@alias("ce")
class CrossEntropy(_LogLikelihood):
    """Cross entropy: the mean of ``-log(p + eps)`` over labels, with the label's probability p.

    Args:
        eps: Added to the probability.
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "cross-entropy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLikelihood):
    """Negative log-likelihood: the mean of ``-log(p + eps)`` over labels.

    Args:
        eps: Added to the probability.
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps


@register
class Perplexity(EvalMetric):
    """``exp`` of the mean of ``-log p`` over labels, with the label's probability p.

    Args:
        ignore_label: A class that does not count, such as padding; None for none.
        axis: Axis of the classes in predictions.
        name: What `get` calls the value.
        output_names: Which predictions `update_dict` takes; None for all.
        label_names: Which labels `update_dict` takes; None for all.
    """

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            name, output_names, label_names, ignore_label=ignore_label, has_global_stats=True
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch.

        Args:
            labels: List of class arrays of N elements, or one NDArray.
            preds: List of probabilities of N times the classes, or one NDArray.

        Raises:
            ArgumentError: Labels and predictions differ in number.
        """
        for label, pred in host_pairs(labels, preds):
            classes = label.ravel().astype(np.int64)
            rows = np.moveaxis(pred, self.axis, -1).reshape(-1, pred.shape[self.axis])
            if len(rows) != classes.size:
                raise ArgumentError(
                    f"Perplexity: expected probabilities of {classes.size} labels, got {pred.shape}"
                )
            if self.ignore_label is not None:
                counted = classes != self.ignore_label
                rows, classes = rows[counted], classes[counted]
            # pick, which MXNet uses here, takes the nearest class for one out of range.
            of_label = rows[np.arange(len(rows)), classes.clip(0, rows.shape[1] - 1)]
            self._add(-np.log(np.maximum(1e-10, of_label)).sum(), classes.size)

    def get(self) -> tuple[str, float]:
        """Return name and value; NaN before any label."""
        name, mean = super().get()
        return name, math.exp(mean)

    def get_global(self) -> tuple[str, float]:
        """Return name and value since the last `reset`."""
        name, mean = super().get_global()
        return name, math.exp(mean)
