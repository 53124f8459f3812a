"""Binomial: the distribution of the number of successes."""

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
from gluonish.gluon.probability.distributions.parameters import as_array, betainc, gammaln
from gluonish.numpy.calls import call

__all__ = ["Binomial"]


class Binomial(BinaryParameters):
    """Binomial distribution: of the number of successes in ``n`` independent trials.

    Args:
        n: Number of trials: int, or array of integers.
        prob: Probability of success: number or array in [0, 1].
        logit: log(prob / (1 - prob)): number or array, instead of ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed; or ``validate_args`` is
            set, and a parameter is out of its range.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    support = NonNegativeInteger()
    arg_constraints = {  # noqa: RUF012
        "n": NonNegativeInteger(),
        "prob": Interval(0, 1),
        "logit": Real(),
    }
    n: Any

    def __init__(
        self,
        n: Any = 1,
        prob: Any = None,
        logit: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(n=n)
        self._set_trials(prob, logit)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        failures = self.n - value
        ways = gammaln(self.n + 1) - gammaln(value + 1) - gammaln(failures + 1)
        return ways + self._log_outcomes(value, failures)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        inputs = [as_array(x, self._dtype, self._like) for x in (self.n, self.prob)]
        return call("_draw_binomial", inputs, {"size": shape, "dtype": self._dtype})

    def _cumulative(self, value: Any) -> Any:
        count = np.floor(value)
        inside = (count >= 0) & (count < self.n)
        k = np.where(inside, count, 0.0)
        found = betainc(np.where(inside, self.n - k, 1.0), k + 1, self._failure)
        return np.where(inside, found, (count >= 0).astype(found.dtype))

    def _mean(self) -> Any:
        return self.n * self.prob

    def _variance(self) -> Any:
        return self.n * self.prob * self._failure
