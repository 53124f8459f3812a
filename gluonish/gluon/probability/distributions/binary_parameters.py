"""BinaryParameters: the base class of distributions of trials with a probability or a logit."""

from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.parameters import softplus
from gluonish.gluon.probability.distributions.utils import cached_property, logit2prob, prob2logit

__all__ = ["BinaryParameters"]


class BinaryParameters(Distribution):
    """Base class of distributions of trials, given by probability or by logit.

    The logarithms of both outcomes come from the given one, without loss of digits.
    """

    _has_prob: bool

    def _set_trials(self, prob: Any, logit: Any) -> None:
        self._set_one(prob=prob, logit=logit)
        self._has_prob = prob is not None

    @cached_property
    def prob(self) -> Any:
        """Probability of success."""
        return logit2prob(self.logit)

    @cached_property
    def logit(self) -> Any:
        """Logit of the probability of success: log(prob / (1 - prob))."""
        return prob2logit(self.prob)

    @property
    def _failure(self) -> Any:
        """Probability of failure."""
        return 1 - self.prob if self._has_prob else logit2prob(-self.logit)

    def _log_outcomes(self, successes: Any, failures: Any) -> Any:
        """Compute successes log prob + failures log(1 - prob); 0 log 0 is 0."""
        if not self._has_prob:
            return -(successes * softplus(-self.logit) + failures * softplus(self.logit))
        return _times_log(successes, self.prob, 0) + _times_log(failures, self.prob, 1)

    def _odds_entropy(self) -> Any:
        """Compute the entropy of one trial."""
        return -self._log_outcomes(self.prob, self._failure)


def _times_log(count: Any, prob: Any, certain: int) -> Any:
    """Compute count log prob, or for ``certain`` of 1 count log(1 - prob); 0 log 0 is 0."""
    never = (prob == certain) & (count == 0)
    safe = np.where(never, 0.5, prob) if hasattr(never, "shape") else (0.5 if never else prob)
    return count * (np.log1p(-safe) if certain else np.log(safe))
