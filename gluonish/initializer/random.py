"""Random initializers, constants and bilinear weights."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gluonish.ndarray.random as random
from gluonish.core.errors import ArgumentError
from gluonish.initializer.base import Initializer, alias, bilinear_kernel, register
from gluonish.ndarray import NDArray


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
    """Fill a weight, reshaped to a matrix (N, rest), with ``scale`` times an orthogonal matrix.

    The rows are orthogonal if the matrix is at least as wide as high, else the columns.

    Args:
        scale: Factor on the orthogonal matrix.
        rand_type: Distribution of the random matrix to orthogonalize, ``"uniform"`` or
            ``"normal"``.

    Raises:
        ArgumentError: ``rand_type`` is unknown.

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


_FACTORS: Mapping[str, Callable[[int, int], float]] = {
    "avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "in": lambda fan_in, fan_out: fan_in,
    "out": lambda fan_in, fan_out: fan_out,
}


@register
class Xavier(Initializer):
    """Draw weights of scale ``sqrt(magnitude / fan)``, which preserves the variance of signals.

    A weight (N, C, ...) has fan-in C and fan-out N, each multiplied by the number of elements of
    the remaining axes (the receptive field).

    Args:
        rnd_type: ``"uniform"`` draws from [-scale, scale); ``"gaussian"`` from a normal
            distribution with standard deviation scale.
        factor_type: The fan to use: ``"avg"`` (mean of fan-in and fan-out), ``"in"`` or ``"out"``.
        magnitude: Numerator of the squared scale.

    Raises:
        ArgumentError: ``rnd_type`` or ``factor_type`` is unknown; when called: the weight has fewer
            than two axes.

    References:
        X. Glorot, Y. Bengio, Understanding the difficulty of training deep feedforward neural
        networks, 2010.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.Dense(10, in_units=20)
        >>> net.initialize(mx.init.Xavier(magnitude=2.24))
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _check_arguments(self) -> None:
        """Check ``rnd_type`` and ``factor_type``, at the call as in MXNet."""
        if self.rnd_type not in ("uniform", "gaussian"):
            raise ArgumentError(
                f"{type(self).__name__}: expected rnd_type 'uniform' or 'gaussian', "
                f"got {self.rnd_type!r}"
            )
        if self.factor_type not in _FACTORS:
            raise ArgumentError(
                f"{type(self).__name__}: expected factor_type 'avg', 'in' or 'out', "
                f"got {self.factor_type!r}"
            )

    def _init_weight(self, name: str, arr: NDArray) -> None:
        self._check_arguments()
        shape = arr.shape
        if len(shape) < 2:
            raise ArgumentError(
                f"{type(self).__name__}: expected {str(name)!r} with two axes or more, "
                f"got shape {shape}"
            )
        product = math.prod(shape[2:])
        fan = _FACTORS[self.factor_type](shape[1] * product, shape[0] * product)
        if not fan:
            return  # the array is empty
        scale = math.sqrt(self.magnitude / fan)
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, out=arr)
        else:
            random.normal(0, scale, out=arr)


@register
class MSRAPrelu(Xavier):
    """`Xavier` for layers followed by ReLU or PReLU: normal, with magnitude ``2 / (1 + slope^2)``.

    Args:
        factor_type: The fan, as in `Xavier`.
        slope: The initial slope of PReLU; 0 for ReLU.

    References:
        K. He, X. Zhang, S. Ren, J. Sun, Delving deep into rectifiers: surpassing human-level
        performance on ImageNet classification, 2015.
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
@alias("zeros")
class Zero(Initializer):
    """Fill weights with 0."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Fill weights with 1."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 1


@register
class Constant(Initializer):
    """Fill weights with one number, or with the values of an array.

    Args:
        value: A number; or an NDArray, a NumPy array or nested lists that broadcast to the weight.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=_as_json(value))
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = np.asarray(self.value) if isinstance(self.value, list | tuple) else self.value


def _as_json(value: Any) -> Any:
    """Convert arrays to lists of numbers, for JSON."""
    if isinstance(value, NDArray | np.ndarray | np.generic):
        return value.tolist()
    return value


@register
class Bilinear(Initializer):
    """Fill the weight (..., H, W) of a transposed convolution for bilinear upsampling."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = bilinear_kernel(name, arr.shape)


@register
class LSTMBias(Initializer):
    """Fill an LSTM's bias, (4 * hidden,), with 0, and the forget gate's slice with ``forget_bias``.

    Args:
        forget_bias: Bias of the forget gate, the second of the four slices.
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        if not arr.shape:
            raise ArgumentError(f"LSTMBias: expected {str(name)!r} with an axis, got shape ()")
        hidden = arr.shape[0] // 4
        arr[:] = 0
        if hidden:
            arr[hidden : 2 * hidden] = self.forget_bias
