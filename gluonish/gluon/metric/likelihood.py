"""CrossEntropy and Perplexity of MXNet 2.0: probabilities or logits, with a label to ignore."""

import math
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.metric import EvalMetric
from gluonish.metric.base import pairs

__all__ = ["CrossEntropy", "Perplexity"]


class CrossEntropy(EvalMetric):
    """Mean cross-entropy: ``-log(p + eps)``, where p is the predicted probability of the label.

    Args:
        eps: Small constant added to the probability to keep the logarithm finite.
        ignore_label: Label to leave out of the mean, such as the index of padding; None counts all.
        axis: Axis of the classes in the predictions.
        from_logits: Whether predictions are logits; if not, they are probabilities.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        ignore_label: int | None = None,
        axis: int = -1,
        from_logits: bool = False,
        name: str = "cross-entropy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis
        self.from_logits = from_logits
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric.

        Args:
            labels: True class indices, N in all: a list of arrays, one per output, or one array.
            preds: Probabilities or logits of the classes for each of the N labels, in the same
                form.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        for label, pred in pairs(labels, preds):
            shape = pred.shape
            in_range = -len(shape) <= self.axis < len(shape)
            if not in_range or math.prod(shape) != label.size * shape[self.axis]:
                raise ArgumentError(
                    f"{type(self).__name__}: expected predictions for {label.size} labels with "
                    f"classes on axis {self.axis}, got {shape}"
                )
            how = self.axis, self.ignore_label, self.from_logits, self.eps
            self._tally(partial(_add_log_likelihood, *how), [label], [pred])


def _add_log_likelihood(
    axis: int,
    ignored: int | None,
    from_logits: bool,
    eps: float,
    xp: ModuleType,
    totals: Any,
    label: Any,
    pred: Any,
) -> None:
    classes = label.ravel().astype(xp.int64)
    rows = xp.moveaxis(pred, axis, -1).reshape(classes.size, -1)
    if rows.dtype not in (xp.float32, xp.float64):  # float16 cannot represent eps
        rows = rows.astype(xp.float32)
    picked = rows[xp.arange(classes.size), classes.clip(0, rows.shape[1] - 1)]
    if from_logits:
        largest = rows.max(axis=1)
        cost = xp.log(xp.exp(rows - largest[:, None]).sum(axis=1)) + largest - picked
    else:
        cost = -xp.log(picked + eps)
    if ignored is None:
        totals[1] += classes.size
    else:
        counted = classes != ignored
        cost = xp.where(counted, cost, 0)
        totals[1] += xp.count_nonzero(counted)
    totals[0] += cost.sum(dtype=xp.float64)


class Perplexity(CrossEntropy):
    """Perplexity: the exponential of the `CrossEntropy`.

    Args:
        eps: Small constant added to the probability to keep the logarithm finite.
        ignore_label: Label to leave out of the mean, such as the index of padding; None counts all.
        axis: Axis of the classes in the predictions.
        from_logits: Whether predictions are logits; if not, they are probabilities.
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        ignore_label: int | None = None,
        axis: int = -1,
        from_logits: bool = False,
        name: str = "perplexity",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(eps, ignore_label, axis, from_logits, name, output_names, label_names)

    def get(self) -> tuple[str, float]:
        """Return ``(name, value)`` since the last `reset` or `reset_local`; NaN without a label."""
        name, mean = super().get()
        return name, math.exp(mean)

    def get_global(self) -> tuple[str, float]:
        """Return ``(name, value)`` since the last `reset`."""
        name, mean = super().get_global()
        return name, math.exp(mean)
