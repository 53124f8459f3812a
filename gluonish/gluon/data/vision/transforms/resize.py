"""Resize: images of another size."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.refusal import RefusedAtCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.host import HostTransform, run_operator
from gluonish.gluon.data.vision.transforms.size import Size, both_extents
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ops.image.resize import RESIZE

__all__ = ["Resize"]


class Resize(HostTransform, HybridBlock):
    """Resize images to a given size.

    Args:
        size: Width and height in pixels, or one int for both.
        keep_ratio: With a single int: whether it is the length of the shorter side, and the aspect
            ratio is kept.
        interpolation: 0 nearest neighbour, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.

    Inputs:
        x: (height, width, channels) or (N, height, width, channels); uint8, float32 or float64.

    Outputs:
        y: the resized images, of the same dtype.

    Raises:
        ArgumentError: At the call: ``size`` is neither an int nor two ints.
    """

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._keep = keep_ratio
        self._interpolation = interpolation
        with RefusedAtCall(self):
            extents = both_extents("Resize", size)
            self._size = extents[:1] if isinstance(size, int | float) else extents

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Resize the images.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels) or (N, height, width, channels).
        """
        return F.image.resize(x, self._size, self._keep, self._interpolation)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        size, keep, method = self._size, self._keep, self._interpolation
        return run_operator(RESIZE, values, size=size, keep_ratio=keep, interp=method)
