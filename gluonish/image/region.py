"""Regions of images: computing and cropping them."""

import math
import random
from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.image.pixels import Array
from gluonish.ops.image.resampling import check_resampling, chosen_method, resampled

Size = tuple[int, int]  # width and height, in pixels
Region = tuple[int, int, int, int]  # x and y of the upper left corner, width, height

_ATTEMPTS = 10


def checked_size(name: str, size: Size) -> Size:
    """Check that a size is a pair, and return it.

    Raises:
        ArgumentTypeError: ``size`` is not a pair.
    """
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise ArgumentTypeError(f"{name}: expected a size (width, height), got {size!r}")
    return size[0], size[1]


def scale_down(src_size: tuple[float, float], size: tuple[float, float]) -> Size:
    """Scale a size down to fit into an image; the aspect ratio is preserved.

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
    """Return the (width, height) of an image after resizing its shorter side to ``shorter``."""
    if high > wide:
        return shorter, shorter * high // wide
    return shorter * wide // high, shorter


def center_region(wide: int, high: int, size: Size) -> Region:
    """Return the central region of the given size, scaled down to fit; see `scale_down`."""
    w, h = scale_down((wide, high), size)
    return (wide - w) // 2, (high - h) // 2, w, h


def random_position(wide: int, high: int, size: Size) -> Region:
    """Return a region of the given size at a random position, drawn from Python's `random`."""
    w, h = scale_down((wide, high), size)
    x0 = random.randint(0, wide - w)
    return x0, random.randint(0, high - h), w, h


def random_region(
    wide: int,
    high: int,
    shares: tuple[float, float],
    ratio: tuple[float, float],
    source: Any = random,
) -> Region | None:
    """Draw a region with random position, area and aspect ratio.

    Args:
        wide: Width of the image, in pixels.
        high: Height of the image, in pixels.
        shares: Range (min, max) of the area as a fraction of the image's.
        ratio: Range (min, max) of the aspect ratio, width / height.
        source: Generator of the random numbers, a `random.Random`, or Python's `random` itself.

    Returns:
        The region; None if none of ten attempts fits.
    """
    for _ in range(_ATTEMPTS):
        pixels = source.uniform(*shares) * wide * high
        drawn = math.exp(source.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(pixels * drawn)), round(math.sqrt(pixels / drawn))
        if 0 < w <= wide and 0 < h <= high:
            return source.randint(0, wide - w), source.randint(0, high - h), w, h
    return None


def resize(name: str, image: Array, wide: int, high: int, interp: int) -> Array:
    """Resize an image.

    Args:
        name: Name of the calling function, for error messages.
        image: (height, width, channels); uint8, float32 or float64.
        wide: New width, in pixels.
        high: New height, in pixels.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentError: ``interp`` is not a known method.
        OperatorError: The dtype is not supported, there are no pixels, or a size is out of range.
    """
    method = chosen_method(interp, image.shape[:2], (high, wide))
    check_resampling(name, Spec(image.shape, image.dtype), high, wide, method)
    made: Array = resampled(image, high, wide, method)
    return made


def crop(name: str, image: Array, region: Region, size: Size, interp: int) -> Array:
    """Crop a region of an image, and resize it if needed."""
    x0, y0, w, h = region
    out = image[y0 : y0 + h, x0 : x0 + w]
    return out if (w, h) == size else resize(name, out, *size, interp)
