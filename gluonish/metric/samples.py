"""SampleMetric, the base of metrics that need all samples at once."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.metric.base import EvalMetric, to_host
from gluonish.ndarray import NDArray

# Number of values that a metric stores on devices before it fetches them.
_MAX_STORED = 1 << 22


class SampleMetric(EvalMetric):
    """A metric that stores the samples since the last reset, on the host once they are many.

    A subclass calls `_store`, and defines `_value`.
    """

    def reset(self) -> None:
        """Clear all samples."""
        self._samples: list[tuple[Any, ...]] = []
        self._first_local = 0
        self._stored_size = 0
        self._fetched = 0

    def reset_local(self) -> None:
        """Clear the local samples."""
        self._first_local = len(self._samples)

    def _store(self, *arrays: Any) -> None:
        """Store copies of a batch's arrays, without waiting for their values."""
        self._samples.append(
            tuple(
                x.detach().copy() if isinstance(x, NDArray) else np.array(to_host(x))
                for x in arrays
            )
        )
        self._stored_size += sum(int(x.size) for x in arrays)
        if self._stored_size > _MAX_STORED:
            self._fetch_pending()

    def _fetch_pending(self) -> None:
        for i in range(self._fetched, len(self._samples)):
            self._samples[i] = tuple(map(to_host, self._samples[i]))
        self._fetched = len(self._samples)
        self._stored_size = 0

    @property
    def num_inst(self) -> int:
        """Number of samples since the last `reset` or `reset_local`."""
        return self._count(self._samples[self._first_local :])

    @property
    def global_num_inst(self) -> int:
        """Number of samples since the last `reset`."""
        return self._count(self._samples)

    @property
    def sum_metric(self) -> Any:
        """The local value times ``num_inst``."""
        return np.asarray(self.get()[1]) * self.num_inst

    @property
    def global_sum_metric(self) -> Any:
        """The global value times ``global_num_inst``."""
        return np.asarray(self.get_global()[1]) * self.global_num_inst

    def _count(self, samples: Sequence[Any]) -> int:
        return sum(int(arrays[0].shape[0]) for arrays in samples)

    def _all_sums(self) -> Any:
        self._fetch_pending()
        return self._samples[self._first_local :], self._samples[: self._first_local]

    def _set_sums(self, sums_by_rank: Sequence[Any]) -> None:
        self.reset()
        others = [sample for _, other in sums_by_rank for sample in other]
        self._samples = others + [sample for local, _ in sums_by_rank for sample in local]
        self._fetched, self._first_local = len(self._samples), len(others)

    def get(self) -> tuple[Any, Any]:
        """Return ``(name, value)`` since the last `reset` or `reset_local`; NaN without a batch."""
        return self._get(self._first_local)

    def get_global(self) -> tuple[Any, Any]:
        """Return ``(name, value)`` since the last `reset`."""
        return self._get(0)

    def _get(self, first: int) -> tuple[Any, Any]:
        self._fetch_pending()
        samples = self._samples[first:]
        value = self._value(samples) if self._count(samples) else math.nan
        if isinstance(value, list):
            return [f"{self.name}_{i}" for i in range(len(value))], value
        return self.name, value

    def _value(self, samples: Sequence[Any]) -> Any:
        """Compute the metric of samples on the host, of which there is at least one."""
        raise NotImplementedError
