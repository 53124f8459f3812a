"""Helpers of `mx.metric` for programs with their own metrics."""

import math
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import check_label_shapes

__all__ = ["BinaryClassificationMetrics"]

_COUNTS = ("true_positives", "false_negatives", "false_positives", "true_negatives")


class BinaryClassificationMetrics:
    """The confusion matrix of two classes, local (since the last reset) and global."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset all counts."""
        self.reset_stats()
        self.global_true_positives = self.global_false_negatives = 0
        self.global_false_positives = self.global_true_negatives = 0

    def reset_stats(self) -> None:
        """Reset the local counts."""
        self.true_positives = self.false_negatives = 0
        self.false_positives = self.true_negatives = 0

    def update_binary_stats(self, label: Any, pred: Any) -> None:
        """Count the samples of a batch.

        Args:
            label: (N,), 0 or 1.
            pred: Scores of the two classes, (N, 2).

        Raises:
            ArgumentError: There are more than two classes, or ``label`` and ``pred`` differ in
                length.
        """
        expected = label.asnumpy().astype("int32").ravel()
        chosen = np.argmax(pred.asnumpy(), axis=1)
        check_label_shapes(expected, chosen)
        if len(np.unique(expected)) > 2:
            raise ArgumentError(
                "BinaryClassificationMetrics currently only supports binary classification: "
                "expected labels of two classes, got more"
            )
        for name, right, value in zip(_COUNTS, (1, 1, 0, 0), (1, 0, 1, 0), strict=True):
            count = int(np.sum((expected == right) & (chosen == value)))
            for counted in (name, f"global_{name}"):
                setattr(self, counted, getattr(self, counted) + count)

    def _counts(self, use_global: bool) -> list[int]:
        return [getattr(self, f"global_{name}" if use_global else name) for name in _COUNTS]

    def _precision(self, use_global: bool) -> float:
        right, _, wrong, _ = self._counts(use_global)
        return right / (right + wrong) if right + wrong else 0.0

    def _recall(self, use_global: bool) -> float:
        right, missed, _, _ = self._counts(use_global)
        return right / (right + missed) if right + missed else 0.0

    def _fscore(self, use_global: bool) -> float:
        precision, recall = self._precision(use_global), self._recall(use_global)
        total = precision + recall
        return 2 * precision * recall / total if total else 0.0

    @property
    def precision(self) -> float:
        """The fraction of samples predicted as class 1 that are of class 1."""
        return self._precision(False)

    @property
    def global_precision(self) -> float:
        """The global `precision`."""
        return self._precision(True)

    @property
    def recall(self) -> float:
        """The fraction of samples of class 1 that are predicted as class 1."""
        return self._recall(False)

    @property
    def global_recall(self) -> float:
        """The global `recall`."""
        return self._recall(True)

    @property
    def fscore(self) -> float:
        """The harmonic mean of `precision` and `recall`."""
        return self._fscore(False)

    @property
    def global_fscore(self) -> float:
        """The global `fscore`."""
        return self._fscore(True)

    def matthewscc(self, use_global: bool = False) -> float:
        """Return the Matthews correlation coefficient.

        Args:
            use_global: Whether to use the global counts.
        """
        right, missed, wrong, rejected = self._counts(use_global)
        if not right + missed + wrong + rejected:
            return 0.0
        sums = [right + wrong, right + missed, rejected + wrong, rejected + missed]
        below = math.prod(total for total in sums if total)
        return (right * rejected - wrong * missed) / math.sqrt(below)

    @property
    def total_examples(self) -> int:
        """Local number of samples."""
        return sum(self._counts(False))

    @property
    def global_total_examples(self) -> int:
        """Global number of samples."""
        return sum(self._counts(True))
