"""Bernoulli: the distribution of one trial."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.binary_parameters import BinaryParameters
from gluonish.gluon.probability.distributions.constraint import Boolean, Interval, Real
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily

__all__ = ["Bernoulli"]


class Bernoulli(BinaryParameters, ExponentialFamily):
    """Bernoulli distribution: 1 with probability ``prob``, else 0.

    `log_prob` of a number between 0 and 1 is the negative cross-entropy.

    Args:
        prob: Probability of a 1: number or array in [0, 1].
        logit: log(prob / (1 - prob)): number or array, instead of ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed; or ``validate_args`` is
            set, and ``prob`` is not in [0, 1].
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    support = Boolean()
    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}  # noqa: RUF012

    def __init__(
        self, prob: Any = None, logit: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_trials(prob, logit)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        return self._log_outcomes(value, 1 - value)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        drawn = np.random.uniform(0.0, 1.0, shape, self._dtype, self._ctx)
        return (drawn < self.prob).astype(self._dtype)

    def _cumulative(self, value: Any) -> Any:
        return np.where(value >= 1, 1.0, np.where(value >= 0, self._failure + value * 0, 0.0))

    def _quantile(self, value: Any) -> Any:
        return (value > self._failure).astype(self._dtype)

    def _mean(self) -> Any:
        return self.prob

    def _variance(self) -> Any:
        return self.prob * self._failure

    def _entropy(self) -> Any:
        return self._odds_entropy()
