"""Gamma: the gamma distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.parameters import (
    digamma,
    gammainc,
    gammaincinv,
    gammaln,
    standard_gamma,
    within,
    xlogy,
)

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma distribution, with density x^(shape - 1) exp(-x / scale) / (scale^shape Gamma(shape)).

    Samples are differentiable by implicit reparameterization.

    Args:
        shape: Shape parameter: number or array, above 0.
        scale: Scale, the inverse of the rate: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.

    References:
        M. Figurnov, S. Mohamed, A. Mnih, Implicit Reparameterization Gradients, NeurIPS 2018.
    """

    has_grad = True
    support = Positive()
    arg_constraints = {"shape": Positive(), "scale": Positive()}  # noqa: RUF012
    shape: Any
    scale: Any

    def __init__(self, shape: Any, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(shape=shape, scale=scale)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        shape, scale = self.shape, self.scale

        def density(x: Any) -> Any:
            z = x / scale
            return xlogy(shape - 1, z) - z - (gammaln(shape) + np.log(scale))

        return within(value >= 0, density, value, 1.0)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return self.scale * standard_gamma(self.shape, shape, self._dtype, self._like)

    def _cumulative(self, value: Any) -> Any:
        return gammainc(self.shape, np.maximum(value, 0) / self.scale)

    def _quantile(self, value: Any) -> Any:
        return self.scale * gammaincinv(self.shape, value)

    def _mean(self) -> Any:
        return self.shape * self.scale

    def _variance(self) -> Any:
        return self.shape * self.scale * self.scale

    def _entropy(self) -> Any:
        a = self.shape
        return a + np.log(self.scale) + gammaln(a) + (1 - a) * digamma(a)
