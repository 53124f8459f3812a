"""color_normalize and copyMakeBorder."""

from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray import NDArray, array

__all__ = ["color_normalize", "copyMakeBorder"]

Amount = float | tuple[float, ...] | list[float] | np.ndarray[Any, Any] | NDArray


def color_normalize(src: NDArray, mean: Amount | None, std: Amount | None = None) -> NDArray:
    """Take a mean from an image and divide it by a deviation, in place.

    Args:
        src: (height, width, channels), floating point.
        mean: A number or one for each channel; None for 0.
        std: A number or one for each channel; None for 1.

    Returns:
        ``src``.

    Raises:
        ArgumentTypeError: ``src`` holds whole numbers.
    """
    if not isinstance(src, NDArray) or not is_floating(np.dtype(src.dtype)):
        raise ArgumentTypeError(
            "color_normalize: expected an NDArray of floating point, got "
            f"{getattr(src, 'dtype', type(src).__name__)}; use src.astype('float32')"
        )
    if mean is not None:
        src -= _amount(src, mean)
    if std is not None:
        src /= _amount(src, std)
    return src


def _amount(src: NDArray, given: Amount) -> Any:
    if isinstance(given, int | float | NDArray):
        return given
    return array(np.asarray(given), ctx=src.context, dtype=src.dtype)


def copyMakeBorder(
    src: NDArray,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,  # noqa: A002  # MXNet's name
    value: float = 0.0,
    values: tuple[float, ...] = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an image with a border around it.

    Args:
        src: (height, width, channels).
        top: Rows above, in pixels.
        bot: Rows below.
        left: Columns to the left.
        right: Columns to the right.
        type: 0 fills the border, 1 repeats the outermost pixels, 2 reflects the image, 3 repeats
            it, 4 reflects it without its last pixel.
        value: What type 0 fills in.
        values: The same for each channel.
        out: An array of the new shape to fill.
        name: Of the node in a graph; arrays have none.

    Returns:
        (height + top + bot, width + left + right, channels), dtype of ``src``.

    Raises:
        OperatorError: ``src`` is no such image, or a number is out of range.
    """
    made: NDArray = nd._internal._cvcopyMakeBorder(
        src,
        top=top,
        bot=bot,
        left=left,
        right=right,
        type=type,
        value=value,
        values=values,
        out=out,
        name=name,
    )
    return made
