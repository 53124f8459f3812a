"""imresize and resize_short: images of another size."""

import random
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray

__all__ = ["chosen_method", "imresize", "resize_short"]

_LINEAR, _CUBIC, _AREA, _METHODS = 1, 2, 3, 5
_BY_SIZE, _RANDOM = 9, 10


def chosen_method(interp: int, old: tuple[int, int], new: tuple[int, int]) -> int:
    """Return the number of a way to resample.

    Args:
        interp: 0 the nearest pixel, 1 linear, 2 cubic, 3 the mean of the area, 4 Lanczos; 9 cubic
            to grow, area to shrink, else linear; 10 any of the first five, drawn from `random`.
        old: Height and width before, in pixels.
        new: And afterwards.

    Raises:
        ArgumentError: It is another number.
    """
    if interp == _RANDOM:
        return random.randint(0, _METHODS - 1)
    if interp == _BY_SIZE:
        if new[0] > old[0] and new[1] > old[1]:
            return _CUBIC
        return _AREA if new[0] < old[0] and new[1] < old[1] else _LINEAR
    if not 0 <= interp < _METHODS:
        raise ArgumentError(
            f"imresize: expected interp from 0 to {_METHODS - 1}, {_BY_SIZE} or {_RANDOM}, "
            f"got {interp}"
        )
    return interp


def imresize(src: NDArray, w: int, h: int, interp: int = 1, out: NDArray | None = None) -> NDArray:
    """Return an image in another size.

    Args:
        src: (height, width, channels); uint8, float32 or float64.
        w: New width, in pixels.
        h: New height, in pixels.
        interp: See `chosen_method`.
        out: An array of the new shape to fill.

    Returns:
        (h, w, channels), dtype of ``src``; ``out`` where it is given.

    Raises:
        ArgumentTypeError: ``src`` is no NDArray.
        ArgumentError: ``interp`` is another number.
        OperatorError: ``src`` has another shape or dtype, or a size is not positive.
    """
    if not isinstance(src, NDArray):
        raise ArgumentTypeError(f"imresize: expected an NDArray, got {type(src).__name__}")
    method = chosen_method(interp, src.shape[:2], (h, w)) if len(src.shape) == 3 else interp
    made: Any = nd._cvimresize(src, w=w, h=h, interp=method, out=out)
    return made  # type: ignore[no-any-return]  # an NDArray


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """Return an image whose shorter side has a length, with the proportions that it had.

    Args:
        src: (height, width, channels); uint8, float32 or float64.
        size: New length of the shorter side, in pixels.
        interp: See `chosen_method`.

    Raises:
        ArgumentTypeError: ``src`` is no NDArray.
        ArgumentError: ``interp`` is another number.
        OperatorError: ``src`` has another shape or dtype, or the size is not positive.
    """
    height, width = src.shape[:2]
    if height > width:
        return imresize(src, size, size * height // width, interp)
    return imresize(src, size * width // height, size, interp)
