"""Initializers that draw every weight from one distribution: Uniform, Normal and Orthogonal."""

import math

import numpy as np

import gluonish.ndarray.random as random
from gluonish.core.errors import ArgumentError
from gluonish.initializer.base import Initializer, register
from gluonish.ndarray import NDArray

__all__ = ["Normal", "Orthogonal", "Uniform"]


@register
class Uniform(Initializer):
    """Draw weights from the uniform distribution over [-scale, scale).

    Args:
        scale: Half the width of the range.
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        random.uniform(-self.scale, self.scale, out=arr)


@register
class Normal(Initializer):
    """Draw weights from the normal distribution with mean 0.

    Args:
        sigma: Standard deviation.
    """

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:
        random.normal(0, self.sigma, out=arr)


@register
class Orthogonal(Initializer):
    """Fill a weight (N, ...), as a matrix (N, rest), with ``scale`` times an orthogonal matrix.

    Its rows are orthogonal where it is at least as wide as high, else its columns.

    Args:
        scale: Factor on the orthogonal matrix.
        rand_type: ``"uniform"`` or ``"normal"``: the entries of the random matrix that is made
            orthogonal.

    Raises:
        ArgumentError: ``rand_type`` is neither of these.

    References:
        A. M. Saxe, J. L. McClelland, S. Ganguli, Exact solutions to the nonlinear dynamics of
        learning in deep linear neural networks, 2013.
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: NDArray) -> None:
        if not arr.shape:
            raise ArgumentError(f"Orthogonal: expected {str(name)!r} with axes, got shape ()")
        if self.rand_type not in ("uniform", "normal"):
            raise ArgumentError(
                f"Orthogonal: expected rand_type 'uniform' or 'normal', got {self.rand_type!r}"
            )
        shape = (arr.shape[0], math.prod(arr.shape[1:]))
        if self.rand_type == "uniform":
            drawn = random.uniform(-1.0, 1.0, shape=shape, ctx=arr.context)
        else:
            drawn = random.normal(0.0, 1.0, shape=shape, ctx=arr.context)
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        chosen = left if left.shape == shape else right
        arr[:] = self.scale * chosen.reshape(arr.shape)
