"""Poisson: the Poisson distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import NonNegativeInteger, Positive
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.parameters import (
    as_array,
    gammainc,
    gammaln,
    xlogy,
)
from gluonish.numpy.calls import call

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Poisson distribution of counts of independent events: P(k) = rate^k exp(-rate) / k!.

    Args:
        rate: Mean: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``rate`` is not positive.
        ArgumentTypeError: ``rate`` is neither a number nor an array.
    """

    support = NonNegativeInteger()
    arg_constraints = {"rate": Positive()}  # noqa: RUF012
    rate: Any

    def __init__(self, rate: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(rate=rate)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        return xlogy(value, self.rate) - self.rate - gammaln(value + 1)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        rate = as_array(self.rate, self._dtype, self._like)
        return call("_draw_poisson", (rate,), {"size": shape, "dtype": self._dtype})

    def _cumulative(self, value: Any) -> Any:
        count = np.floor(value)
        found = 1 - gammainc(np.maximum(count, 0) + 1, self.rate)
        return np.where(count >= 0, found, 0.0)

    def _mean(self) -> Any:
        return self.rate

    def _variance(self) -> Any:
        return self.rate
