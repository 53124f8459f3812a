"""Independent: a distribution whose last batch axes are event axes."""

from collections.abc import Mapping
from typing import Any

import gluonish.numpy as np
from gluonish.core.errors import ArgumentError
from gluonish.gluon.probability.distributions.constraint import Constraint
from gluonish.gluon.probability.distributions.distribution import Distribution, check_number
from gluonish.gluon.probability.distributions.utils import sum_right_most
from gluonish.numpy.calls import is_value
from gluonish.numpy.creation import extents

__all__ = ["Independent"]


class Independent(Distribution):
    """Distribution that reinterprets the last batch axes of another one as event axes.

    `log_prob` and `entropy` are summed over these axes; samples are those of the other one.

    Args:
        base_distribution: The distribution.
        reinterpreted_batch_ndims: Number of its last batch axes that become event axes.
        validate_args: Whether to check parameters and values; None for the default.

    Raises:
        ArgumentError: The distribution has fewer batch axes.
        ArgumentTypeError: ``reinterpreted_batch_ndims`` is not an int.
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        count = check_number(
            "Independent", "reinterpreted_batch_ndims", reinterpreted_batch_ndims, 0
        )
        shape = base_distribution._batch_shape
        if count > len(shape):
            raise ArgumentError(
                f"Independent: expected reinterpreted_batch_ndims of at most {len(shape)}, the "
                f"axes of the batch shape {shape}, got {count}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = count
        super().__init__(count + (base_distribution.event_dim or 0), validate_args)
        self._batch_shape = shape[: len(shape) - count]

    @property
    def arg_constraints(self) -> Mapping[str, Constraint]:
        """The constraint of each parameter, by name: none."""
        return {}

    @property
    def has_grad(self) -> Any:
        """Whether samples are differentiable functions of the parameters."""
        return self.base_dist.has_grad

    @property
    def has_enumerate_support(self) -> Any:
        """Whether `enumerate_support` lists all values."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        return self.base_dist.support

    @property
    def _like(self) -> Any:
        return self.base_dist._like

    @property
    def _dtype(self) -> Any:
        return self.base_dist._dtype

    def _validate_samples(self, value: Any) -> Any:
        return self.base_dist._validate_samples(value)

    def broadcast_to(self, batch_shape: Any) -> "Independent":
        """Return the distribution with parameters broadcast to a batch shape.

        Args:
            batch_shape: The new batch shape, without the event axes.
        """
        count = self.reinterpreted_batch_ndims
        base = self.base_dist._batch_shape
        shape = extents(batch_shape, "Independent.broadcast_to")
        whole = (*shape, *base[len(base) - count :])
        return Independent(self.base_dist.broadcast_to(whole), count, self._validate_args)

    def sample(self, size: Any = None) -> Any:
        """Draw samples of the base distribution.

        Args:
            size: Shape of the base distribution's samples, with the reinterpreted axes; None for
                its batch shape.
        """
        return self.base_dist.sample(size)

    def sample_n(self, size: Any = None) -> Any:
        """Draw samples of the whole batch.

        Args:
            size: Shape in front of the batch shape; None for ().
        """
        return self.base_dist.sample_n(size)

    def _log_density(self, value: Any) -> Any:
        logs = self.base_dist.log_prob(value)
        return sum_right_most(logs, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Any:
        """The mean: batch shape, event shape."""
        return self.base_dist.mean

    @property
    def variance(self) -> Any:
        """The variance of each element: batch shape, event shape."""
        return self.base_dist.variance

    def _entropy(self) -> Any:
        entropy = self.base_dist.entropy()
        if not is_value(entropy):
            shape = self.base_dist._batch_shape
            entropy = np.full(shape, entropy, self._dtype) if shape else entropy
        return sum_right_most(entropy, self.reinterpreted_batch_ndims)

    def enumerate_support(self) -> Any:
        """Return all values of a discrete distribution, along a new first axis.

        Raises:
            NotSupportedError: Batch axes are reinterpreted: their values would be a product.
        """
        if self.reinterpreted_batch_ndims:
            raise self._missing("enumerate_support")
        return self.base_dist.enumerate_support()

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
