"""Metrics of the confusion matrix: F1 and MCC of two classes, PCC of any number of classes."""

import math
import operator
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.metric.base import EvalMetric, check_average, pairs, register, to_host
from gluonish.metric.totals import Totals
from gluonish.ndarray import NDArray

Counts = tuple[Any, ...]
Matrix = np.ndarray[Any, Any]

# Number of labels that PCC stores on the device before waiting for it, to count them.
_MAX_UNCOUNTED = 1 << 20


class _BinaryMetric(EvalMetric):
    """Base class of metrics computed from the 2x2 confusion matrix of a batch or of all batches."""

    average: str

    # After sum and count: the number of labels other than the minimum and maximum of their array,
    # and the counts of (0, 0), (0, 1), (1, 0), (1, 1) as (label, predicted class).
    _total_count = 2 + 1 + 4

    def reset(self) -> None:
        """Clear all sums, local and global."""
        super().reset()
        self._local_counts = np.zeros(4)
        self._global_counts = np.zeros(4)

    def reset_local(self) -> None:
        """Clear the local sums."""
        super().reset_local()
        self._local_counts = np.zeros(4)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the metric; combine all arrays of the batch.

        If labels have more than two values, reading the sums raises an ArgumentError.

        Args:
            labels: List of arrays of N classes, 0 or 1, or one NDArray.
            preds: List of scores (N, 2), or one NDArray.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        found = pairs(labels, preds)
        for label, pred in found:
            if len(pred.shape) != 2 or pred.shape[0] != label.size:
                raise ArgumentError(
                    f"{type(self).__name__}: expected scores ({label.size}, 2), got {pred.shape}"
                )
        macro = type(self)._from_counts if self.average == "macro" else None
        arrays = [label for label, _ in found], [pred for _, pred in found]
        self._tally(partial(_add_counts, macro), *arrays)

    def _absorb(self, totals: np.ndarray[Any, Any], *, local: bool) -> None:
        if totals[2]:
            raise ArgumentError(
                f"{type(self).__name__}: expected labels of two classes, got more: "
                f"{int(totals[2])} labels are of others"
            )
        if self.average == "macro":
            super()._absorb(totals, local=local)
            return
        self._global_counts += totals[3:]
        self._global_sum_metric, self._global_num_inst = self._micro(self._global_counts)
        if local:
            self._local_counts += totals[3:]
            self._sum_metric, self._num_inst = self._micro(self._local_counts)

    def _all_sums(self) -> Any:
        return super()._all_sums(), self._local_counts, self._global_counts

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        sums, local, total = zip(*sums_by_rank, strict=True)
        super()._set_sums(sums)
        self._local_counts, self._global_counts = np.sum(local, axis=0), np.sum(total, axis=0)
        if self.average == "micro":
            self._sum_metric, self._num_inst = self._micro(self._local_counts)
            self._global_sum_metric, self._global_num_inst = self._micro(self._global_counts)

    def _micro(self, counts: Any) -> tuple[float, int]:
        """Return a sum and a count; their quotient is the metric computed from all counts."""
        total = int(counts.sum())
        return float(self._from_counts(tuple(counts.tolist()))) * total, total

    @staticmethod
    def _from_counts(counts: Counts) -> Any:
        """Compute the metric from the counts, on the host or on a device."""
        raise NotImplementedError


def _or_one(count: Any) -> Any:
    """Return a count, with 0 replaced by 1, to avoid division by 0."""
    return count + (count == 0)


def _add_counts(macro: Any, xp: ModuleType, totals: Any, *arrays: Any) -> None:
    """Add the counts of a batch to the totals; or the metric that ``macro`` computes from them."""
    half = len(arrays) // 2
    counts: tuple[Any, ...] = (0, 0, 0, 0)
    for label, pred in zip(arrays[:half], arrays[half:], strict=True):
        if not label.size:
            continue
        expected = label.ravel()
        positive, predicted = expected.astype(xp.int64) == 1, pred.argmax(axis=1) == 1
        both = xp.count_nonzero(positive & predicted)
        labelled, chosen = xp.count_nonzero(positive), xp.count_nonzero(predicted)
        # On the host, skip this if all labels are 0 or 1; on a device, the test would synchronize.
        if xp is not np or labelled != xp.count_nonzero(expected):
            totals[2] += _count_others(xp, expected.astype(xp.int64))
        negative = label.size - labelled - chosen + both
        added = negative, chosen - both, labelled - both, both
        counts = tuple(map(operator.add, counts, added))
    if macro is None:
        for i, count in enumerate(counts, 3):
            totals[i] += count
    else:
        totals[0] += macro(counts)
        totals[1] += 1


def _count_others(xp: ModuleType, classes: Any) -> Any:
    """Count the classes other than the minimum and the maximum."""
    return xp.count_nonzero((classes != classes.min()) & (classes != classes.max()))


@register
class F1(_BinaryMetric):
    """F1 score: the harmonic mean of precision and recall of class 1; 0 where both are 0.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        average: ``"macro"``: average the values of the batches; ``"micro"``: compute one value from
            all labels together.

    Raises:
        ArgumentError: ``average`` is neither ``"macro"`` nor ``"micro"``.
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = check_average("F1", average)
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _from_counts(counts: Counts) -> Any:
        _, false_positive, false_negative, true_positive = counts
        # 2 / (1 / precision + 1 / recall), without division by 0.
        return 2 * true_positive / _or_one(2 * true_positive + false_positive + false_negative)


@register
class MCC(_BinaryMetric):
    """Matthews correlation coefficient of two classes, in [-1, 1].

    Rows and columns of the confusion matrix that are all 0 are left out of the denominator.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        average: ``"macro"``: average the values of the batches; ``"micro"``: compute one value from
            all labels together.

    Raises:
        ArgumentError: ``average`` is neither ``"macro"`` nor ``"micro"``.
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = check_average("MCC", average)
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @staticmethod
    def _from_counts(counts: Counts) -> Any:
        true_negative, false_positive, false_negative, true_positive = (1.0 * x for x in counts)
        spread = (
            _or_one(true_negative + false_positive)
            * _or_one(false_negative + true_positive)
            * _or_one(true_negative + false_negative)
            * _or_one(false_positive + true_positive)
        )
        product = true_positive * true_negative - false_positive * false_negative
        return product / spread**0.5


@register
class PCC(EvalMetric):
    """Multi-class Pearson correlation of labels and predicted classes, a generalization of `MCC`.

    The value is NaN while there is only one class.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the predictions that `update_dict` uses; None for all.
        label_names: Names of the labels that `update_dict` uses; None for all.
        has_global_stats: Whether to maintain the counts for `get_global`.
    """

    def __init__(
        self,
        name: str = "pcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        has_global_stats: bool = True,
    ) -> None:
        self._k = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    @property
    def k(self) -> int:
        """Number of classes so far, at least 2."""
        self._fetch_pending()
        return self._k

    def reset(self) -> None:
        """Clear all sums, local and global."""
        self._uncounted: list[tuple[Totals, bool]] = []
        self._uncounted_size = 0
        self._global_num_inst = 0
        self._global = _no_counts(self._k)
        self.reset_local()

    def reset_local(self) -> None:
        """Clear the local counts."""
        self._uncounted = [(codes, False) for codes, _ in self._uncounted]
        self._num_inst = 0
        self._local = _no_counts(self._k)

    def update(self, labels: Any, preds: Any) -> None:
        """Add one batch to the confusion matrix.

        Args:
            labels: True class indices (N,): a list of arrays, one per output, or one NDArray.
            preds: Scores (N, classes), in the same form.

        Raises:
            ArgumentError: The numbers of labels and predictions differ.
        """
        for label, pred in pairs(labels, preds):
            same = pred.shape == label.shape
            if not same and (len(pred.shape) < 2 or pred.size // pred.shape[1] != label.size):
                raise ArgumentError(
                    f"PCC: expected scores ({label.size}, classes), got {pred.shape}"
                )
            self._store_classes(label, pred, None if same else 1)
        self._num_inst += 1
        self._global_num_inst += 1
        if self._uncounted_size > _MAX_UNCOUNTED:
            self._fetch_pending()

    def _store_classes(self, label: Any, pred: Any, axis: int | None) -> None:
        """Store labels and predicted classes; `_fetch_pending` counts them, once k is known."""
        kernel = partial(_list_classes, axis)
        if isinstance(label, NDArray) and isinstance(pred, NDArray):
            listed = Totals(pred._device, 2 * label.size)
            listed.push(kernel, [label, pred], "PCC")
            self._uncounted.append((listed, True))
            self._uncounted_size += label.size
        else:
            classes = np.zeros(2 * label.size)
            kernel(np, classes, to_host(label), to_host(pred))
            self._count(classes, local=True)

    def _fetch_pending(self) -> None:
        """Fetch and count the stored classes."""
        uncounted, self._uncounted, self._uncounted_size = self._uncounted, [], 0
        for listed, local in uncounted:
            self._count(listed.fetch(), local=local)

    def _count(self, classes: np.ndarray[Any, Any], *, local: bool) -> None:
        expected, predicted = classes.astype(np.int64).reshape(2, -1)
        self._grow(1 + int(classes.max(initial=1)))
        counts = _confusion(expected, predicted, self._k)
        self._global += counts
        if local:
            self._local += counts

    def _all_sums(self) -> Any:
        self._fetch_pending()
        return self._local, self._global, self._num_inst, self._global_num_inst

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        self._fetch_pending()
        self._local, self._global = _no_counts(self._k), _no_counts(self._k)
        self._num_inst = self._global_num_inst = 0
        for local, total, count, total_count in sums_by_rank:
            classes = len(local)
            self._grow(classes)
            self._local[:classes, :classes] += local
            self._global[:classes, :classes] += total
            self._num_inst += count
            self._global_num_inst += total_count

    def _grow(self, classes: int) -> None:
        if classes > self._k:
            margin = ((0, classes - self._k),) * 2
            self._local = np.pad(self._local, margin)
            self._global = np.pad(self._global, margin)
            self._k = classes

    @property
    def sum_metric(self) -> float:
        """The correlation since the last `reset_local`, times ``num_inst``."""
        self._fetch_pending()
        return _correlation(self._local) * self._num_inst

    @property
    def global_sum_metric(self) -> float:
        """The correlation since the last `reset`, times ``global_num_inst``."""
        self._fetch_pending()
        return _correlation(self._global) * self._global_num_inst


def _list_classes(axis: int | None, xp: ModuleType, classes: Any, label: Any, pred: Any) -> None:
    found = pred if axis is None else pred.argmax(axis=axis)
    classes.reshape(2, -1)[0] = label.ravel()
    classes.reshape(2, -1)[1] = found.ravel()


def _confusion(label: Any, pred: Any, classes: int) -> Matrix:
    """Return the confusion matrix (classes, classes) by label and predicted class."""
    return np.bincount(label * classes + pred, minlength=classes**2).reshape(classes, classes)


def _no_counts(classes: int) -> Matrix:
    return np.zeros((classes, classes), np.int64)


def _correlation(counts: Matrix) -> float:
    total = int(counts.sum())
    of_label, of_pred = counts.sum(axis=1), counts.sum(axis=0)
    label_spread = int((of_label * (total - of_label)).sum())
    pred_spread = int((of_pred * (total - of_pred)).sum())
    if not label_spread or not pred_spread:
        return math.nan
    together = int((counts.diagonal() * total - of_label * of_pred).sum())
    return together / math.sqrt(label_spread * pred_spread)
