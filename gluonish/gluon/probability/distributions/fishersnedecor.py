"""FisherSnedecor: the F distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import (
    betainc,
    betaincinv,
    choose,
    digamma,
    log_beta,
    narrow,
    standard_gamma,
    wide,
    within,
    xlogy,
)

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """F distribution: of (x / df1) / (y / df2), where x and y are chi-squared distributed.

    The mean is infinite up to df2 = 2, the variance up to df2 = 4.

    Args:
        df1: Degrees of freedom of x: number or array, above 0.
        df2: Degrees of freedom of y: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = Positive()
    arg_constraints = {"df1": Positive(), "df2": Positive()}  # noqa: RUF012
    df1: Any
    df2: Any

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._set(df1=df1, df2=df2)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        a, b, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2

        def density(x: Any) -> Any:
            power = xlogy(a - 1, ratio * x) - (a + b) * np.log1p(ratio * x)
            return power + np.log(ratio) - log_beta(a, b)

        return within(value >= 0, density, value, 1.0)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        first = standard_gamma(self.df1 / 2, shape, self._dtype, self._like)
        second = standard_gamma(self.df2 / 2, shape, self._dtype, self._like)
        return (first / self.df1) / (second / self.df2)

    def _cumulative(self, value: Any) -> Any:
        scaled = self.df1 * np.maximum(value, 0)
        return betainc(self.df1 / 2, self.df2 / 2, scaled / (scaled + self.df2))

    def _quantile(self, value: Any) -> Any:
        # Of 1 / (1 + x), so that it keeps its digits where x is large.
        rest = betaincinv(self.df2 / 2, self.df1 / 2, 1 - value)
        return self.df2 * (1 - rest) / (self.df1 * rest)

    def _mean(self) -> Any:
        finite = self.df2 > 2
        df2 = choose(finite, self.df2, 3.0)
        return choose(finite, df2 / (df2 - 2), math.inf)

    def _variance(self) -> Any:
        finite = self.df2 > 4
        df2 = choose(finite, self.df2, 5.0)
        spread = 2 * np.square(df2) * (self.df1 + df2 - 2)
        return choose(finite, spread / (self.df1 * np.square(df2 - 2) * (df2 - 4)), math.inf)

    def _entropy(self) -> Any:
        first, second = wide(self.df1), wide(self.df2)
        a, b = first / 2, second / 2
        terms = (1 - a) * digamma(a) - (1 + b) * digamma(b) + (a + b) * digamma(a + b)
        return narrow(log_beta(a, b) - np.log(first / second) + terms, self._dtype)
