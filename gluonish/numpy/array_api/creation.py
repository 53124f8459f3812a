"""Creation functions of the array API standard: Python ints give int64, floats float32."""

from typing import Any

import numpy as np

import gluonish.numpy as mxnp
from gluonish.core.context import Context
from gluonish.core.dtype import FLOAT32, INT64
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import ndarray

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Device = Context | str | None
Shape = int | tuple[int, ...]


def _default(values: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """Return the default type of the kind of values that Python numbers gave."""
    dtype: np.dtype[Any] = values.dtype
    if dtype.kind in "bu":
        return dtype
    return INT64 if dtype.kind == "i" else FLOAT32


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Device = None, copy: bool | None = None
) -> ndarray:
    """Return values as an array; an array of this dtype and device is returned itself.

    Args:
        obj: Array, number, nested sequence of them, or an object with ``__dlpack__`` or a buffer.
        dtype: Element type; by default that of an array, and for numbers bool, int64 or float32.
        device: Device; by default that of an array, and the current context for other values.
        copy: True copies always; False shares memory or raises; None copies if needed.

    Raises:
        ArgumentError: ``copy`` is False and the values have to be copied.
        ArgumentTypeError: The values are not numbers.
    """
    if isinstance(obj, NDArray) or hasattr(obj, "__dlpack__") or hasattr(obj, "__array__"):
        made: ndarray = mxnp.asarray(obj, dtype, device, copy)
        return made
    if copy is False:
        raise ArgumentError(f"asarray: expected an array with copy=False, got {type(obj).__name__}")
    try:
        values = np.asarray(_hosted(obj))
    except (ValueError, TypeError, OverflowError) as error:
        raise ArgumentTypeError(
            f"asarray: expected nested sequences of numbers of equal lengths, got {obj!r} ({error})"
        ) from error
    if dtype is None:
        dtype = values.dtype if isinstance(obj, memoryview) else _default(values)
    found: ndarray = mxnp.array(values, dtype, device=device)
    return found


def _hosted(values: Any) -> Any:
    """Return nested sequences with arrays converted to NumPy."""
    if isinstance(values, list | tuple):
        return [_hosted(value) for value in values]
    return values.asnumpy() if isinstance(values, NDArray) else values


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
    device: Device = None,
) -> ndarray:
    """Return evenly spaced values in [start, stop); with one bound only, in [0, bound).

    Args:
        start: First value, or the bound if ``stop`` is omitted.
        stop: Bound, excluded.
        step: Difference between neighbouring values, not 0.
        dtype: Element type; int64 by default for ints, else float32.
        device: Device; the current context by default.
    """
    if dtype is None:
        whole = all(isinstance(x, int | None) for x in (start, stop, step))
        dtype = INT64 if whole else FLOAT32
    first, last = (0, start) if stop is None else (start, stop)
    if (last - first) * step <= 0:
        return zeros(0, dtype=dtype, device=device)
    made: ndarray = mxnp.arange(first, last, step, dtype, device=device)
    return made


def empty(shape: Shape, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return an array to be filled later; it is zeroed.

    Args:
        shape: Shape: an int or a tuple of ints.
        dtype: Element type, float32 by default.
        device: Device; the current context by default.
    """
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return an array of the shape of another, to be filled later; it is zeroed.

    Args:
        x: Array with the shape, the default dtype and the default device.
        dtype: Element type.
        device: Device.
    """
    return full_like(x, 0, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Device = None,
) -> ndarray:
    """Return a matrix with ones on a diagonal.

    Args:
        n_rows: Number of rows.
        n_cols: Number of columns; ``n_rows`` by default.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        dtype: Element type, float32 by default.
        device: Device; the current context by default.
    """
    made: ndarray = mxnp.array(np.eye(n_rows, n_cols, k), dtype or FLOAT32, device=device)
    return made


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return an array filled with one value.

    Args:
        shape: Shape: an int or a tuple of ints.
        fill_value: Number.
        dtype: Element type; by default bool, int64 or float32 by the kind of the number.
        device: Device; the current context by default.
    """
    dtype = _default(np.asarray(fill_value)) if dtype is None else dtype
    made: ndarray = mxnp.array(np.full(shape, fill_value, np.dtype(dtype)), device=device)
    return made


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return an array of the shape of another, filled with one value.

    Args:
        x: Array with the shape, the default dtype and the default device.
        fill_value: Number.
        dtype: Element type.
        device: Device.
    """
    dtype = x.dtype if dtype is None else dtype
    return full(x.shape, fill_value, dtype=dtype, device=device or x.device)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Device = None,
    endpoint: bool = True,
) -> ndarray:
    """Return evenly spaced values from start to stop.

    Args:
        start: First value.
        stop: Last value; excluded with ``endpoint=False``.
        num: Number of values.
        dtype: Element type, float32 by default.
        device: Device; the current context by default.
        endpoint: Whether ``stop`` is the last value.
    """
    made: ndarray = mxnp.array(
        np.linspace(start, stop, num, endpoint, dtype=dtype or FLOAT32), device=device
    )
    return made


def ones(shape: Shape, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return an array of ones; arguments as for `zeros`."""
    return full(shape, 1, dtype=dtype or FLOAT32, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return ones of the shape of an array; arguments as for `empty_like`."""
    return full_like(x, 1, dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return an array of zeros.

    Args:
        shape: Shape: an int or a tuple of ints.
        dtype: Element type, float32 by default.
        device: Device; the current context by default.
    """
    made: ndarray = mxnp.zeros(shape, dtype or FLOAT32, device=device)
    return made


def zeros_like(x: Any, /, *, dtype: Any = None, device: Device = None) -> ndarray:
    """Return zeros of the shape of an array; arguments as for `empty_like`."""
    return full_like(x, 0, dtype=dtype, device=device)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """Return matrices (..., M, N) with zeros above diagonal ``k``.

    Args:
        x: Matrices.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
    """
    return _triangle(mxnp.tril, x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """Return matrices (..., M, N) with zeros below diagonal ``k``; arguments as for `tril`."""
    return _triangle(mxnp.triu, x, k)


def _triangle(function: Any, x: Any, k: int) -> Any:
    if x.dtype == np.bool_:
        return function(x.astype(np.int8), k).astype(np.bool_)
    return function(x, k)
