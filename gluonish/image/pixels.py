"""Images as NumPy arrays on the host, and arithmetic on pixels."""

from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.context import Context, cpu
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentTypeError
from gluonish.image.pil_images import as_image, is_pil_image
from gluonish.ndarray import NDArray, array, from_numpy
from gluonish.numpy.array import gluon_array

Amount = float | tuple[float, ...] | list[float] | np.ndarray[Any, Any] | NDArray


def color_normalize(src: NDArray, mean: Amount | None, std: Amount | None = None) -> NDArray:
    """Subtract a mean from an image and divide it by a standard deviation, in place.

    Args:
        src: Image (height, width, channels), floating-point; or an image of PIL, of which a
            float32 copy is normalized.
        mean: One number for each channel, or one for all; None for 0.
        std: One number for each channel, or one for all; None for 1.

    Returns:
        ``src``; for an image of PIL the copy.

    Raises:
        ArgumentTypeError: ``src`` has an integer dtype.
    """
    if is_pil_image(src):
        src = as_image(src).astype("float32")
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


def _amount(src: NDArray, value: Amount) -> Any:
    if isinstance(value, int | float | NDArray):
        return value
    return array(np.asarray(value), ctx=src.context, dtype=src.dtype)


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
    """Add a border to an image.

    Args:
        src: Image (height, width, channels), or an image of PIL.
        top: Rows added at the top.
        bot: Rows added at the bottom.
        left: Columns added at the left.
        right: Columns added at the right.
        type: Content of the border: 0 a constant, 1 the edge pixels repeated, 2 the image
            reflected, 3 the image wrapped around, 4 reflected without repeating the edge pixels.
        value: The constant for type 0.
        values: The constants for type 0, one for each channel.
        out: Array of the new shape to store the result in.
        name: Name of the node in a graph; ignored for arrays.

    Returns:
        (height + top + bot, width + left + right, channels), dtype of ``src``.

    Raises:
        OperatorError: ``src`` is not an image, or a number is out of range.
    """
    made: NDArray = nd._internal._cvcopyMakeBorder(
        as_image(src),
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


Array = np.ndarray[Any, Any]

_CPU = cpu()


def as_host(name: str, image: Any) -> Array:
    """Return an image as a NumPy array.

    Args:
        name: Name of the calling function, for error messages.
        image: NDArray or NumPy array.

    Raises:
        ArgumentTypeError: ``image`` is neither.
    """
    if isinstance(image, np.ndarray):
        return image
    if not isinstance(image, NDArray):
        raise ArgumentTypeError(f"{name}: expected an NDArray, got {type(image).__name__}")
    return image.asnumpy()


def as_ndarray(values: Array, context: Context = _CPU) -> NDArray:
    """Convert a NumPy array to an NDArray, or to an ``mx.np`` array with NumPy's semantics.

    Args:
        values: A NumPy array, which must not be used afterwards: its memory may be reused.
        context: Device of the result.
    """
    if context != _CPU:
        return gluon_array(array(values, ctx=context, dtype=values.dtype))
    return gluon_array(from_numpy(np.ascontiguousarray(values)))
