"""Initializers for weights of one particular layer: Bilinear and LSTMBias."""

from gluonish.core.errors import ArgumentError
from gluonish.initializer.base import Initializer, bilinear_kernel, register
from gluonish.ndarray import NDArray

__all__ = ["Bilinear", "LSTMBias"]


@register
class Bilinear(Initializer):
    """Fill the weight (..., H, W) of a transposed convolution for bilinear upsampling."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = bilinear_kernel(name, arr.shape)


@register
class LSTMBias(Initializer):
    """Fill an LSTM's bias, (4 * hidden,), with 0, and the forget gate's part with ``forget_bias``.

    Args:
        forget_bias: Bias of the forget gate, the second of the four parts.
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
