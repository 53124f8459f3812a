"""Regions of images: given ones, the middle, and random ones."""

import warnings
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.region import (
    Region,
    Size,
    checked_size,
    drawn_place,
    drawn_region,
    middle,
    scale_down,
)
from gluonish.image.resize import imresize
from gluonish.ndarray import NDArray

__all__ = [
    "center_crop",
    "drawn_region",
    "fixed_crop",
    "random_crop",
    "random_size_crop",
    "scale_down",
]


def fixed_crop(
    src: NDArray, x0: int, y0: int, w: int, h: int, size: Size | None = None, interp: int = 2
) -> NDArray:
    """Crop a given region of an image, and resize it if a size is given.

    Args:
        src: Image (height, width, channels).
        x0: Left edge of the region, in pixels.
        y0: Top edge of the region, in pixels.
        w: Width of the region; the part outside the image is cut off.
        h: Height of the region; the part outside the image is cut off.
        size: (width, height) of the result; None to keep the region's.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentError: The region contains no pixel of the image.
        ArgumentTypeError: ``src`` is not an NDArray and must be resized.
        OperatorError: ``src`` has another shape or dtype and must be resized.
    """
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
        ArgumentTypeError: ``size`` is not a pair, or ``src`` is not an NDArray and must be resized.
    """
    region = middle(src.shape[1], src.shape[0], checked_size("center_crop", size))
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
        ArgumentTypeError: ``size`` is not a pair, or ``src`` is not an NDArray and must be resized.
    """
    region = drawn_place(src.shape[1], src.shape[0], checked_size("random_crop", size))
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
        src: Image (height, width, channels).
        size: (width, height) of the result, in pixels.
        area: Range (min, max) of the region's area as a fraction of the image's, or the minimum
            alone.
        ratio: Range (min, max) of the aspect ratio, width / height.
        interp: Interpolation method, as for `imresize`.
        **kwargs: ``min_area``, a deprecated name of ``area``.

    Returns:
        The image, and its region (x0, y0, width, height) in the source.

    Raises:
        ArgumentTypeError: Another keyword is given, or ``src`` is not an NDArray.
    """
    if "min_area" in kwargs:
        area = kwargs.pop("min_area")
        warnings.warn("random_size_crop: use area, not min_area", DeprecationWarning, 2)
    if kwargs:
        raise ArgumentTypeError(
            f"random_size_crop: expected no other keyword than min_area, got {', '.join(kwargs)}"
        )
    shares = (area, 1.0) if isinstance(area, int | float) else area
    region = drawn_region(src.shape[1], src.shape[0], shares, ratio)
    if region is None:
        return center_crop(src, size, interp)
    return fixed_crop(src, *region, size, interp), region
