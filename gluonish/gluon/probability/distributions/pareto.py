"""Pareto: the Pareto distribution of type I."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import (
    GreaterThan,
    Positive,
    dependent_property,
)
from gluonish.gluon.probability.distributions.exponential import Exponential
from gluonish.gluon.probability.distributions.parameters import choose, within
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.transformation.transformation import AffineTransform, ExpTransform

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Pareto distribution, with density alpha scale^alpha / x^(alpha + 1) for x >= scale.

    Args:
        alpha: Shape parameter: number or array, above 0.
        scale: Smallest value: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    arg_constraints = {"alpha": Positive(), "scale": Positive()}  # noqa: RUF012
    alpha: Any
    scale: Any

    def __init__(self, alpha: Any, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(alpha=alpha, scale=scale)
        base = Exponential(self._unit(self.alpha, self.scale) / self.alpha)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @dependent_property
    def support(self) -> Any:
        """Numbers above ``scale``."""
        return GreaterThan(self.scale)

    def _log_density(self, value: Any) -> Any:
        alpha, scale = self.alpha, self.scale

        def density(x: Any) -> Any:
            return np.log(alpha) + alpha * np.log(scale) - (alpha + 1) * np.log(x)

        return within(value >= scale, density, value, scale)

    def _cumulative(self, value: Any) -> Any:
        ratio = self.scale / np.maximum(value, self.scale)
        return -np.expm1(self.alpha * np.log(ratio))

    def _quantile(self, value: Any) -> Any:
        return self.scale * np.exp(-np.log1p(-value) / self.alpha)

    def _mean(self) -> Any:
        finite = self.alpha > 1
        alpha = choose(finite, self.alpha, 2.0)
        return choose(finite, alpha * self.scale / (alpha - 1), math.inf)

    def _variance(self) -> Any:
        finite = self.alpha > 2
        alpha = choose(finite, self.alpha, 3.0)
        spread = np.square(self.scale) * alpha / (np.square(alpha - 1) * (alpha - 2))
        return choose(finite, spread, math.inf)

    def _entropy(self) -> Any:
        return np.log(self.scale) - np.log(self.alpha) + 1 + 1 / self.alpha
