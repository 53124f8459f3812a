"""Regions of images: which ones, and what is in them."""

import math
import random

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.image.pixels import Array
from gluonish.ops.image.resampling import check_resampling, chosen_method, resampled

Size = tuple[int, int]  # width and height, in pixels
Region = tuple[int, int, int, int]  # x and y of the upper left corner, width, height

_ATTEMPTS = 10


def checked_size(name: str, size: Size) -> Size:
    """Return a size if it is a pair.

    Args:
        name: Name of the calling function, for error messages.
        size: The size (width, height).

    Raises:
        ArgumentTypeError: It is not a pair.
    """
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise ArgumentTypeError(f"{name}: expected a size (width, height), got {size!r}")
    return size[0], size[1]


def scale_down(src_size: tuple[float, float], size: tuple[float, float]) -> Size:
    """Return a size scaled down, with its aspect ratio, until it fits into an image.

    Args:
        src_size: (width, height) of the image, in pixels.
        size: The requested (width, height).

    Example:
        >>> import gluonish as mx
        >>> mx.image.scale_down((640, 480), (720, 120))
        (640, 106)
    """
    wide, high = size
    if src_size[1] < high:
        wide, high = float(wide * src_size[1]) / high, src_size[1]
    if src_size[0] < wide:
        wide, high = src_size[0], float(high * src_size[0]) / wide
    return int(wide), int(high)


def short_size(wide: int, high: int, shorter: int) -> Size:
    """Return the (width, height) of an image resized so that its shorter side has a given length.

    Args:
        wide: Width of the image, in pixels.
        high: Height of the image, in pixels.
        shorter: New length of the shorter side, in pixels.
    """
    if high > wide:
        return shorter, shorter * high // wide
    return shorter * wide // high, shorter


def middle(wide: int, high: int, size: Size) -> Region:
    """Return the central region of an image, of a given size scaled down to fit; see `scale_down`.

    Args:
        wide: Width of the image, in pixels.
        high: Height of the image, in pixels.
        size: The requested (width, height).
    """
    w, h = scale_down((wide, high), size)
    return (wide - w) // 2, (high - h) // 2, w, h


def drawn_place(wide: int, high: int, size: Size) -> Region:
    """Return a region like `middle`, but at a random position, drawn from Python's `random`.

    Args:
        wide: Width of the image, in pixels.
        high: Height of the image, in pixels.
        size: The requested (width, height).
    """
    w, h = scale_down((wide, high), size)
    x0 = random.randint(0, wide - w)
    return x0, random.randint(0, high - h), w, h


def drawn_region(
    wide: int, high: int, shares: tuple[float, float], ratio: tuple[float, float]
) -> Region | None:
    """Return a region whose position, area and aspect ratio are drawn from Python's `random`.

    Args:
        wide: Width of the image, in pixels.
        high: Height of the image, in pixels.
        shares: Range (min, max) of the area as a fraction of the image's.
        ratio: Range (min, max) of the aspect ratio, width / height.

    Returns:
        The region, or None if none of ten attempts fits.
    """
    for _ in range(_ATTEMPTS):
        pixels = random.uniform(*shares) * wide * high
        drawn = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * drawn)), round(math.sqrt(pixels / drawn))
        if 0 < w <= wide and 0 < h <= high:
            return random.randint(0, wide - w), random.randint(0, high - h), w, h
    return None


def resized(name: str, image: Array, wide: int, high: int, interp: int) -> Array:
    """Return a resized image.

    Args:
        name: Name of the calling function, for error messages.
        image: (height, width, channels); uint8, float32 or float64.
        wide: New width, in pixels.
        high: New height, in pixels.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentError: ``interp`` is not a known method.
        OperatorError: The image has another dtype or no pixels, or a size is out of range.
    """
    method = chosen_method(interp, image.shape[:2], (high, wide))
    check_resampling(name, Spec(image.shape, image.dtype), high, wide, method)
    made: Array = resampled(image, high, wide, method)
    return made


def cut(name: str, image: Array, region: Region, size: Size, interp: int) -> Array:
    """Return a region of an image, resized if needed.

    Args:
        name: Name of the calling function, for error messages.
        image: (height, width, channels).
        region: Region within the image.
        size: (width, height) of the result; None to keep the region's.
        interp: Interpolation method, as for `imresize`.
    """
    x0, y0, w, h = region
    out = image[y0 : y0 + h, x0 : x0 + w]
    return out if (w, h) == size else resized(name, out, *size, interp)
