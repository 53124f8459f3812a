"""RandomResizedCrop, CropResize and CenterCrop: regions of images."""

from types import ModuleType
from typing import Any

from gluonish.block import Block
from gluonish.core.errors import ArgumentError
from gluonish.data.vision.transforms.size import Size, both_extents
from gluonish.hybrid_block import HybridBlock
from gluonish.image import center_crop, random_size_crop
from gluonish.nn.tensor import Tensor

__all__ = ["CenterCrop", "CropResize", "RandomResizedCrop"]

_LINEAR = 1


class RandomResizedCrop(Block):
    """Take a region of random place, size and proportions, and resample it to one size.

    What is random is drawn from `random`; see `image.random_size_crop`.

    Args:
        size: Width and height of the result in pixels, or one number for both.
        scale: The region's share of the image's area: least and largest; the largest is 1 where a
            number is given.
        ratio: Least and largest ratio of width to height.
        interpolation: How to resample, as for `image.imresize`.

    Inputs:
        x: (height, width, channels); uint8, float32 or float64.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: ``size`` is no such numbers.
    """

    def __init__(
        self,
        size: Size,
        scale: float | tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._args = (both_extents("RandomResizedCrop", size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """Take a region and resample it."""
        _check_one_image("RandomResizedCrop", x)
        return random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """Take a region of images, and resample it if a size is given.

    Args:
        x: Left edge of the region, in pixels.
        y: Upper edge.
        width: Width.
        height: Height.
        size: Width and height of the result, or one number for both; None to keep the region's.
        interpolation: 0 the nearest pixel, 1 linear, 2 cubic, 3 the mean of the area, 4 Lanczos;
            None is 1.

    Inputs:
        data: (height, width, channels) or (N, height, width, channels); to resample it uint8,
            float32 or float64.

    Outputs:
        out: the same with other extents.

    Raises:
        ArgumentError: ``size`` is no such numbers.
    """

    def __init__(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        size: Size | None = None,
        interpolation: int | None = None,
    ) -> None:
        super().__init__()
        self._region = (x, y, width, height)
        self._size = None if size is None else both_extents("CropResize", size)
        self._interpolation = _LINEAR if interpolation is None else interpolation

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Take the region, and resample it."""
        out = F.image.crop(x, *self._region)
        if self._size is None:
            return out
        return F.image.resize(out, self._size, False, self._interpolation)


class CenterCrop(Block):
    """Take the middle of an image; where that is too small, enlarge it.

    Args:
        size: Width and height of the result in pixels, or one number for both.
        interpolation: How to resample, as for `image.imresize`.

    Inputs:
        x: (height, width, channels); to enlarge it uint8, float32 or float64.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: ``size`` is no such numbers.
    """

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        self._args = (both_extents("CenterCrop", size), interpolation)

    def forward(self, x: Any) -> Any:
        """Take the middle."""
        _check_one_image("CenterCrop", x)
        return center_crop(x, *self._args)[0]


def _check_one_image(name: str, x: Any) -> None:
    if len(x.shape) != 3:
        raise ArgumentError(
            f"{name}: expected one image (height, width, channels), got {x.shape}; transform "
            "images before they are batched"
        )
