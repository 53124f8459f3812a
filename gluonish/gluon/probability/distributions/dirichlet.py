"""Dirichlet: the Dirichlet distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, Simplex
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.parameters import (
    digamma,
    gammaln,
    standard_gamma,
    xlogy,
)

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution of vectors on the simplex, with density prod x_k^(alpha_k - 1) / B.

    Samples are differentiable by implicit reparameterization of the gamma variables they consist
    of.

    Args:
        alpha: Concentrations: array (..., K), above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``alpha`` is not positive; or it has no axis.
        ArgumentTypeError: ``alpha`` is no array.
    """

    has_grad = True
    support = Simplex()
    arg_constraints = {"alpha": Positive()}  # noqa: RUF012
    _event_axes = {"alpha": 1}  # noqa: RUF012
    alpha: Any

    def __init__(self, alpha: Any, validate_args: bool | None = None) -> None:
        self._set_arrays(alpha=alpha)
        super().__init__(1, validate_args)

    def _log_beta(self) -> Any:
        alpha = self.alpha
        return np.sum(gammaln(alpha), axis=-1) - gammaln(np.sum(alpha, axis=-1))

    def _log_density(self, value: Any) -> Any:
        return np.sum(xlogy(self.alpha - 1, value), axis=-1) - self._log_beta()

    def _draw(self, shape: tuple[int, ...]) -> Any:
        whole = (*shape, self.alpha.shape[-1])
        drawn = standard_gamma(self.alpha, whole, "float64", self._like)
        return (drawn / np.sum(drawn, axis=-1, keepdims=True)).astype(self._dtype)

    def _mean(self) -> Any:
        return self.alpha / np.sum(self.alpha, axis=-1, keepdims=True)

    def _variance(self) -> Any:
        total = np.sum(self.alpha, axis=-1, keepdims=True)
        return self.alpha * (total - self.alpha) / (np.square(total) * (total + 1))

    def _entropy(self) -> Any:
        alpha = self.alpha
        total = np.sum(alpha, axis=-1)
        spread = (total - alpha.shape[-1]) * digamma(total)
        return self._log_beta() + spread - np.sum((alpha - 1) * digamma(alpha), axis=-1)
