"""Exponential: the exponential distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.parameters import open_uniform, within

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Exponential distribution, with density exp(-x / scale) / scale for x >= 0.

    Args:
        scale: Mean, the inverse of the rate: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``scale`` is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = Positive()
    arg_constraints = {"scale": Positive()}  # noqa: RUF012
    scale: Any

    def __init__(self, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(scale=scale)
        super().__init__(0, validate_args)

    @property
    def rate(self) -> Any:
        """Events in a unit of time: 1 / scale."""
        return 1 / self.scale

    def _log_density(self, value: Any) -> Any:
        scale = self.scale
        return within(value >= 0, lambda x: -(x / scale) - np.log(scale), value, 1.0)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * -np.log(open_uniform(shape, self._dtype, self._ctx))

    def _cumulative(self, value: Any) -> Any:
        return -np.expm1(-np.maximum(value, 0) / self.scale)

    def _quantile(self, value: Any) -> Any:
        return -self.scale * np.log1p(-value)

    def _mean(self) -> Any:
        return self.scale

    def _variance(self) -> Any:
        return np.square(self.scale)

    @property
    def stddev(self) -> Any:
        """The standard deviation: batch shape."""
        return self._over_batch(self.scale)

    def _entropy(self) -> Any:
        return 1 + np.log(self.scale)
