"""Weibull: the Weibull distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import numpy as official

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.exponential import Exponential
from gluonish.gluon.probability.distributions.parameters import gammaln, within, xlogy
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.transformation.transformation import (
    AffineTransform,
    PowerTransform,
)

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull distribution, with cdf 1 - exp(-(x / scale)^concentration) for x >= 0.

    Args:
        concentration: Shape parameter: number or array, above 0.
        scale: Scale: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = Positive()
    arg_constraints = {"concentration": Positive(), "scale": Positive()}  # noqa: RUF012
    concentration: Any
    scale: Any

    def __init__(
        self, concentration: Any, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(concentration=concentration, scale=scale)
        base = Exponential(self._unit(self.concentration, self.scale))
        transforms = [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args)

    def _log_density(self, value: Any) -> Any:
        k, scale = self.concentration, self.scale

        def density(x: Any) -> Any:
            z = x / scale
            return xlogy(k - 1, z) - z**k + (np.log(k) - np.log(scale))

        return within(value >= 0, density, value, 1.0)

    def _cumulative(self, value: Any) -> Any:
        return -np.expm1(-((np.maximum(value, 0) / self.scale) ** self.concentration))

    def _quantile(self, value: Any) -> Any:
        return self.scale * (-np.log1p(-value)) ** (1 / self.concentration)

    def _mean(self) -> Any:
        return self.scale * np.exp(gammaln(1 + 1 / self.concentration))

    def _variance(self) -> Any:
        first = np.exp(2 * gammaln(1 + 1 / self.concentration))
        second = np.exp(gammaln(1 + 2 / self.concentration))
        return np.square(self.scale) * (second - first)

    def _entropy(self) -> Any:
        k = self.concentration
        return official.euler_gamma * (1 - 1 / k) + np.log(self.scale) - np.log(k) + 1
