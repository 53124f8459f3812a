"""HalfCauchy: the distribution of the absolute value of a Cauchy variable."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.cauchy import Cauchy
from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.parameters import within
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.transformation.transformation import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """Half-Cauchy distribution: of |x|, where x is Cauchy distributed around 0.

    Mean and variance are infinite.

    Args:
        scale: Median: number or array, above 0.
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
        super().__init__(Cauchy(0.0, self.scale), AbsTransform(), validate_args)

    def _log_density(self, value: Any) -> Any:
        base = self._base_dist
        return within(value >= 0, lambda x: base.log_prob(x) + math.log(2), value, 1.0)

    def _cumulative(self, value: Any) -> Any:
        return 2 / math.pi * np.arctan(np.maximum(value, 0) / self.scale)

    def _quantile(self, value: Any) -> Any:
        return self.scale * np.tan(math.pi / 2 * value)

    def _mean(self) -> Any:
        return math.inf

    def _variance(self) -> Any:
        return math.inf

    def _entropy(self) -> Any:
        return np.log(self.scale) + math.log(2 * math.pi)
