"""Images on the host: NumPy arrays inside, NDArrays where programs hand them in and get them."""

from typing import Any

import numpy as np

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray import NDArray, array, from_numpy
from gluonish.numpy.array import gluon_array

__all__ = ["Array", "as_host", "as_ndarray"]

Array = np.ndarray[Any, Any]

_CPU = cpu()


def as_host(name: str, image: Any) -> Array:
    """Return the values of an image as a NumPy array; a NumPy array is returned as it is.

    Args:
        name: Name of the calling function, for error messages.
        image: NDArray or NumPy array.

    Raises:
        ArgumentTypeError: It is neither.
    """
    if isinstance(image, np.ndarray):
        return image
    if not isinstance(image, NDArray):
        raise ArgumentTypeError(f"{name}: expected an NDArray, got {type(image).__name__}")
    return image.asnumpy()


def as_ndarray(values: Array, context: Context = _CPU) -> NDArray:
    """Return an NDArray, or an ``mx.np`` array with NumPy's semantics, of given values.

    Args:
        values: A NumPy array, which must not be used afterwards: its memory may be reused.
        context: Device of the result.
    """
    if context != _CPU:
        return gluon_array(array(values, ctx=context, dtype=values.dtype))
    return gluon_array(from_numpy(np.ascontiguousarray(values)))
