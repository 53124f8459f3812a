"""RelaxedBernoulli: a differentiable relaxation of the Bernoulli distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any, Self

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.binary_parameters import BinaryParameters
from gluonish.gluon.probability.distributions.constraint import Interval, OpenInterval, Real
from gluonish.gluon.probability.distributions.parameters import open_uniform, softplus
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.distributions.utils import logit2prob
from gluonish.gluon.probability.transformation.transformation import SigmoidTransform

__all__ = ["RelaxedBernoulli"]


class _LogitRelaxedBernoulli(BinaryParameters):
    """The distribution of the logit of a relaxed Bernoulli variable."""

    has_grad = True
    support = Real()
    T: Any
    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}  # noqa: RUF012

    def __init__(
        self, T: Any, prob: Any = None, logit: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set(T=T)
        self._set_trials(prob, logit)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        difference = self.logit - value * self.T
        return difference + np.log(self.T) - 2 * softplus(difference)

    def _draw(self, shape: tuple[int, ...]) -> Any:
        drawn = open_uniform(shape, self._dtype, self._ctx)
        return self._quantile(drawn)

    def _cumulative(self, value: Any) -> Any:
        return logit2prob(value * self.T - self.logit)

    def _quantile(self, value: Any) -> Any:
        return (self.logit + np.log(value) - np.log1p(-value)) / self.T


class RelaxedBernoulli(TransformedDistribution):
    """Relaxed Bernoulli distribution of numbers in (0, 1), whose samples are differentiable.

    For T towards 0 it becomes the Bernoulli distribution.

    Args:
        T: Temperature: number or array, above 0.
        prob: Probability of a 1: number or array in [0, 1].
        logit: log(prob / (1 - prob)): number or array, instead of ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed; or ``validate_args`` is
            set, and ``prob`` is not in [0, 1].
        ArgumentTypeError: A parameter is neither a number nor an array.

    References:
        C. Maddison, A. Mnih, Y. W. Teh, The Concrete Distribution, ICLR 2017.
    """

    has_grad = True
    support = OpenInterval(0, 1)
    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}  # noqa: RUF012
    _base_dist: _LogitRelaxedBernoulli

    def __init__(
        self, T: Any, prob: Any = None, logit: Any = None, validate_args: bool | None = None
    ) -> None:
        base = _LogitRelaxedBernoulli(T, prob, logit, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)

    def _given(self) -> dict[str, Any]:
        return self._base_dist._given()

    @property
    def T(self) -> Any:
        """The temperature."""
        return self._base_dist.T

    @property
    def prob(self) -> Any:
        """Probability of a 1."""
        return self._base_dist.prob

    @property
    def logit(self) -> Any:
        """Logit of the probability of a 1."""
        return self._base_dist.logit

    def _with(self, given: dict[str, Any]) -> Self:
        return type(self)(self.T, **given, validate_args=False)
