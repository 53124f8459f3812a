"""Regions of images: given ones, the middle, and random ones."""

import math
import random
import warnings
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.resize import imresize
from gluonish.ndarray import NDArray

__all__ = [
    "center_crop",
    "fixed_crop",
    "random_crop",
    "random_size_crop",
    "scale_down",
]

Size = tuple[int, int]  # width and height, in pixels
Region = tuple[int, int, int, int]  # x and y of the upper left corner, width, height

_ATTEMPTS = 10


def scale_down(src_size: tuple[float, float], size: tuple[float, float]) -> Size:
    """Return a size made smaller, with its proportions, until an image of another contains it.

    Args:
        src_size: Width and height of the image, in pixels.
        size: Width and height that are wanted.
    """
    wide, high = size
    if src_size[1] < high:
        wide, high = float(wide * src_size[1]) / high, src_size[1]
    if src_size[0] < wide:
        wide, high = src_size[0], float(high * src_size[0]) / wide
    return int(wide), int(high)


def fixed_crop(
    src: NDArray, x0: int, y0: int, w: int, h: int, size: Size | None = None, interp: int = 2
) -> NDArray:
    """Return a region of an image, in another size if one is given.

    Args:
        src: (height, width, channels).
        x0: Left edge, in pixels.
        y0: Upper edge, in pixels.
        w: Width; what lies outside the image is left out.
        h: Height; what lies outside the image is left out.
        size: Width and height of the result.
        interp: How to resample, as for `imresize`.

    Raises:
        ArgumentError: The region has no pixel of the image.
        ArgumentTypeError: ``src`` is no NDArray and is to be resampled.
        OperatorError: ``src`` has another shape or dtype and is to be resampled.
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
    """Return the middle of an image.

    Where the image is too small, the largest region of the same proportions is enlarged.

    Args:
        src: (height, width, channels).
        size: Width and height of the result, in pixels.
        interp: How to resample, as for `imresize`.

    Returns:
        The image, and the region that it is of.

    Raises:
        ArgumentTypeError: ``size`` is no pair, or ``src`` no NDArray and is to be resampled.
    """
    wide, high = _fitting("center_crop", src, size)
    x0, y0 = (src.shape[1] - wide) // 2, (src.shape[0] - high) // 2
    return fixed_crop(src, x0, y0, wide, high, size, interp), (x0, y0, wide, high)


def random_crop(src: NDArray, size: Size, interp: int = 2) -> tuple[NDArray, Region]:
    """Return a region of an image; its place is drawn from `random`.

    Where the image is too small, the largest region of the same proportions is enlarged.

    Args:
        src: (height, width, channels).
        size: Width and height of the result, in pixels.
        interp: How to resample, as for `imresize`.

    Returns:
        The image, and the region that it is of.

    Raises:
        ArgumentTypeError: ``size`` is no pair, or ``src`` no NDArray and is to be resampled.
    """
    wide, high = _fitting("random_crop", src, size)
    x0 = random.randint(0, src.shape[1] - wide)
    y0 = random.randint(0, src.shape[0] - high)
    return fixed_crop(src, x0, y0, wide, high, size, interp), (x0, y0, wide, high)


def _fitting(name: str, src: NDArray, size: Size) -> Size:
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise ArgumentTypeError(f"{name}: expected a size (width, height), got {size!r}")
    high, wide = src.shape[:2]
    return scale_down((wide, high), size)


def random_size_crop(
    src: NDArray,
    size: Size,
    area: float | tuple[float, float],
    ratio: tuple[float, float],
    interp: int = 2,
    **kwargs: Any,
) -> tuple[NDArray, Region]:
    """Return a region of random place, size and proportions, resampled to one size.

    Region and proportions are drawn from `random`, up to ten times, until a region fits; after that
    it is the middle.

    Args:
        src: (height, width, channels).
        size: Width and height of the result, in pixels.
        area: The region's share of the image's area: least and largest; the largest is 1 where a
            number is given.
        ratio: Least and largest ratio of width to height.
        interp: How to resample, as for `imresize`.
        **kwargs: ``min_area``, an older name for ``area``.

    Returns:
        The image, and the region that it is of.

    Raises:
        ArgumentTypeError: Another keyword is given, or ``src`` is no NDArray.
    """
    if "min_area" in kwargs:
        area = kwargs.pop("min_area")
        warnings.warn("random_size_crop: min_area is called area now", DeprecationWarning, 2)
    if kwargs:
        raise ArgumentTypeError(
            f"random_size_crop: expected no other keyword than min_area, got {', '.join(kwargs)}"
        )
    shares = (area, 1.0) if isinstance(area, int | float) else area
    region = _drawn_region(src.shape[1], src.shape[0], shares, ratio)
    if region is None:
        return center_crop(src, size, interp)
    return fixed_crop(src, *region, size, interp), region


def _drawn_region(
    wide: int, high: int, shares: tuple[float, float], ratio: tuple[float, float]
) -> Region | None:
    for _ in range(_ATTEMPTS):
        pixels = random.uniform(*shares) * wide * high
        drawn = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * drawn)), round(math.sqrt(pixels / drawn))
        if 0 < w <= wide and 0 < h <= high:
            return random.randint(0, wide - w), random.randint(0, high - h), w, h
    return None
