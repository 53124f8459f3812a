"""RandomCrop, RandomResizedCrop, CropResize and CenterCrop: regions of images."""

import random
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.refusal import RefusedAtCall
from gluonish.core.spec import Spec
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.host import HostTransform, run_operator
from gluonish.gluon.data.vision.transforms.size import Size, both_extents
from gluonish.gluon.nn.tensor import Tensor
from gluonish.image.crop import (
    center_crop,
    drawn_region,
    random_crop,
    random_size_crop,
    scale_down,
)
from gluonish.ndarray import array
from gluonish.numpy.array import gluon_array
from gluonish.ops.image.geometry import CROP
from gluonish.ops.image.interpolation import chosen_method
from gluonish.ops.image.resampling import check_resampling, resampled
from gluonish.ops.image.resize import RESIZE

__all__ = ["CenterCrop", "CropResize", "RandomCrop", "RandomResizedCrop"]

Array = np.ndarray[Any, Any]

_LINEAR = 1


class RandomResizedCrop(HostTransform):
    """Crop a region of random position, size and aspect ratio, and resize it to a given size.

    Random numbers come from Python's `random`; see `image.random_size_crop`.

    Args:
        size: (width, height) of the result in pixels, or one int for both.
        scale: Range (min, max) of the region's area as a fraction of the image's; a single number
            is the minimum, with a maximum of 1.
        ratio: Range (min, max) of the aspect ratio, width / height.
        interpolation: Interpolation method, as for `image.imresize`.

    Inputs:
        x: (height, width, channels); uint8, float32 or float64.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: At the call: ``size`` is neither an int nor two ints.
    """

    def __init__(
        self,
        size: Size,
        scale: float | tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        with RefusedAtCall(self):
            self._args = (both_extents("RandomResizedCrop", size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """Crop a random region and resize it.

        Args:
            x: Image (height, width, channels).
        """
        _check_one_image("RandomResizedCrop", x)
        return random_size_crop(x, *self._args)[0]

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        _check_one_image("RandomResizedCrop", values)
        size, scale, ratio, method = self._args
        shares = (scale, 1.0) if isinstance(scale, int | float) else scale
        high, wide = values.shape[:2]
        region = drawn_region(wide, high, shares, ratio)
        if region is None:
            return _middle(values, size, method)
        x, y, width, height = region
        return _in_size(values[y : y + height, x : x + width], size, method)


class RandomCrop(HostTransform):
    """Crop a region of given size at a random position; images that are too small are enlarged.

    The position is drawn from Python's `random`; see `image.random_crop`.

    Args:
        size: (width, height) of the result in pixels, or one int for both.
        pad: Padding added before cropping: a number of pixels for all edges, or a pair (before,
            after) for each axis, as in `numpy.pad`.
        pad_value: Value of the padding.
        interpolation: Interpolation method for enlarging, as for `image.imresize`.

    Inputs:
        x: (height, width, channels); to enlarge it uint8, float32 or float64.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: ``size`` or ``pad`` has another form.
    """

    def __init__(
        self,
        size: Size,
        pad: int | Sequence[Sequence[int]] | None = None,
        pad_value: float = 0,
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._args = (both_extents("RandomCrop", size), interpolation)
        self._pad = None if pad is None else _padding(pad)
        self._pad_value = pad_value

    def forward(self, x: Any) -> Any:
        """Pad the image, then crop a region at a random position.

        Args:
            x: Image (height, width, channels).
        """
        _check_one_image("RandomCrop", x)
        if self._pad is not None:
            padded = np.pad(x.asnumpy(), self._pad, constant_values=self._pad_value)
            x = gluon_array(array(padded, x.context, padded.dtype))
        return random_crop(x, *self._args)[0]

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        _check_one_image("RandomCrop", values)
        if self._pad is not None:
            values = np.pad(values, self._pad, constant_values=self._pad_value)
        size, method = self._args
        high, wide = values.shape[:2]
        width, height = scale_down((wide, high), size)
        x = random.randint(0, wide - width)
        y = random.randint(0, high - height)
        return _in_size(values[y : y + height, x : x + width], size, method)


class CropResize(HostTransform, HybridBlock):
    """Crop a fixed region of images, and resize it if a size is given.

    Args:
        x: Left edge of the region, in pixels.
        y: Top edge of the region, in pixels.
        width: Width of the region, in pixels.
        height: Height of the region, in pixels.
        size: Width and height of the result, or one int for both; None keeps those of the region.
        interpolation: 0 nearest neighbour, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos; None is 1.

    Inputs:
        data: (height, width, channels) or (N, height, width, channels); uint8, float32 or float64
            if it is resized.

    Outputs:
        out: the cropped images, of the same dtype.

    Raises:
        ArgumentError: At the call: ``size`` is neither an int nor two ints.
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
        self._size = None
        with RefusedAtCall(self):
            if size not in (None, 0, ()):  # MXNet resizes to none of them
                self._size = both_extents("CropResize", size)
        self._interpolation = _LINEAR if interpolation is None else interpolation

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Crop the region, and resize it if a size was given.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels) or (N, height, width, channels).
        """
        out = F.image.crop(x, *self._region)
        if self._size is None:
            return out
        return F.image.resize(out, self._size, False, self._interpolation)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        x, y, width, height = self._region
        CROP.infer(Spec(values.shape, values.dtype), x=x, y=y, width=width, height=height)
        region = values[..., y : y + height, x : x + width, :]
        if self._size is None:
            return region
        method = self._interpolation
        return run_operator(RESIZE, region, size=self._size, keep_ratio=False, interp=method)


class CenterCrop(HostTransform):
    """Crop the center of an image; images that are too small are enlarged.

    Args:
        size: Width and height of the result in pixels, or one int for both.
        interpolation: Interpolation method, as for `image.imresize`.

    Inputs:
        x: (height, width, channels); to enlarge it uint8, float32 or float64.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: At the call: ``size`` is neither an int nor two ints.
    """

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        with RefusedAtCall(self):
            self._args = (both_extents("CenterCrop", size), interpolation)

    def forward(self, x: Any) -> Any:
        """Crop the center of the image.

        Args:
            x: Image (height, width, channels).
        """
        _check_one_image("CenterCrop", x)
        return center_crop(x, *self._args)[0]

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        _check_one_image("CenterCrop", values)
        return _middle(values, *self._args)


def _padding(pad: int | Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """Return pixels before and after for height, width and channels."""
    edges: Any = ((pad, pad),) * 2 if isinstance(pad, int) else tuple(map(tuple, pad))
    if len(edges) == 1:
        edges *= 2
    if len(edges) == 2:
        edges += ((0, 0),)
    if len(edges) != 3 or any(len(pair) != 2 or min(pair) < 0 for pair in edges):
        raise ArgumentError(
            "RandomCrop: expected pad as a number of pixels or pairs (before, after) of height, "
            f"width and maybe channels, got {pad}"
        )
    padding: tuple[tuple[int, int], ...] = edges
    return padding


def _check_one_image(name: str, x: Any) -> None:
    if len(x.shape) != 3:
        raise ArgumentError(
            f"{name}: expected one image (height, width, channels), got {x.shape}; transform "
            "images before they are batched"
        )


def _middle(values: Array, size: tuple[int, int], method: int) -> Array:
    high, wide = values.shape[:2]
    width, height = scale_down((wide, high), size)
    x, y = (wide - width) // 2, (high - height) // 2
    return _in_size(values[y : y + height, x : x + width], size, method)


def _in_size(region: Array, size: tuple[int, int], method: int) -> Array:
    """Return a region with a width and height, resampled where it has others."""
    height, width = region.shape[:2]
    if (width, height) == size:
        return region
    chosen = chosen_method(method, (height, width), (size[1], size[0]))
    check_resampling("_cvimresize", Spec(region.shape, region.dtype), size[1], size[0], chosen)
    made: Array = resampled(region, size[1], size[0], chosen)
    return made
