"""Multinomial: the distribution of the counts of events in several trials."""

from typing import Any, Self

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import (
    IntegerInterval,
    dependent_property,
)
from gluonish.gluon.probability.distributions.distribution import check_number
from gluonish.gluon.probability.distributions.event_probabilities import EventProbabilities
from gluonish.gluon.probability.distributions.parameters import as_array, gammaln, xlogy
from gluonish.numpy.calls import call

__all__ = ["Multinomial"]


class Multinomial(EventProbabilities):
    """Multinomial distribution: of the number of times that each event occurs in several trials.

    Args:
        num_events: Number of events, K.
        prob: Probabilities: array (..., K) that sums to 1.
        logit: Logarithms of the probabilities, up to a constant: array (..., K), instead of
            ``prob``.
        total_count: Number of trials, an int.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed, or of another number of
            events; or ``validate_args`` is set, and ``prob`` is not on the simplex.
        ArgumentTypeError: ``num_events`` or ``total_count`` is not an int.
    """

    total_count: int

    def __init__(
        self,
        num_events: int,
        prob: Any = None,
        logit: Any = None,
        total_count: int = 1,
        validate_args: bool | None = None,
    ) -> None:
        self.total_count = check_number("Multinomial", "total_count", total_count, 0)
        self._set_events(num_events, prob, logit)
        super().__init__(1, validate_args)

    @dependent_property
    def support(self) -> Any:
        """Integers from 0 to ``total_count``."""
        return IntegerInterval(0, self.total_count)

    def _log_density(self, value: Any) -> Any:
        ways = gammaln(np.sum(value, axis=-1) + 1) - np.sum(gammaln(value + 1), axis=-1)
        if self._has_prob:
            return ways + np.sum(xlogy(value, self.prob), axis=-1)
        return ways + np.sum(value * self._log_events, axis=-1)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        # An event's count is binomial in the trials that are left.
        whole = np.broadcast_to(self.prob, (*shape, self.num_events))
        left = as_array(float(self.total_count), self._dtype, self._like) * np.ones_like(
            whole[..., 0]
        )
        rest = np.ones_like(left)
        counts = []
        for k in range(self.num_events - 1):
            prob = whole[..., k]
            chance = np.clip(prob / np.where(rest > 0, rest, 1.0), 0, 1)
            attrs = {"size": shape, "dtype": self._dtype}
            counts.append(call("_draw_binomial", (left, chance), attrs))
            left = left - counts[-1]
            rest = rest - prob
        return np.stack([*counts, left], axis=-1)

    def _mean(self) -> Any:
        return self.total_count * self.prob

    def _variance(self) -> Any:
        return self.total_count * self.prob * (1 - self.prob)

    def _entropy(self) -> Any:
        raise self._missing("entropy")

    def _with(self, given: dict[str, Any]) -> Self:
        return type(self)(
            self.num_events, total_count=self.total_count, **given, validate_args=False
        )
