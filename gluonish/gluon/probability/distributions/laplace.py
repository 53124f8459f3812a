"""Laplace: the Laplace distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, Real
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import open_uniform

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Laplace distribution, with density exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc: Mean: number or array.
        scale: Mean distance from ``loc``: number or array, above 0.
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
        return -np.abs(value - self.loc) / self.scale - np.log(2 * self.scale)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self._quantile(open_uniform(shape, self._dtype, self._ctx))

    def _cumulative(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        return 0.5 - 0.5 * np.sign(z) * np.expm1(-np.abs(z))

    def _quantile(self, value: Any) -> Any:
        tail = np.minimum(value, 1 - value)
        return self.loc - self.scale * np.sign(value - 0.5) * np.log(2 * tail)

    def _mean(self) -> Any:
        return self.loc

    def _variance(self) -> Any:
        return 2 * np.square(self.scale)

    @property
    def stddev(self) -> Any:
        """The standard deviation: batch shape."""
        return self._over_batch(math.sqrt(2) * self.scale)

    def _entropy(self) -> Any:
        return 1 + np.log(2 * self.scale)
