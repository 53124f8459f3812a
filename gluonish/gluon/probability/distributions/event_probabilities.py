"""EventProbabilities: the base class of distributions over a finite number of events."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from typing import Any, Self

import gluonish.numpy as np
import gluonish.numpy_extension as npx
from gluonish.core.errors import ArgumentError
from gluonish.gluon.probability.distributions.constraint import Real, Simplex
from gluonish.gluon.probability.distributions.distribution import Distribution, check_number
from gluonish.gluon.probability.distributions.parameters import open_uniform, xlogy
from gluonish.gluon.probability.distributions.utils import cached_property, logit2prob, prob2logit

__all__ = ["EventProbabilities"]


class EventProbabilities(Distribution):
    """Base class of distributions over events, given by their probabilities or their logits.

    Logits are normalized: logits that differ by a constant give the same distribution.
    """

    arg_constraints = {"prob": Simplex(), "logit": Real()}  # noqa: RUF012
    _event_axes = {"prob": 1, "logit": 1}  # noqa: RUF012
    num_events: int
    _has_prob: bool

    def _set_events(self, num_events: int, prob: Any, logit: Any) -> None:
        """Set the number of events, and their probabilities or logits.

        Raises:
            ArgumentError: Not exactly one of both is passed, or its last axis is not of the number
                of events.
        """
        what = type(self).__name__
        self.num_events = check_number(what, "num_events", num_events, 1)
        self._set_one(prob=prob, logit=logit)
        self._has_prob = prob is not None
        name = "prob" if self._has_prob else "logit"
        value = vars(self)[name]
        if not getattr(value, "shape", ()) or value.shape[-1] != num_events:
            raise ArgumentError(
                f"{what}: expected {name} with {num_events} events on the last axis, got "
                f"{getattr(value, 'shape', value)}"
            )

    @cached_property
    def prob(self) -> Any:
        """Probabilities of the events: (..., K)."""
        return logit2prob(self.logit, False)

    @cached_property
    def logit(self) -> Any:
        """Logits of the events, by default the logarithms of their probabilities: (..., K)."""
        return prob2logit(self.prob, False)

    @property
    def _log_events(self) -> Any:
        """Logarithms of the events' probabilities."""
        return np.log(self.prob) if self._has_prob else npx.log_softmax(self.logit, axis=-1)

    def _draw_events(self, shape: tuple[int, ...]) -> Any:
        """Draw events as int64: the largest of the logits plus Gumbel noise."""
        return np.argmax(self._perturbed(shape), axis=-1)

    def _perturbed(self, shape: tuple[int, ...]) -> Any:
        """Return the log-probabilities plus Gumbel noise."""
        whole = (*shape, self.num_events)
        drawn = open_uniform(whole, self._dtype, self._ctx)
        return self._log_events - np.log(-np.log(drawn))

    def _entropy(self) -> Any:
        if self._has_prob:
            return -np.sum(xlogy(self.prob, self.prob), axis=-1)
        return -np.sum(self.prob * self._log_events, axis=-1)

    def _with(self, given: dict[str, Any]) -> Self:
        return type(self)(self.num_events, **given, validate_args=False)
