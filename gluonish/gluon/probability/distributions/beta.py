"""Beta: the beta distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, UnitInterval
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.parameters import (
    betainc,
    betaincinv,
    digamma,
    log_beta,
    narrow,
    standard_gamma,
    wide,
    within,
    xlogy,
)

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Beta distribution, with density x^(alpha - 1) (1 - x)^(beta - 1) / B(alpha, beta) on [0, 1].

    Samples are differentiable by implicit reparameterization of the gamma variables they consist
    of.

    Args:
        alpha: First shape parameter: number or array, above 0.
        beta: Second shape parameter: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = UnitInterval()
    arg_constraints = {"alpha": Positive(), "beta": Positive()}  # noqa: RUF012
    alpha: Any
    beta: Any

    def __init__(self, alpha: Any, beta: Any, validate_args: bool | None = None) -> None:
        self._set(alpha=alpha, beta=beta)
        super().__init__(0, validate_args)

    def _log_beta(self) -> Any:
        return log_beta(self.alpha, self.beta)

    def _log_density(self, value: Any) -> Any:
        def density(x: Any) -> Any:
            return xlogy(self.alpha - 1, x) + xlogy(self.beta - 1, 1 - x) - self._log_beta()

        return within((value >= 0) & (value <= 1), density, value, 0.5)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        first = standard_gamma(self.alpha, shape, "float64", self._like)
        second = standard_gamma(self.beta, shape, "float64", self._like)
        return (first / (first + second)).astype(self._dtype)

    def _cumulative(self, value: Any) -> Any:
        return betainc(self.alpha, self.beta, np.clip(value, 0, 1))

    def _quantile(self, value: Any) -> Any:
        return betaincinv(self.alpha, self.beta, value)

    def _mean(self) -> Any:
        return self.alpha / (self.alpha + self.beta)

    def _variance(self) -> Any:
        total = self.alpha + self.beta
        return self.alpha * self.beta / (np.square(total) * (total + 1))

    def _entropy(self) -> Any:
        a, b = wide(self.alpha), wide(self.beta)
        terms = (a - 1) * digamma(a) + (b - 1) * digamma(b) - (a + b - 2) * digamma(a + b)
        return narrow(log_beta(a, b) - terms, self._dtype)
