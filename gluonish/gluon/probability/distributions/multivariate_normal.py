"""MultivariateNormal: the normal distribution of vectors."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import (
    LowerCholesky,
    PositiveDefinite,
    Real,
)
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import solve_lower
from gluonish.gluon.probability.distributions.utils import cached_property

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """Normal distribution of vectors, given by covariance, precision or Cholesky factor.

    Args:
        loc: Mean: array (..., N).
        cov: Covariance: array (..., N, N), positive definite.
        precision: Inverse of the covariance: array (..., N, N), instead of ``cov``.
        scale_tril: Lower triangular L with ``cov = L L^T`` and a positive diagonal: array
            (..., N, N), instead of ``cov``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``cov``, ``precision`` and ``scale_tril`` is passed; or
            ``validate_args`` is set, and one violates its constraint.
        ArgumentTypeError: A parameter is no array.
    """

    has_grad = True
    support = Real()
    arg_constraints = {  # noqa: RUF012
        "loc": Real(),
        "cov": PositiveDefinite(),
        "precision": PositiveDefinite(),
        "scale_tril": LowerCholesky(),
    }
    _event_axes = {"loc": 1, "cov": 2, "precision": 2, "scale_tril": 2}  # noqa: RUF012
    loc: Any

    def __init__(
        self,
        loc: Any,
        cov: Any = None,
        precision: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_arrays(loc=loc)
        self._set_one(cov=cov, precision=precision, scale_tril=scale_tril)
        super().__init__(1, validate_args)

    @cached_property
    def scale_tril(self) -> Any:
        """Lower triangular L with cov = L L^T: (..., N, N)."""
        return np.linalg.cholesky(self.cov)

    @cached_property
    def cov(self) -> Any:
        """The covariance: (..., N, N)."""
        if "scale_tril" in vars(self):
            return np.matmul(self.scale_tril, np.swapaxes(self.scale_tril, -1, -2))
        return np.linalg.inv(self.precision)

    @cached_property
    def precision(self) -> Any:
        """The inverse of the covariance: (..., N, N)."""
        return np.linalg.inv(self.cov)

    @property
    def _log_determinant(self) -> Any:
        """The logarithm of the determinant of L."""
        diagonal = np.diagonal(self.scale_tril, axis1=-2, axis2=-1)
        return np.sum(np.log(diagonal), axis=-1)

    def _log_density(self, value: Any) -> Any:
        centered = np.expand_dims(value - self.loc, -1)
        solved = solve_lower(self.scale_tril, centered)
        squares = np.sum(np.square(np.squeeze(solved, -1)), axis=-1)
        size = self.loc.shape[-1]
        return -0.5 * squares - self._log_determinant - 0.5 * size * math.log(2 * math.pi)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        size = self.loc.shape[-1]
        drawn = np.random.normal(0.0, 1.0, (*shape, size, 1), self._dtype, self._ctx)
        return self.loc + np.squeeze(np.matmul(self.scale_tril, drawn), -1)

    def _mean(self) -> Any:
        return self.loc

    def _variance(self) -> Any:
        if "scale_tril" in vars(self):
            return np.sum(np.square(self.scale_tril), axis=-1)
        return np.diagonal(self.cov, axis1=-2, axis2=-1)

    def _entropy(self) -> Any:
        size = self.loc.shape[-1]
        return self._log_determinant + 0.5 * size * (1 + math.log(2 * math.pi))
