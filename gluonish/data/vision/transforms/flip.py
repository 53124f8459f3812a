"""RandomFlipLeftRight and RandomFlipTopBottom."""

from types import ModuleType
from typing import Any

from gluonish.hybrid_block import HybridBlock
from gluonish.nn.tensor import Tensor

__all__ = ["RandomFlipLeftRight", "RandomFlipTopBottom"]


class RandomFlipLeftRight(HybridBlock):
    """Exchange left and right of an image in half of the calls.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Flip the image, or not."""
        return F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Exchange top and bottom of an image in half of the calls.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Flip the image, or not."""
        return F.image.random_flip_top_bottom(x)
