"""NegativeBinomial: the distribution of the number of failures before several successes."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.binary_parameters import BinaryParameters
from gluonish.gluon.probability.distributions.constraint import (
    Interval,
    NonNegative,
    NonNegativeInteger,
    Real,
)
from gluonish.gluon.probability.distributions.parameters import as_array, betainc, gammaln
from gluonish.numpy.calls import call

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryParameters):
    """Negative binomial distribution: of the number of failures before the n-th success.

    Args:
        n: Number of successes, above 0: number or array, not necessarily integers.
        prob: Probability of success: number or array in (0, 1].
        logit: log(prob / (1 - prob)): number or array, instead of ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed; or ``validate_args`` is
            set, and a parameter is out of its range.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    support = NonNegativeInteger()
    arg_constraints = {  # noqa: RUF012
        "n": NonNegative(),
        "prob": Interval(0, 1),
        "logit": Real(),
    }
    n: Any

    def __init__(
        self, n: Any, prob: Any = None, logit: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set(n=n)
        self._set_trials(prob, logit)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        ways = gammaln(value + self.n) - gammaln(value + 1) - gammaln(self.n)
        return ways + self._log_outcomes(self.n, value)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        inputs = [as_array(x, self._dtype, self._like) for x in (self.n, self.prob)]
        return call("_draw_negative_binomial", inputs, {"size": shape, "dtype": self._dtype})

    def _cumulative(self, value: Any) -> Any:
        count = np.floor(value)
        found = betainc(self.n, np.maximum(count, 0) + 1, self.prob)
        return np.where(count >= 0, found, 0.0)

    def _mean(self) -> Any:
        return self.n * self._failure / self.prob

    def _variance(self) -> Any:
        return self.n * self._failure / np.square(self.prob)
