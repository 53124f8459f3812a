"""Cast, ToTensor and Normalize: from images of bytes to what networks take."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.hybrid_block import HybridBlock
from gluonish.nn.tensor import Tensor

__all__ = ["Cast", "Normalize", "ToTensor"]


class Cast(HybridBlock):
    """Give an array another type of elements.

    Args:
        dtype: The new type.

    Inputs:
        x: any shape and dtype.

    Outputs:
        y: shape of ``x``, ``dtype``.
    """

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Cast the array."""
        return F.cast(x, dtype=self._dtype)


class ToTensor(HybridBlock):
    """Make of an image of numbers up to 255 a float32 array of numbers up to 1, channels first.

    Inputs:
        x: (height, width, channels) or (N, height, width, channels), any dtype but bool.

    Outputs:
        y: (channels, height, width) or (N, channels, height, width), float32.
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Scale and transpose the image."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """Take a mean from each channel and divide by a deviation.

    Args:
        mean: One number, or one for each channel.
        std: One number, or one for each channel.

    Inputs:
        x: (channels, height, width) or (N, channels, height, width) of 1 or 3 channels, floating
            point.

    Outputs:
        y: shape and dtype of ``x``.
    """

    def __init__(
        self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0
    ) -> None:
        super().__init__()
        self._mean = _numbers(mean)
        self._std = _numbers(std)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Normalize the channels."""
        return F.image.normalize(x, self._mean, self._std)


def _numbers(given: Any) -> tuple[float, ...]:
    """Return one or more numbers, also of a NumPy array or an NDArray, as a tuple."""
    values = given.asnumpy() if hasattr(given, "asnumpy") else given
    return (float(values),) if isinstance(values, int | float) else tuple(map(float, values))
