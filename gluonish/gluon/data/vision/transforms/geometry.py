"""Geometric transforms: crops, flips, rotations and resizing."""

import random
from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from gluonish.core.dtype import BOOL
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.core.spec import Spec
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.host import (
    HostTransform,
    random_key,
    run_operator,
    with_others,
)
from gluonish.gluon.nn.tensor import Tensor
from gluonish.image.geometry import (
    center_crop,
    imrotate,
    random_crop,
    random_region,
    random_rotate,
    random_size_crop,
    scale_down,
)
from gluonish.ndarray import NDArray, array
from gluonish.numpy.array import gluon_array
from gluonish.ops.image.geometry import CROP
from gluonish.ops.image.pixel_math import check_image
from gluonish.ops.image.resampling import check_resampling, chosen_method, resampled
from gluonish.ops.image.resize import RESIZE
from gluonish.ops.support.philox import random_bits, uniform

_EVEN = 0.5


class _RandomFlip(HostTransform, HybridBlock):
    """Base class of flips; a subclass sets the direction and the slices that reverse the axis."""

    _reversed: ClassVar[tuple[slice, ...]]
    _direction: ClassVar[str]

    def __init__(self, p: float = _EVEN) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ArgumentError(f"{type(self).__name__}: expected p in [0, 1], got {p}")
        self._p = p

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Flip the image at random."""
        if self._p == _EVEN:
            return getattr(F.image, f"random_flip_{self._direction}")(x)
        flipped = getattr(F.image, f"flip_{self._direction}")(x)
        drawn = F.random.uniform(shape=(1, 1, 1)) < self._p
        return F.where(F.broadcast_like(drawn, x), flipped, x)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        if values.ndim != 3 or values.dtype == BOOL:
            check_image(f"_image_random_flip_{self._direction}", Spec(values.shape, values.dtype))
        if self._p == _EVEN:
            flips = int(random_bits(np, random_key(), 1)[0]) >> 31 == 1
        else:
            flips = bool(uniform(np, random_key(), (1,))[0] < self._p)
        return values[self._reversed] if flips else values


class RandomFlipLeftRight(_RandomFlip):
    """Flip an image left to right with probability ``p``.

    Args:
        p: The probability of a flip.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1].
    """

    _reversed = (slice(None), slice(None, None, -1))
    _direction = "left_right"


class RandomFlipTopBottom(_RandomFlip):
    """Flip an image top to bottom with probability ``p``.

    Args:
        p: The probability of a flip.

    Inputs:
        x: (height, width, channels), any dtype but bool.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1].
    """

    _reversed = (slice(None, None, -1),)
    _direction = "top_bottom"


class Rotate(Block):
    """Rotate images by a fixed angle; see `image.imrotate`.

    Args:
        rotation_degrees: Angle in degrees, counterclockwise.
        zoom_in: Whether to enlarge the image until no empty corner is visible.
        zoom_out: Whether to shrink the image until all of it is visible.

    Inputs:
        x: (channels, height, width) or (N, channels, height, width), float32.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: At the call: both ``zoom_in`` and ``zoom_out`` are set.
    """

    def __init__(
        self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False
    ) -> None:
        super().__init__()
        self._kwargs = {
            "rotation_degrees": rotation_degrees,
            "zoom_in": zoom_in,
            "zoom_out": zoom_out,
        }
        with DeferErrorToCall(self):
            _check_zooms("Rotate", zoom_in, zoom_out)
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: NDArray, *args: Any) -> Any:
        """Rotate the images.

        Args:
            x: (channels, height, width) or (N, channels, height, width), float32.
            *args: Further arguments, which are returned after the image.
        """
        return with_others(imrotate(x, *self._args), args)


class RandomRotation(Block):
    """Rotate images by random angles, drawn from NumPy's global generator.

    Args:
        angle_limits: Smallest and largest angle in degrees, counterclockwise.
        zoom_in: Whether to enlarge the image until no empty corner is visible.
        zoom_out: Whether to shrink the image until all of it is visible.
        rotate_with_proba: Probability that the input is rotated at all.

    Inputs:
        x: (channels, height, width) or (N, channels, height, width), float32; each of N images gets
            its own angle.

    Outputs:
        y: shape and dtype of ``x``; ``x`` itself if it is not rotated.

    Raises:
        ArgumentError: The angles are not in order, or ``rotate_with_proba`` is outside [0, 1]; at
            the call: both ``zoom_in`` and ``zoom_out`` are set.
    """

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        self._kwargs = {"angle_limits": angle_limits, "zoom_in": zoom_in, "zoom_out": zoom_out}
        with DeferErrorToCall(self):
            _check_zooms("RandomRotation", zoom_in, zoom_out)
        lower, upper = angle_limits
        if lower >= upper:
            raise ArgumentError(
                f"RandomRotation: expected angle_limits (min, max), got {angle_limits}"
            )
        if not 0 <= rotate_with_proba <= 1:
            raise ArgumentError(
                f"RandomRotation: expected rotate_with_proba in [0, 1], got {rotate_with_proba}"
            )
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: NDArray, *args: Any) -> Any:
        """Rotate the images with the given probability.

        Args:
            x: (channels, height, width) or (N, channels, height, width), float32.
            *args: Further arguments, which are returned after the image.
        """
        if np.random.random() > self._rotate_with_proba:  # noqa: NPY002  # as MXNet draws
            return x
        return with_others(random_rotate(x, *self._args), args)


def _check_zooms(name: str, zoom_in: bool, zoom_out: bool) -> None:
    if zoom_in and zoom_out:
        raise ArgumentError(f"{name}: expected zoom_in or zoom_out, got both")


Size = float | Sequence[int]


def both_extents(name: str, size: Size) -> tuple[int, int]:
    """Return width and height, in pixels.

    Args:
        name: Class name of the transform, for error messages.
        size: (width, height), or one int for both.

    Raises:
        ArgumentError: ``size`` is not one or two integers of at least 1.
    """
    extents = (size, size) if isinstance(size, int | float) else tuple(size)
    if len(extents) != 2 or any(extent != int(extent) or extent < 1 for extent in extents):
        raise ArgumentError(
            f"{name}: expected a size of one or two whole numbers of at least 1 (width, height), "
            f"got {size!r}"
        )
    return int(extents[0]), int(extents[1])


class Resize(HostTransform, HybridBlock):
    """Resize images to a given size.

    Args:
        size: Width and height in pixels, or one int for both.
        keep_ratio: With a single int: whether ``size`` is the length of the shorter side, with the
            aspect ratio preserved.
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
        self._keep_ratio = keep_ratio
        self._interpolation = interpolation
        with DeferErrorToCall(self):
            extents = both_extents("Resize", size)
            self._size = extents[:1] if isinstance(size, int | float) else extents

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Resize the images.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels) or (N, height, width, channels).
        """
        return F.image.resize(x, self._size, self._keep_ratio, self._interpolation)

    def on_host(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Apply the transform to a NumPy array."""
        size, keep, method = self._size, self._keep_ratio, self._interpolation
        return run_operator(RESIZE, values, size=size, keep_ratio=keep, interp=method)


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
        self._kwargs = {"size": size, "scale": scale, "ratio": ratio}
        with DeferErrorToCall(self):
            self._args = (both_extents("RandomResizedCrop", size), scale, ratio, interpolation)

    def forward(self, x: Any, *args: Any) -> Any:
        """Crop a random region and resize it.

        Args:
            x: Image (height, width, channels).
            *args: Further arguments, which are returned after the image.
        """
        _check_one_image("RandomResizedCrop", x)
        return with_others(random_size_crop(x, *self._args)[0], args)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        _check_one_image("RandomResizedCrop", values)
        size, scale, ratio, method = self._args
        shares = (scale, 1.0) if isinstance(scale, int | float) else scale
        high, wide = values.shape[:2]
        region = random_region(wide, high, shares, ratio)
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
        x: (height, width, channels); uint8, float32 or float64 if it is enlarged.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: ``size`` or ``pad`` is invalid.
    """

    def __init__(
        self,
        size: Size,
        pad: int | Sequence[Sequence[int]] | None = None,
        pad_value: float = 0,
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._kwargs = {"size": size}
        self._args = (both_extents("RandomCrop", size), interpolation)
        self._pad = None if pad is None else _padding(pad)
        self._pad_value = pad_value

    def forward(self, x: Any, *args: Any) -> Any:
        """Pad the image, then crop a region at a random position.

        Args:
            x: Image (height, width, channels).
            *args: Further arguments, which are returned after the image.
        """
        _check_one_image("RandomCrop", x)
        if self._pad is not None:
            padded = np.pad(x.asnumpy(), self._pad, constant_values=self._pad_value)
            x = gluon_array(array(padded, x.context, padded.dtype))
        return with_others(random_crop(x, *self._args)[0], args)

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
        size: Width and height of the result, or one int for both; None for the region's.
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
        self._kwargs = {"x": x, "y": y, "width": width, "height": height}
        self._region = (x, y, width, height)
        self._size = None
        with DeferErrorToCall(self):
            if size not in (None, 0, ()):  # MXNet does not resize for these
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
        x: (height, width, channels); uint8, float32 or float64 if it is enlarged.

    Outputs:
        y: (height, width, channels), dtype of ``x``.

    Raises:
        ArgumentError: At the call: ``size`` is neither an int nor two ints.
    """

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        self._kwargs = {"size": size}
        with DeferErrorToCall(self):
            self._args = (both_extents("CenterCrop", size), interpolation)

    def forward(self, x: Any, *args: Any) -> Any:
        """Crop the center of the image.

        Args:
            x: Image (height, width, channels).
            *args: Further arguments, which are returned after the image.
        """
        _check_one_image("CenterCrop", x)
        return with_others(center_crop(x, *self._args)[0], args)

    def on_host(self, values: Array) -> Array:
        """Apply the transform to a NumPy array."""
        _check_one_image("CenterCrop", values)
        return _middle(values, *self._args)


def _padding(pad: int | Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """Return the padding (before, after) of height, width and channels."""
    edges: Any = ((pad, pad),) * 2 if isinstance(pad, int) else tuple(map(tuple, pad))
    if len(edges) == 1:
        edges *= 2
    if len(edges) == 2:
        edges += ((0, 0),)
    if len(edges) != 3 or any(len(pair) != 2 or min(pair) < 0 for pair in edges):
        raise ArgumentError(
            "RandomCrop: expected pad to be a number of pixels or pairs (before, after) of height, "
            f"width and optionally channels, got {pad}"
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
    """Resample a region to a size (width, height), unless it already has this size."""
    height, width = region.shape[:2]
    if (width, height) == size:
        return region
    chosen = chosen_method(method, (height, width), (size[1], size[0]))
    check_resampling("_cvimresize", Spec(region.shape, region.dtype), size[1], size[0], chosen)
    made: Array = resampled(region, size[1], size[0], chosen)
    return made
