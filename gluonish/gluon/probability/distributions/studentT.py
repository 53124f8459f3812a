"""StudentT: Student's t distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, Real
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import (
    betainc,
    betaincinv,
    choose,
    digamma,
    gammaln,
    standard_gamma,
)

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution: of loc + scale x / sqrt(y / df), x normal and y chi-squared.

    The mean is NaN up to df = 1; the variance is infinite up to df = 2, and NaN up to df = 1.

    Args:
        df: Degrees of freedom: number or array, above 0.
        loc: Median: number or array.
        scale: Scale: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``df`` or ``scale`` is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = Real()
    arg_constraints = {"df": Positive(), "loc": Real(), "scale": Positive()}  # noqa: RUF012
    df: Any
    loc: Any
    scale: Any

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(df=df, loc=loc, scale=scale)
        super().__init__(0, validate_args)

    def _log_beta(self) -> Any:
        half = self.df / 2
        return gammaln(half) - gammaln(half + 0.5) + 0.5 * math.log(math.pi)

    def _log_density(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        power = -(self.df + 1) / 2 * np.log1p(np.square(z) / self.df)
        return power - np.log(self.scale) - 0.5 * np.log(self.df) - self._log_beta()

    def _draw(self, shape: tuple[int, ...]) -> Any:
        drawn = np.random.normal(0.0, 1.0, shape, self._dtype, self._ctx)
        squares = 2 * standard_gamma(self.df / 2, shape, self._dtype, self._like)
        return self.loc + self.scale * (drawn / np.sqrt(squares / self.df))

    def _cumulative(self, value: Any) -> Any:
        # The tail from |z| on is half of I at df / (df + z^2). Near 0 the complement has the
        # digits: I at z^2 / (df + z^2) is the probability between -|z| and |z|.
        z = (value - self.loc) / self.scale
        square = np.square(z)
        near = square < self.df
        inner = betainc(0.5, self.df / 2, choose(near, square / (self.df + square), 0.5))
        outer = betainc(self.df / 2, 0.5, choose(near, 0.5, self.df / (self.df + square)))
        return 0.5 + 0.5 * np.sign(z) * choose(near, inner, 1 - outer)

    def _quantile(self, value: Any) -> Any:
        tails = 2 * np.minimum(value, 1 - value)
        square = betaincinv(0.5, self.df / 2, 1 - tails)
        rest = betaincinv(self.df / 2, 0.5, tails)
        size = np.sqrt(self.df * square / rest)
        return self.loc + self.scale * np.sign(value - 0.5) * size

    def _mean(self) -> Any:
        return choose(self.df > 1, self.loc, math.nan)

    def _variance(self) -> Any:
        finite = self.df > 2
        df = choose(finite, self.df, 3.0)
        spread = np.square(self.scale) * df / (df - 2)
        return choose(finite, spread, choose(self.df > 1, math.inf + 0 * spread, math.nan))

    def _entropy(self) -> Any:
        half = self.df / 2
        change = (half + 0.5) * (digamma(half + 0.5) - digamma(half))
        return np.log(self.scale) + change + 0.5 * np.log(self.df) + self._log_beta()
