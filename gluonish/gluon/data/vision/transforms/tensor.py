"""Cast, ToTensor and Normalize: from images to network inputs."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, normalize_dtype
from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.stacking import new_sample
from gluonish.gluon.data.vision.transforms.host import HostTransform, run_operator
from gluonish.gluon.nn.tensor import Tensor
from gluonish.kernels.generated.pixel_planes import PixelPlanes
from gluonish.ops.elementwise.cast import CAST
from gluonish.ops.image.tensor import NORMALIZE, TO_TENSOR

Array = np.ndarray[Any, Any]

_SCALE = ("divide", (255.0,))
_TO_TENSOR = PixelPlanes((_SCALE,))


class Cast(HostTransform, HybridBlock):
    """Convert an array to another element type.

    Args:
        dtype: The new element type.

    Inputs:
        x: any shape and dtype.

    Outputs:
        y: shape of ``x``, of dtype ``dtype``.
    """

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Convert the array.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape and dtype.
        """
        return F.cast(x, dtype=self._dtype)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        return run_operator(CAST, values, dtype=normalize_dtype(self._dtype))


class ToTensor(HostTransform, HybridBlock):
    """Convert an image with values in [0, 255] to a float32 tensor in [0, 1], with channels first.

    Inputs:
        x: (height, width, channels) or (N, height, width, channels), any dtype but bool.

    Outputs:
        y: (channels, height, width) or (N, channels, height, width), float32.

    Example:
        >>> import gluonish as mx
        >>> image = mx.nd.full((2, 4, 3), 255, dtype="uint8")
        >>> x = mx.gluon.data.vision.transforms.ToTensor()(image)
        >>> x.shape, x.max().asscalar().item()
        ((3, 2, 4), 1.0)
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Scale the values to [0, 1] and move the channels first.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels) or (N, height, width, channels).
        """
        return F.image.to_tensor(x)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        if _supports(_TO_TENSOR, values):
            return _filled(_TO_TENSOR, values)
        return run_operator(TO_TENSOR, values)


class Normalize(HostTransform, HybridBlock):
    """Subtract a mean from each channel, and divide by a standard deviation.

    Args:
        mean: One number, or one for each channel.
        std: Standard deviation: one number, or one for each channel.

    Inputs:
        x: (channels, height, width) or (N, channels, height, width), of 1 or 3 channels, floating
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
        with DeferErrorToCall(self):
            steps = (_SCALE, ("subtract", self._mean), ("divide", self._std))
            self._planes = PixelPlanes(steps)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Normalize each channel.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (channels, height, width) or (N, channels, height, width).
        """
        return F.image.normalize(x, self._mean, self._std)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        return run_operator(NORMALIZE, values, mean=self._mean, std=self._std)

    def after_to_tensor(self, values: Array) -> Array:
        """Apply `ToTensor` and this transform, in one pass if possible.

        Args:
            values: Input of `ToTensor`, a NumPy array.
        """
        if _supports(self._planes, values):
            return _filled(self._planes, values)
        return self.on_host(run_operator(TO_TENSOR, values))


def _numbers(value: Any) -> tuple[float, ...]:
    """Return numbers as a tuple of floats."""
    values = value.asnumpy() if hasattr(value, "asnumpy") else value
    return (float(values),) if isinstance(values, int | float) else tuple(map(float, values))


def _supports(planes: PixelPlanes, values: Array) -> bool:
    """Whether the fused kernel supports the values: one image of a supported dtype."""
    if values.ndim != 3 or values.dtype == BOOL:
        return False
    return planes is _TO_TENSOR or (values.shape[2] in (1, 3) and planes.fits(values.shape[2]))


def _filled(planes: PixelPlanes, values: Array) -> Array:
    height, width, channels = values.shape
    out = new_sample((channels, height, width), FLOAT32)
    planes(out, values)
    return out
