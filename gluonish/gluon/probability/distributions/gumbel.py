"""Gumbel: the Gumbel distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import numpy as official

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, Real
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import open_uniform

__all__ = ["Gumbel"]


class Gumbel(Distribution):
    """Gumbel distribution, with cdf exp(-exp(-(x - loc) / scale)).

    Args:
        loc: Mode: number or array.
        scale: Scale: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``scale`` is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = Real()
    arg_constraints = {"loc": Real(), "scale": Positive()}  # noqa: RUF012
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any = 1, validate_args: bool | None = None) -> None:
        self._set(loc=loc, scale=scale)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        return -(z + np.exp(-z)) - np.log(self.scale)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self._quantile(open_uniform(shape, self._dtype, self._ctx))

    def _cumulative(self, value: Any) -> Any:
        return np.exp(-np.exp(-(value - self.loc) / self.scale))

    def _quantile(self, value: Any) -> Any:
        return self.loc - self.scale * np.log(-np.log(value))

    def _mean(self) -> Any:
        return self.loc + self.scale * official.euler_gamma

    def _variance(self) -> Any:
        return np.square(self.scale) * (math.pi**2 / 6)

    @property
    def stddev(self) -> Any:
        """The standard deviation: batch shape."""
        return self._over_batch(self.scale * (math.pi / math.sqrt(6)))

    def _entropy(self) -> Any:
        return np.log(self.scale) + (1 + official.euler_gamma)
