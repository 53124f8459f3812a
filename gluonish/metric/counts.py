"""CountingMetric, the base of metrics that are a function of a vector of sums over all batches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.metric.base import EvalMetric

Vector = np.ndarray[Any, Any]


class CountingMetric(EvalMetric):
    """A metric computed from a vector of sums since the last local or global reset.

    A subclass sets `_total_count`, whose first two sums are unused and the number of samples, and
    defines `_value`.
    """

    def reset(self) -> None:
        """Clear all sums, local and global."""
        super().reset()
        self._local = np.zeros(self._total_count)
        self._global = np.zeros(self._total_count)

    def reset_local(self) -> None:
        """Clear the local sums."""
        super().reset_local()
        self._local = np.zeros(self._total_count)

    def _absorb(self, totals: Vector, *, local: bool) -> None:
        self._check(totals)
        self._global = self._merge(self._global, totals)
        self._global_num_inst = int(self._global[1])
        if local:
            self._local = self._merge(self._local, totals)
            self._num_inst = int(self._local[1])

    def _check(self, totals: Vector) -> None:
        """Raise an error if the sums of a batch say that its values were wrong."""

    @staticmethod
    def _merge(before: Vector, totals: Vector) -> Vector:
        return before + totals

    def _all_sums(self) -> Any:
        self._fetch_pending()
        return self._local, self._global

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        self.reset()
        for local, total in sums_by_rank:
            self._local = self._merge(self._local, local)
            self._global = self._merge(self._global, total)
        self._num_inst, self._global_num_inst = int(self._local[1]), int(self._global[1])

    def get(self) -> tuple[Any, Any]:
        """Return ``(name, value)`` since the last `reset` or `reset_local`; NaN without a batch."""
        self._fetch_pending()
        return self._named(self._value(self._local))

    def get_global(self) -> tuple[Any, Any]:
        """Return ``(name, value)`` since the last `reset`."""
        self._fetch_pending()
        return self._named(self._value(self._global))

    def _named(self, value: Any) -> tuple[Any, Any]:
        """Return the name and the value; with a value for each class, lists of both."""
        if not isinstance(value, list):
            return self.name, value
        return [f"{self.name}_{i}" for i in range(len(value))], value

    def _value(self, sums: Vector) -> Any:
        """Compute the metric from the sums."""
        raise NotImplementedError
