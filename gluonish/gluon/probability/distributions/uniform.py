"""Uniform: the uniform distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import (
    Interval,
    Real,
    dependent_property,
)
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import within

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Uniform distribution, with density 1 / (high - low) on [low, high].

    Args:
        low: Lower bound: number or array.
        high: Upper bound: number or array, above ``low``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter is NaN.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    arg_constraints = {"low": Real(), "high": Real()}  # noqa: RUF012
    low: Any
    high: Any

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(low=low, high=high)
        super().__init__(0, validate_args)

    @dependent_property
    def support(self) -> Any:
        """Numbers in [low, high]."""
        return Interval(self.low, self.high)

    def _log_density(self, value: Any) -> Any:
        inside = (value >= self.low) & (value <= self.high)
        height = -np.log(self.high - self.low)
        return within(inside, lambda x: x * 0 + height, value, 0.0)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        drawn = np.random.uniform(0.0, 1.0, shape, self._dtype, self._ctx)
        return self.low + (self.high - self.low) * drawn

    def _cumulative(self, value: Any) -> Any:
        return np.clip((value - self.low) / (self.high - self.low), 0, 1)

    def _quantile(self, value: Any) -> Any:
        return self.low + (self.high - self.low) * value

    def _mean(self) -> Any:
        return (self.low + self.high) / 2

    def _variance(self) -> Any:
        return np.square(self.high - self.low) / 12

    def _entropy(self) -> Any:
        return np.log(self.high - self.low)
