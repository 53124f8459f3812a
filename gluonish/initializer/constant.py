"""Deterministic initializers: constants and bilinear weights."""

from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.initializer.base import Initializer, alias, bilinear_kernel, register
from gluonish.ndarray import NDArray


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
