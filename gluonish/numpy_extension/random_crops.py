"""npx.image.random_crop and npx.image.random_resized_crop."""

import math
import random
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.numpy.calls import call

__all__ = ["random_crop", "random_resized_crop"]

Pair = tuple[float, float]
_AREA, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
_ATTEMPTS = 10


def random_crop(
    data: Any,
    xrange: Pair = (0, 1),
    yrange: Pair = (0, 1),
    width: int | None = None,
    height: int | None = None,
    interp: int = 1,
) -> Any:
    """Crop a region of given size at a random position; images that are too small are enlarged.

    The position is drawn from Python's `random`.

    Args:
        data: Image (H, W, C), or images (N, H, W, C), which get the same position.
        xrange: Range of the left edge: 0 is the image's left edge, 1 puts the region at the right.
        yrange: Range of the upper edge: 0 is the image's upper edge, 1 puts the region at the
            bottom.
        width: Width of the result in pixels.
        height: Height of the result in pixels.
        interp: Interpolation method for enlarging: 0 nearest, 1 linear.

    Raises:
        ArgumentError: ``width`` or ``height`` is missing or not positive.
    """
    wide, tall = _size("random_crop", width, height)
    region = min(wide, data.shape[-2]), min(tall, data.shape[-3])
    return _cropped(data, region, (wide, tall), xrange, yrange, interp)


def random_resized_crop(
    data: Any,
    xrange: Pair = (0, 1),
    yrange: Pair = (0, 1),
    width: int | None = None,
    height: int | None = None,
    area: Pair = _AREA,
    ratio: Pair = _RATIO,
    interp: int = 1,
) -> Any:
    """Crop a region of random position, size and aspect ratio, and resize it to a given size.

    Random numbers are drawn from Python's `random`.

    Args:
        data: Image (H, W, C), or images (N, H, W, C), which get the same region.
        xrange: Range of the left edge, as for `random_crop`.
        yrange: Range of the upper edge, as for `random_crop`.
        width: Width of the result in pixels.
        height: Height of the result in pixels.
        area: Range of the region's area, as a fraction of the image's.
        ratio: Range of the region's width divided by its height.
        interp: Interpolation method: 0 nearest, 1 linear.

    Raises:
        ArgumentError: ``width`` or ``height`` is missing or not positive.
    """
    size = _size("random_resized_crop", width, height)
    tall, wide = data.shape[-3:-1]
    for _ in range(_ATTEMPTS):
        pixels = random.uniform(*area) * tall * wide
        shape = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        region = round(math.sqrt(pixels * shape)), round(math.sqrt(pixels / shape))
        if 0 < region[0] <= wide and 0 < region[1] <= tall:
            return _cropped(data, region, size, xrange, yrange, interp)
    side = min(tall, wide)
    return _cropped(data, (side, side), size, (0.5, 0.5), (0.5, 0.5), interp)


def _size(what: str, width: int | None, height: int | None) -> tuple[int, int]:
    if width is None or height is None or width < 1 or height < 1:
        raise ArgumentError(f"{what}: expected positive width and height, got {width} and {height}")
    return width, height


def _cropped(
    data: Any,
    region: tuple[int, int],
    size: tuple[int, int],
    xrange: Pair,
    yrange: Pair,
    interp: int,
) -> Any:
    tall, wide = data.shape[-3:-1]
    place = {
        "x": round((wide - region[0]) * random.uniform(*xrange)),
        "y": round((tall - region[1]) * random.uniform(*yrange)),
        "width": region[0],
        "height": region[1],
    }
    found = call("_npx__image_crop", (data,), place, what="random_crop")
    if region == size:
        return found
    how = {"size": size, "keep_ratio": False, "interp": interp}
    return call("_npx__image_resize", (found,), how, what="random_crop")
