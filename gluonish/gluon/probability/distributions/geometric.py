"""Geometric: the distribution of the number of failures before a success."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.binary_parameters import BinaryParameters
from gluonish.gluon.probability.distributions.constraint import (
    Interval,
    NonNegativeInteger,
    Real,
)
from gluonish.gluon.probability.distributions.parameters import open_uniform, softplus, within

__all__ = ["Geometric"]


class Geometric(BinaryParameters):
    """Geometric distribution: of the number of failures before the first success.

    Args:
        prob: Probability of success: number or array in (0, 1].
        logit: log(prob / (1 - prob)): number or array, instead of ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed; or ``validate_args`` is
            set, and ``prob`` is not in [0, 1].
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    support = NonNegativeInteger()
    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}  # noqa: RUF012

    def __init__(
        self, prob: Any = None, logit: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_trials(prob, logit)
        super().__init__(0, validate_args)

    @property
    def _log_failure(self) -> Any:
        return np.log1p(-self.prob) if self._has_prob else -softplus(self.logit)

    def _log_density(self, value: Any) -> Any:
        return within(value >= 0, lambda x: self._log_outcomes(1.0, x), value, 0.0)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        drawn = np.log(open_uniform(shape, self._dtype, self._ctx))
        return np.floor(drawn / self._log_failure)

    def _cumulative(self, value: Any) -> Any:
        trials = np.maximum(np.floor(value) + 1, 0)
        return np.where(trials > 0, -np.expm1(trials * self._log_failure), 0.0)

    def _quantile(self, value: Any) -> Any:
        return np.maximum(np.ceil(np.log1p(-value) / self._log_failure) - 1, 0)

    def _mean(self) -> Any:
        return self._failure / self.prob

    def _variance(self) -> Any:
        return self._failure / np.square(self.prob)

    def _entropy(self) -> Any:
        return self._odds_entropy() / self.prob
