"""imresize and resize_short: images of another size."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentTypeError
from gluonish.image.region import short_size
from gluonish.ndarray import NDArray
from gluonish.ops.image.interpolation import chosen_method


# Under MXNet's name, which programs import, and with its two arguments.
def _get_interp_method(interp: int, sizes: tuple[int, ...] = ()) -> int:
    """Return the way to resample, where ``interp`` leaves it to the sizes or to chance.

    Args:
        interp: See `chosen_method`.
        sizes: Height and width before, height and width after; without them the sizes choose cubic.
    """
    old, new = (sizes[:2], sizes[2:]) if sizes else ((0, 0), (1, 1))
    return chosen_method(interp, old, new)


__all__ = ["imresize", "resize_short"]


def imresize(src: NDArray, w: int, h: int, interp: int = 1, out: NDArray | None = None) -> NDArray:
    """Return a resized image.

    Args:
        src: Image (height, width, channels); uint8, float32 or float64.
        w: New width, in pixels.
        h: New height, in pixels.
        interp: Interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 bicubic to
            enlarge, area to shrink and otherwise bilinear, 10 a random one of the first five.
        out: Array of the new shape to store the result in.

    Returns:
        (h, w, channels), dtype of ``src``; ``out`` if it is given.

    Raises:
        ArgumentTypeError: ``src`` is not an NDArray.
        ArgumentError: ``interp`` is another number.
        OperatorError: ``src`` has another shape or dtype, or a size is not positive.

    Example:
        >>> import gluonish as mx
        >>> mx.image.imresize(mx.nd.zeros((60, 40, 3), dtype="uint8"), w=20, h=30).shape
        (30, 20, 3)
    """
    if not isinstance(src, NDArray):
        raise ArgumentTypeError(f"imresize: expected an NDArray, got {type(src).__name__}")
    method = chosen_method(interp, src.shape[:2], (h, w)) if len(src.shape) == 3 else interp
    made: Any = nd._internal._cvimresize(src, w=w, h=h, interp=method, out=out)
    return made  # type: ignore[no-any-return]  # an NDArray


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """Return an image resized so that its shorter side has a given length; the aspect ratio stays.

    Args:
        src: Image (height, width, channels); uint8, float32 or float64.
        size: New length of the shorter side, in pixels.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentTypeError: ``src`` is not an NDArray.
        ArgumentError: ``interp`` is another number.
        OperatorError: ``src`` has another shape or dtype, or ``size`` is not positive.
    """
    height, width = src.shape[:2]
    return imresize(src, *short_size(width, height, size), interp)
