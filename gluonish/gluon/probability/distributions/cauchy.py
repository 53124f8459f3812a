"""Cauchy: the Cauchy distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, Real
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import open_uniform

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Cauchy distribution, with density 1 / (pi scale (1 + ((x - loc) / scale)^2)).

    Mean and variance are NaN: they do not exist.

    Args:
        loc: Median: number or array.
        scale: Half of the width at half of the height: number or array, above 0.
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

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(loc=loc, scale=scale)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        return -np.log1p(np.square(z)) - (np.log(self.scale) + math.log(math.pi))

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self._quantile(open_uniform(shape, self._dtype, self._ctx))

    def _cumulative(self, value: Any) -> Any:
        return np.arctan((value - self.loc) / self.scale) / math.pi + 0.5

    def _quantile(self, value: Any) -> Any:
        return self.loc - self.scale / np.tan(math.pi * value)

    def _mean(self) -> Any:
        return math.nan

    def _variance(self) -> Any:
        return math.nan

    def _entropy(self) -> Any:
        return np.log(self.scale) + math.log(4 * math.pi)
