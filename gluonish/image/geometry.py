"""Cropping, resizing and rotation of images."""

import warnings
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.pil_images import as_image
from gluonish.image.region import (
    Region,
    Size,
    center_region,
    checked_size,
    random_position,
    random_region,
    scale_down,
    short_size,
)
from gluonish.ndarray import NDArray, array
from gluonish.ops.image.resampling import chosen_method

__all__ = [
    "center_crop",
    "fixed_crop",
    "imresize",
    "imrotate",
    "random_crop",
    "random_region",
    "random_rotate",
    "random_size_crop",
    "resize_short",
    "scale_down",
]


# Programs import this function by MXNet's name, and call it with MXNet's arguments.
def _get_interp_method(interp: int, sizes: tuple[int, ...] = ()) -> int:
    """Resolve an interpolation method that depends on the sizes or is random.

    Args:
        interp: See `chosen_method`.
        sizes: Height and width before and after resizing; an empty tuple selects bicubic.
    """
    old, new = (sizes[:2], sizes[2:]) if sizes else ((0, 0), (1, 1))
    return chosen_method(interp, old, new)


def imresize(src: NDArray, w: int, h: int, interp: int = 1, out: NDArray | None = None) -> NDArray:
    """Resize an image.

    Args:
        src: Image (height, width, channels); uint8, float32 or float64; or an image of PIL.
        w: New width, in pixels.
        h: New height, in pixels.
        interp: Interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 bicubic to
            enlarge, area to shrink and otherwise bilinear, 10 a random one of the first five.
        out: Array of the new shape to store the result in.

    Returns:
        (h, w, channels), dtype of ``src``; ``out`` if passed.

    Raises:
        ArgumentTypeError: ``src`` is not an NDArray.
        ArgumentError: ``interp`` is none of these numbers.
        OperatorError: The shape or dtype of ``src`` is not supported, or a size is not positive.

    Example:
        >>> import gluonish as mx
        >>> mx.image.imresize(mx.nd.zeros((60, 40, 3), dtype="uint8"), w=20, h=30).shape
        (30, 20, 3)
    """
    src = as_image(src)
    if not isinstance(src, NDArray):
        raise ArgumentTypeError(f"imresize: expected an NDArray, got {type(src).__name__}")
    method = chosen_method(interp, src.shape[:2], (h, w)) if len(src.shape) == 3 else interp
    made: Any = nd._internal._cvimresize(src, w=w, h=h, interp=method, out=out)
    return made  # type: ignore[no-any-return]  # an NDArray


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """Resize an image so that its shorter side has a given length; preserve the aspect ratio.

    Args:
        src: Image (height, width, channels); uint8, float32 or float64; or an image of PIL.
        size: New length of the shorter side, in pixels.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentTypeError: ``src`` is not an NDArray.
        ArgumentError: ``interp`` is unknown.
        OperatorError: The shape or dtype of ``src`` is not supported, or ``size`` is not positive.
    """
    src = as_image(src)
    height, width = src.shape[:2]
    return imresize(src, *short_size(width, height, size), interp)


def fixed_crop(
    src: NDArray, x0: int, y0: int, w: int, h: int, size: Size | None = None, interp: int = 2
) -> NDArray:
    """Crop a region of an image, and optionally resize it.

    Args:
        src: Image (height, width, channels), or an image of PIL.
        x0: Left edge of the region, in pixels.
        y0: Top edge of the region, in pixels.
        w: Width of the region; the part outside the image is cut off.
        h: Height of the region; the part outside the image is cut off.
        size: (width, height) of the result; None to keep the region's.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentError: The region contains no pixel of the image.
        ArgumentTypeError: ``src`` must be resized, but is not an NDArray.
        OperatorError: ``src`` must be resized, but its shape or dtype is not supported.
    """
    src = as_image(src)
    high, wide = src.shape[:2]
    if not (0 <= x0 < wide and 0 <= y0 < high and w > 0 and h > 0):
        raise ArgumentError(
            f"fixed_crop: expected a region of an image {wide} wide and {high} high, got "
            f"{w} by {h} pixels at ({x0}, {y0})"
        )
    out = src[y0 : y0 + h, x0 : x0 + w]
    return out if size is None or (w, h) == tuple(size) else imresize(out, *size, interp)


def center_crop(src: NDArray, size: Size, interp: int = 2) -> tuple[NDArray, Region]:
    """Crop the center of an image.

    If the image is too small, the largest region of that aspect ratio is enlarged.

    Args:
        src: (height, width, channels).
        size: Width and height of the result, in pixels.
        interp: Interpolation method, as for `imresize`.

    Returns:
        The image, and its region (x0, y0, width, height) in the source.

    Raises:
        ArgumentTypeError: ``size`` is not a pair, or ``src`` must be resized but is not an NDArray.
    """
    src = as_image(src)
    region = center_region(src.shape[1], src.shape[0], checked_size("center_crop", size))
    return fixed_crop(src, *region, size, interp), region


def random_crop(src: NDArray, size: Size, interp: int = 2) -> tuple[NDArray, Region]:
    """Crop a region of an image at a random position, drawn from Python's `random`.

    If the image is too small, the largest region of that aspect ratio is enlarged.

    Args:
        src: (height, width, channels).
        size: Width and height of the result, in pixels.
        interp: Interpolation method, as for `imresize`.

    Returns:
        The image, and its region (x0, y0, width, height) in the source.

    Raises:
        ArgumentTypeError: ``size`` is not a pair, or ``src`` must be resized but is not an NDArray.
    """
    src = as_image(src)
    region = random_position(src.shape[1], src.shape[0], checked_size("random_crop", size))
    return fixed_crop(src, *region, size, interp), region


def random_size_crop(
    src: NDArray,
    size: Size,
    area: float | tuple[float, float],
    ratio: tuple[float, float],
    interp: int = 2,
    **kwargs: Any,
) -> tuple[NDArray, Region]:
    """Crop a region of random position, size and aspect ratio, and resize it.

    Regions are drawn from Python's `random` up to ten times; if none fits, the center is cropped.

    Args:
        src: Image (height, width, channels), or an image of PIL.
        size: (width, height) of the result, in pixels.
        area: Range (min, max) of the region's area as a fraction of the image's, or only the
            minimum.
        ratio: Range (min, max) of the aspect ratio, width / height.
        interp: Interpolation method, as for `imresize`.
        **kwargs: ``min_area``, a deprecated name of ``area``.

    Returns:
        The image, and its region (x0, y0, width, height) in the source.

    Raises:
        ArgumentTypeError: A keyword is unknown, or ``src`` is not an NDArray.
    """
    src = as_image(src)
    if "min_area" in kwargs:
        area = kwargs.pop("min_area")
        warnings.warn("random_size_crop: use area, not min_area", DeprecationWarning, 2)
    if kwargs:
        raise ArgumentTypeError(
            f"random_size_crop: expected no other keyword than min_area, got {', '.join(kwargs)}"
        )
    shares = (area, 1.0) if isinstance(area, int | float) else area
    region = random_region(src.shape[1], src.shape[0], shares, ratio)
    if region is None:
        return center_crop(src, size, interp)
    return fixed_crop(src, *region, size, interp), region


Array = np.ndarray[Any, Any]


def imrotate(
    src: NDArray, rotation_degrees: float | NDArray, zoom_in: bool = False, zoom_out: bool = False
) -> NDArray:
    """Rotate images about their center, with bilinear interpolation; their size does not change.

    Args:
        src: (channels, height, width) or (N, channels, height, width), float32.
        rotation_degrees: Angle counterclockwise, in degrees; for N images also an array (N,).
        zoom_in: Whether to enlarge the image so that no empty corners are visible.
        zoom_out: Whether to shrink the image so that all of it is visible.

    Returns:
        Shape and dtype of ``src``; 0 outside the image.

    Raises:
        ArgumentTypeError: ``src`` is not float32, or an angle has the wrong type.
        ArgumentError: Both zooms are set, ``src`` has the wrong shape, or the numbers of angles and
            images differ.
    """
    if zoom_in and zoom_out:
        raise ArgumentError("imrotate: expected zoom_in or zoom_out, got both")
    if not isinstance(src, NDArray) or src.dtype != np.float32:
        raise ArgumentTypeError(
            "imrotate: expected an NDArray of float32, got "
            f"{getattr(src, 'dtype', type(src).__name__)}; call it after ToTensor"
        )
    if len(src.shape) not in (3, 4):
        raise ArgumentError(
            "imrotate: expected (channels, height, width) or (N, channels, height, width), "
            f"got {src.shape}"
        )
    images = src if len(src.shape) == 4 else src.expand_dims(0)
    angles = _angles(rotation_degrees, len(src.shape), images.shape[0])
    high, wide = images.shape[2:]
    grids = np.stack([_grid(angle, high, wide, zoom_in, zoom_out) for angle in angles])
    rotated = nd.BilinearSampler(images, array(grids, ctx=src.context))
    made: NDArray = rotated if len(src.shape) == 4 else rotated.reshape(src.shape)
    return made


def _angles(angle: float | NDArray, axes: int, count: int) -> Array:
    """Return an angle for each image, in radians."""
    if isinstance(angle, int | float | np.number):
        return np.full(count, np.deg2rad(float(angle)))
    if axes == 3:
        raise ArgumentTypeError(
            f"imrotate: expected a number of degrees for a single image, got {type(angle).__name__}"
        )
    degrees = angle.asnumpy() if isinstance(angle, NDArray) else np.asarray(angle)
    if degrees.shape != (count,):
        raise ArgumentError(
            f"imrotate: expected an angle for each of {count} images, got {degrees.shape}"
        )
    radians: Array = np.deg2rad(degrees.astype(np.float64))
    return radians


def _grid(angle: float, high: int, wide: int, zoom_in: bool, zoom_out: bool) -> Array:
    """Return the sampling grid (2, height, width): x and y, which are in [-1, 1] in the image."""
    cosine, sine = np.cos(angle), np.sin(angle)
    scale = 1.0
    if zoom_in or zoom_out:
        # Extents of the rotated image's bounding box, relative to the image.
        across = (wide * abs(cosine) + high * abs(sine)) / wide
        down = (wide * abs(sine) + high * abs(cosine)) / high
        scale = max(across, down) if zoom_out else 1 / max(across, down)
    middle_x, middle_y = (wide - 1) / 2, (high - 1) / 2
    y, x = np.mgrid[:high, :wide]
    x, y = scale * (x - middle_x), scale * (y - middle_y)
    grid = np.stack([cosine * x - sine * y, sine * x + cosine * y])
    # A single pixel is at 0, the center.
    half = np.array([middle_x or 1, middle_y or 1]).reshape(2, 1, 1)
    found: Array = (grid / half).astype(np.float32)
    return found


def random_rotate(
    src: NDArray,
    angle_limits: tuple[float, float],
    zoom_in: bool = False,
    zoom_out: bool = False,
) -> NDArray:
    """Rotate images about their center by random angles, from NumPy's global generator.

    Args:
        src: (channels, height, width) or (N, channels, height, width), float32.
        angle_limits: Range (min, max) of the angle, in degrees.
        zoom_in: Whether to enlarge the image so that no empty corners are visible.
        zoom_out: Whether to shrink the image so that all of it is visible.

    Returns:
        Shape and dtype of ``src``; 0 outside the image.

    Raises:
        ArgumentTypeError: ``angle_limits`` is not a pair, or ``src`` is not float32.
        ArgumentError: Both zooms are set, or ``src`` has the wrong shape.
    """
    if not isinstance(angle_limits, tuple | list) or len(angle_limits) != 2:
        raise ArgumentTypeError(
            f"random_rotate: expected angle_limits (min, max), got {angle_limits!r}"
        )
    if len(src.shape) == 3:
        drawn: Any = float(np.random.uniform(*angle_limits))  # noqa: NPY002  # as MXNet draws
    else:
        drawn = array(np.random.uniform(*angle_limits, size=src.shape[0]))  # noqa: NPY002
    return imrotate(src, drawn, zoom_in=zoom_in, zoom_out=zoom_out)
