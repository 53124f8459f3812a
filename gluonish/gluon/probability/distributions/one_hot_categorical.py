"""OneHotCategorical: the distribution of the one-hot vector of an event."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
import gluonish.numpy_extension as npx
from gluonish.gluon.probability.distributions.constraint import Simplex
from gluonish.gluon.probability.distributions.event_probabilities import EventProbabilities
from gluonish.gluon.probability.distributions.parameters import xlogy

__all__ = ["OneHotCategorical"]


class OneHotCategorical(EventProbabilities):
    """Categorical distribution whose samples are one-hot vectors of ``num_events`` elements.

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
    support = Simplex()

    def __init__(
        self,
        num_events: int,
        prob: Any = None,
        logit: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_events(num_events, prob, logit)
        super().__init__(1, validate_args)

    def _log_density(self, value: Any) -> Any:
        if self._has_prob:
            return np.sum(xlogy(value, self.prob), axis=-1)
        return np.sum(value * self._log_events, axis=-1)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        drawn = self._draw_events(shape)
        return npx.one_hot(drawn, self.num_events, dtype=self._dtype)

    def _mean(self) -> Any:
        return self.prob

    def _variance(self) -> Any:
        return self.prob * (1 - self.prob)

    def enumerate_support(self) -> Any:
        """Return the one-hot vectors of all events: (K, *batch shape, K)."""
        count = self.num_events
        rows = np.eye(count, dtype=self._dtype)
        rows = rows.reshape(count, *[1 for _ in self._batch_shape], count)
        return np.broadcast_to(rows, (count, *self._batch_shape, count))
