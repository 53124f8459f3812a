"""Resize: images of another size."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.block.hybrid_block import HybridBlock
from gluonish.data.vision.transforms.host import HostTransform, run_operator
from gluonish.data.vision.transforms.size import Size, both_extents
from gluonish.nn.tensor import Tensor
from gluonish.ops.image.resize import RESIZE

__all__ = ["Resize"]


class Resize(HostTransform, HybridBlock):
    """Resize images to a given size.

    Args:
        size: Width and height in pixels, or one number for both.
        keep_ratio: Whether one number is the shorter side, and the other follows from the image's
            proportions.
        interpolation: 0 the nearest pixel, 1 linear, 2 cubic, 3 the mean of the area, 4 Lanczos.

    Inputs:
        x: (height, width, channels) or (N, height, width, channels); uint8, float32 or float64.

    Outputs:
        y: the same with other extents.

    Raises:
        ArgumentError: ``size`` is neither an int nor two ints.
    """

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        extents = both_extents("Resize", size)
        self._keep = keep_ratio
        self._size = extents[:1] if isinstance(size, int | float) else extents
        self._interpolation = interpolation

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Resample the images."""
        return F.image.resize(x, self._size, self._keep, self._interpolation)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        size, keep, method = self._size, self._keep, self._interpolation
        return run_operator(RESIZE, values, size=size, keep_ratio=keep, interp=method)
