"""TransformedDistribution: the distribution of a transformed random variable."""

from collections.abc import Mapping
from typing import Any

from gluonish.gluon.probability.distributions.constraint import Constraint
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.utils import sum_right_most
from gluonish.gluon.probability.transformation.transformation import Transformation

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Distribution of f(x), where x has a base distribution and f is a sequence of transformations.

    log_prob(y) = log_prob_base(x) - log |dy/dx|, for y = f(x).

    Args:
        base_dist: Distribution of x.
        transforms: Transformation, or sequence of them, the first one first. `log_prob`, `cdf` and
            `icdf` require that they are bijective.
        validate_args: Whether to check parameters and values; None for the default.
    """

    def __init__(
        self, base_dist: Distribution, transforms: Any, validate_args: bool | None = None
    ) -> None:
        self._base_dist = base_dist
        single = isinstance(transforms, Transformation)
        self._transforms = [transforms] if single else list(transforms)
        dims = [t.event_dim for t in self._transforms]
        super().__init__(max([base_dist.event_dim or 0, *dims]), validate_args)
        if not self._given():
            extra = (self.event_dim or 0) - (base_dist.event_dim or 0)
            shape = base_dist._batch_shape
            self._batch_shape = shape[: len(shape) - extra]
            self._event_of_base = shape[len(shape) - extra :]
        else:
            self._event_of_base = ()

    @property
    def arg_constraints(self) -> Mapping[str, Constraint]:
        """The constraint of each parameter, by name: none, unless a subclass has its own."""
        return {}

    @property
    def has_grad(self) -> Any:
        """Whether samples are differentiable functions of the base distribution's parameters."""
        return self._base_dist.has_grad

    @property
    def _like(self) -> Any:
        return self._base_dist._like

    @property
    def _dtype(self) -> Any:
        return self._base_dist._dtype

    def _validate_samples(self, value: Any) -> Any:
        try:
            limit = self.support
        except NotImplementedError:
            return value
        return limit._require(value, type(self).__name__, "value")

    def _transformed(self, x: Any) -> Any:
        for transform in self._transforms:
            x = transform(x)
        return x

    def _inverted(self, y: Any) -> Any:
        for transform in reversed(self._transforms):
            y = transform.inv(y)
        return y

    def sample(self, size: Any = None) -> Any:
        """Draw samples: those of the base distribution, transformed.

        Args:
            size: Shape of the base distribution's samples, as in its `sample`; None for its batch
                shape.
        """
        return self._transformed(self._base_dist.sample(size))

    def sample_n(self, size: Any = None) -> Any:
        """Draw samples of the whole batch.

        Args:
            size: Shape in front of the batch shape; None for ().
        """
        return self._transformed(self._base_dist.sample_n(size))

    def _log_density(self, value: Any) -> Any:
        total: Any = 0.0
        y = value
        event_dim = self.event_dim or 0
        for transform in reversed(self._transforms):
            x = transform.inv(y)
            slope = transform.log_det_jacobian(x, y)
            total = total - sum_right_most(slope, event_dim - transform.event_dim)
            y = x
        base = self._base_dist.log_prob(y)
        return total + sum_right_most(base, event_dim - (self._base_dist.event_dim or 0))

    def _sign(self) -> Any:
        sign: Any = 1
        for transform in self._transforms:
            sign = sign * transform.sign
        return sign

    def _cumulative(self, value: Any) -> Any:
        sign = self._sign()
        return sign * (self._base_dist.cdf(self._inverted(value)) - 0.5) + 0.5

    def _quantile(self, value: Any) -> Any:
        sign = self._sign()
        return self._transformed(self._base_dist.icdf(sign * (value - 0.5) + 0.5))

    def __repr__(self) -> str:
        if self._given():
            return super().__repr__()
        names = ", ".join(type(t).__name__ for t in self._transforms)
        return f"{type(self).__name__}({self._base_dist!r}, [{names}])"
