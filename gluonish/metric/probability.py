"""Metrics of probabilities and losses: CrossEntropy, NegativeLogLikelihood, Perplexity, Loss."""

import math
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import EvalMetric, alias, pairs, register
from gluonish.ndarray import NDArray


class _LogLikelihood(EvalMetric):
    """Base class of metrics that are the mean of ``-log(probability of the label + eps)``."""

    eps: float

    def update(self, labels: Any, preds: Any) -> None:
        """Update the metric with one batch.

        Args:
            labels: List of class arrays of N elements, or one NDArray.
            preds: List of probabilities (N, classes), or one NDArray.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        for label, pred in pairs(labels, preds):
            if len(pred.shape) != 2 or pred.shape[0] != label.size:
                raise ArgumentError(
                    f"{type(self).__name__}: expected probabilities ({label.size}, classes), "
                    f"got {pred.shape}"
                )
            self._tally(partial(_add_log_likelihood, self.eps), [label], [pred])


@register
@alias("ce")
class CrossEntropy(_LogLikelihood):
    """Mean cross-entropy: ``-log(p + eps)``, where p is the predicted probability of the label.

    Args:
        eps: Small constant added to the probability to keep the logarithm finite.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
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
    """Mean negative log-likelihood: ``-log(p + eps)``, where p is the probability of the label.

    Args:
        eps: Small constant added to the probability to keep the logarithm finite.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
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
    """Perplexity: ``exp(mean(-log p))``, where p is the predicted probability of the label.

    Args:
        ignore_label: Label to leave out of the mean, such as the index of padding; None counts all.
        axis: Axis of the classes in the predictions.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
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
        """Add one batch to the metric.

        Args:
            labels: True class indices, N in all: a list of arrays, one per output, or one NDArray.
            preds: Probabilities of the classes for each of the N labels, in the same form.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        for label, pred in pairs(labels, preds):
            shape = pred.shape
            in_range = -len(shape) <= self.axis < len(shape)
            if not in_range or math.prod(shape) != label.size * shape[self.axis]:
                raise ArgumentError(
                    f"Perplexity: expected probabilities of {label.size} labels with classes on "
                    f"axis {self.axis}, got {shape}"
                )
            kernel = partial(_add_perplexity, self.axis, self.ignore_label)
            self._tally(kernel, [label], [pred])

    def get(self) -> tuple[str, float]:
        """Return ``(name, value)``; NaN before any label."""
        name, mean = super().get()
        return name, math.exp(mean)

    def get_global(self) -> tuple[str, float]:
        """Return ``(name, value)`` since the last `reset`."""
        name, mean = super().get_global()
        return name, math.exp(mean)


def _wide(xp: ModuleType, values: Any) -> Any:
    """Convert 16-bit values to float32, since float16 cannot represent ``eps``."""
    return values if values.dtype in (xp.float32, xp.float64) else values.astype(xp.float32)


def _add_log_likelihood(eps: float, xp: ModuleType, totals: Any, label: Any, pred: Any) -> None:
    classes = label.ravel().astype(xp.int64)
    of_label = _wide(xp, pred[xp.arange(classes.size), classes])
    totals[0] -= xp.log(of_label + eps).sum(dtype=xp.float64)
    totals[1] += classes.size


def _add_perplexity(
    axis: int, ignored: int | None, xp: ModuleType, totals: Any, label: Any, pred: Any
) -> None:
    classes = label.ravel().astype(xp.int64)
    rows = xp.moveaxis(pred, axis, -1).reshape(classes.size, -1)
    # Clip classes out of range, as the operator `pick` does, which MXNet uses here.
    of_label = _wide(xp, rows[xp.arange(classes.size), classes.clip(0, pred.shape[axis] - 1)])
    cost = xp.log(xp.maximum(of_label, 1e-10))
    if ignored is None:
        totals[1] += classes.size
    else:
        counted = classes != ignored
        cost = xp.where(counted, cost, 0)
        totals[1] += xp.count_nonzero(counted)
    totals[0] -= cost.sum(dtype=xp.float64)


@register
class Loss(EvalMetric):
    """Mean of the network's outputs, for networks that output a loss; labels are ignored.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the outputs that `update_dict` uses; None for all.
        label_names: Accepted for compatibility; has no effect.
    """

    def __init__(
        self,
        name: str = "loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]  # MXNet's names
        self, _: Any, preds: Any
    ) -> None:
        """Add the losses of one batch.

        Args:
            _: Labels, which are ignored.
            preds: A list of loss arrays, or one array.
        """
        for pred in [preds] if isinstance(preds, NDArray | np.ndarray) else preds:
            self._tally(_add_up, (), [pred])


def _add_up(xp: ModuleType, totals: Any, pred: Any) -> None:
    # Pairwise summation in float32 is accurate; narrower types overflow.
    wide = pred.dtype.kind == "f" and pred.dtype.itemsize > 2
    totals[0] += pred.sum(dtype=pred.dtype if wide else xp.float64)
    totals[1] += pred.size


@register
class Torch(Loss):
    """`Loss` under another name, for programs that used Torch criterions.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the outputs that `update_dict` uses; None for all.
        label_names: Accepted without effect.
    """

    def __init__(
        self,
        name: str = "torch",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """`Loss` under another name, for programs that used Caffe losses.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the outputs that `update_dict` uses; None for all.
        label_names: Accepted without effect.
    """

    def __init__(
        self,
        name: str = "caffe",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)
