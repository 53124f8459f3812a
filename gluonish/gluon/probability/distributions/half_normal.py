"""HalfNormal: the distribution of the absolute value of a normal variable."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.normal import Normal
from gluonish.gluon.probability.distributions.parameters import erf, erfinv, within
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.transformation.transformation import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    """Half-normal distribution: of |x|, where x is normally distributed around 0.

    Args:
        scale: Standard deviation of x: number or array, above 0.
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
        super().__init__(Normal(0.0, self.scale), AbsTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """Mean of x: 0."""
        return 0.0

    def _log_density(self, value: Any) -> Any:
        base = self._base_dist
        return within(value >= 0, lambda x: base.log_prob(x) + math.log(2), value, 1.0)

    def _cumulative(self, value: Any) -> Any:
        return erf(np.maximum(value, 0) / (self.scale * math.sqrt(2)))

    def _quantile(self, value: Any) -> Any:
        return self.scale * (math.sqrt(2) * erfinv(value))

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    def _variance(self) -> Any:
        return np.square(self.scale) * (1 - 2 / math.pi)

    def _entropy(self) -> Any:
        return np.log(self.scale) + (0.5 * math.log(math.pi / 2) + 0.5)
