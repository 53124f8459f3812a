"""Normal: the normal distribution."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from typing import Any

import gluonish.numpy as np
from gluonish.gluon.probability.distributions.constraint import Positive, Real
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.parameters import erf, erfinv

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """Normal distribution, with density exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Args:
        loc: Mean: number or array.
        scale: Standard deviation: number or array, above 0.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: ``validate_args`` is set, and ``scale`` is not positive.
        ArgumentTypeError: A parameter is neither a number nor an array.
    """

    has_grad = True
    support = Real()
    arg_constraints = {"loc": Real(), "scale": Positive()}  # noqa: RUF012
    loc: Any
    scale: Any

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(loc=loc, scale=scale)
        super().__init__(0, validate_args)

    def _log_density(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        return -0.5 * np.square(z) - (np.log(self.scale) + 0.5 * math.log(2 * math.pi))

    def _draw(self, shape: tuple[int, ...]) -> Any:
        return np.random.normal(self.loc, self.scale, shape, self._dtype, self._ctx)

    def _cumulative(self, value: Any) -> Any:
        return 0.5 * (1 + erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def _quantile(self, value: Any) -> Any:
        return self.loc + self.scale * (math.sqrt(2) * erfinv(2 * value - 1))

    def _mean(self) -> Any:
        return self.loc

    def _variance(self) -> Any:
        return np.square(self.scale)

    @property
    def stddev(self) -> Any:
        """The standard deviation: batch shape."""
        return self._over_batch(self.scale)

    def _entropy(self) -> Any:
        return np.log(self.scale) + (0.5 + 0.5 * math.log(2 * math.pi))
