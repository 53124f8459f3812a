"""Categorical: the distribution of the index of an event."""

from typing import Any

import gluonish.numpy as np
import gluonish.numpy_extension as npx
from gluonish.gluon.probability.distributions.constraint import (
    IntegerInterval,
    dependent_property,
)
from gluonish.gluon.probability.distributions.event_probabilities import EventProbabilities
from gluonish.ops.support.broadcasting import broadcast_shapes

__all__ = ["Categorical"]


class Categorical(EventProbabilities):
    """Categorical distribution: of the index of one of ``num_events`` events. Samples are int64.

    Args:
        num_events: Number of events, K.
        prob: Probabilities: array (..., K) that sums to 1.
        logit: Logarithms of the probabilities, up to a constant: array (..., K), instead of
            ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed, or of another number of
            events; or ``validate_args`` is set, and ``prob`` is not on the simplex.
        ArgumentTypeError: ``num_events`` is not an int.
    """

    has_enumerate_support = True

    def __init__(
        self,
        num_events: int,
        prob: Any = None,
        logit: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_events(num_events, prob, logit)
        super().__init__(0, validate_args)

    @dependent_property
    def support(self) -> Any:
        """The integers from 0 to ``num_events - 1``."""
        return IntegerInterval(0, self.num_events - 1)

    def _log_density(self, value: Any) -> Any:
        shape = broadcast_shapes("Categorical.log_prob", value.shape, self._batch_shape)
        logs = np.broadcast_to(self._log_events, (*shape, self.num_events))
        picked: Any = npx.pick(logs, np.broadcast_to(value, shape), axis=-1)
        return picked.reshape(shape)  # pick returns (1,) for a vector

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self._draw_events(shape)

    def _cumulative(self, value: Any) -> Any:
        events = np.arange(self.num_events, dtype=self._dtype)
        below = events <= np.expand_dims(value, -1)
        return np.sum(np.where(below, self.prob, 0.0), axis=-1)

    def _quantile(self, value: Any) -> Any:
        below = np.cumsum(self.prob, axis=-1) < np.expand_dims(value, -1)
        return np.minimum(np.sum(below.astype(self._dtype), axis=-1), self.num_events - 1)

    def enumerate_support(self) -> Any:
        """Return the indices of all events: (K, *batch shape)."""
        count = self.num_events
        events = np.arange(count, dtype=self._dtype).reshape(count, *[1 for _ in self._batch_shape])
        return np.broadcast_to(events, (count, *self._batch_shape))
