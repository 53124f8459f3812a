"""RelaxedOneHotCategorical: a differentiable relaxation of the categorical distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any, Self

import gluonish.numpy as np
import gluonish.numpy_extension as npx
from gluonish.gluon.probability.distributions.constraint import Real, Simplex
from gluonish.gluon.probability.distributions.event_probabilities import EventProbabilities
from gluonish.gluon.probability.distributions.parameters import gammaln
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.transformation.transformation import ExpTransform

__all__ = ["RelaxedOneHotCategorical"]


class _LogRelaxedOneHotCategorical(EventProbabilities):
    """The distribution of the logarithm of a relaxed one-hot vector."""

    has_grad = True
    support = Real()
    T: Any

    def __init__(
        self,
        T: Any,
        num_events: int,
        prob: Any = None,
        logit: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(T=T)
        self._set_events(num_events, prob, logit)
        super().__init__(1, validate_args)

    @property
    def _temperature(self) -> Any:
        """The temperature with an axis for the events."""
        T = self.T
        return np.expand_dims(T, -1) if getattr(T, "ndim", 0) and T.shape[-1] != 1 else T

    def _log_density(self, value: Any) -> Any:
        count, T = self.num_events, self._temperature
        score = npx.log_softmax(self._log_events - value * T, axis=-1)
        constant = gammaln(float(count)) + (count - 1) * np.log(T)
        if getattr(constant, "ndim", 0):
            constant = np.squeeze(constant, -1)
        return np.sum(score, axis=-1) + constant

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return npx.log_softmax(self._perturbed(shape) / self._temperature, axis=-1)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Relaxed categorical distribution of vectors on the simplex, with differentiable samples.

    For T towards 0 it becomes the distribution of one-hot vectors.

    Args:
        T: Temperature, above 0: number, or array of the batch shape.
        num_events: Number of events, K.
        prob: Probabilities: array (..., K) that sums to 1.
        logit: Logarithms of the probabilities, up to a constant: array (..., K), instead of
            ``prob``.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed, or of another number of
            events; or ``validate_args`` is set, and ``prob`` is not on the simplex.
        ArgumentTypeError: A parameter is neither a number nor an array.

    References:
        E. Jang, S. Gu, B. Poole, Categorical Reparameterization with Gumbel-Softmax, ICLR 2017.
    """

    has_grad = True
    support = Simplex()
    arg_constraints = {"prob": Simplex(), "logit": Real()}  # noqa: RUF012
    _event_axes = {"prob": 1, "logit": 1}  # noqa: RUF012
    _base_dist: _LogRelaxedOneHotCategorical

    def __init__(
        self,
        T: Any,
        num_events: int,
        prob: Any = None,
        logit: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = _LogRelaxedOneHotCategorical(T, num_events, prob, logit, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    def _given(self) -> dict[str, Any]:
        return self._base_dist._given()

    @property
    def T(self) -> Any:
        """The temperature."""
        return self._base_dist.T

    @property
    def num_events(self) -> int:
        """Number of events."""
        return self._base_dist.num_events

    @property
    def prob(self) -> Any:
        """Probabilities of the events: (..., K)."""
        return self._base_dist.prob

    @property
    def logit(self) -> Any:
        """Logits of the events: (..., K)."""
        return self._base_dist.logit

    def _with(self, given: dict[str, Any]) -> Self:
        return type(self)(self.T, self.num_events, **given, validate_args=False)
