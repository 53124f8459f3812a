"""Functions of the array API standard that arrange, select and compare, with its signatures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import gluonish.numpy as mxnp
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import NUMBERS, axis_in, from_official, promoted
from gluonish.numpy.type_functions import common_dtype

__all__ = [
    "argmax",
    "argmin",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "clip",
    "conj",
    "diff",
    "expand_dims",
    "flip",
    "imag",
    "isin",
    "moveaxis",
    "nextafter",
    "permute_dims",
    "positive",
    "real",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sign",
    "signbit",
    "squeeze",
    "take",
    "tile",
    "where",
]


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the first largest element along an axis, as int64.

    Args:
        x: Array.
        axis: Axis; None for the index in the flattened array.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    return _kept(mxnp.argmax(x, axis), x, axis, keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the first smallest element; arguments as for `argmax`."""
    return _kept(mxnp.argmin(x, axis), x, axis, keepdims)


def _kept(found: Any, x: Any, axis: int | None, keepdims: bool) -> Any:
    if not keepdims:
        return found
    axes = range(x.ndim) if axis is None else (axis_in(axis, x.ndim, "argmax"),)
    return found.reshape(tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Return the arrays broadcast to one shape."""
    return tuple(mxnp.broadcast_arrays(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to.

    Raises:
        ArgumentError: They do not broadcast.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ArgumentError(
            f"broadcast_shapes: expected shapes that broadcast, got {shapes}"
        ) from error


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """Return the array with axes of size 1 stretched to a shape."""
    return mxnp.broadcast_to(x, shape)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Limit values to [min, max].

    Args:
        x: Array.
        min: Lower limit: a number, an array that broadcasts, or None.
        max: Upper limit, likewise.
    """
    if x.dtype.kind == "f" and all(isinstance(n, NUMBERS) for n in (min, max) if n is not None):
        return x.copy() if min is None and max is None else mxnp.clip(x, min, max)
    found = x.copy()
    for limit, choose in ((min, mxnp.maximum), (max, mxnp.minimum)):
        if limit is None:
            continue
        if isinstance(limit, NUMBERS):
            limit = from_official(np.asarray(_within(limit, x.dtype)), x.context, x.dtype)
        found = choose(found, limit.astype(x.dtype, copy=False))
    return found


def _within(limit: Any, dtype: np.dtype[Any]) -> Any:
    """Return a limit of integers within their range; a limit of floats unchanged."""
    if dtype.kind not in "iu":
        return limit
    bounds = np.iinfo(dtype)
    return max(bounds.min, min(bounds.max, limit))


def conj(x: Any, /) -> Any:
    """Return a copy: all arrays are real."""
    return mxnp.copy(x)


def real(x: Any, /) -> Any:
    """Return a copy: all arrays are real."""
    return mxnp.copy(x)


def imag(x: Any, /) -> Any:
    """Return zeros: all arrays are real."""
    return mxnp.zeros_like(x)


def positive(x: Any, /) -> Any:
    """Return a copy."""
    return mxnp.copy(x)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Return the n-th differences of neighbouring elements along an axis.

    Args:
        x: Array of at least one axis.
        axis: Axis.
        n: How often to take differences.
        prepend: Array to put before the array along the axis.
        append: Array to put after the array along the axis.
    """
    return mxnp.diff(x, n, axis, prepend, append)


def expand_dims(x: Any, /, axis: int = 0) -> Any:
    """Return the array with a new axis of size 1 at a position of the result.

    Raises:
        OperatorIndexError: The position is out of bounds.
    """
    return mxnp.expand_dims(x, axis)


def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> Any:
    """Return the array with the elements on axes, or on all, in reverse order."""
    return mxnp.flip(x, axis) if x.ndim else mxnp.copy(x)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Return whether each element of an array is in another.

    Args:
        x1: Array or number.
        x2: Array or number.
        invert: Whether to return the opposite.
    """
    found = mxnp.isin(x1, x2, invert=invert)
    return found if isinstance(found, ndarray) else from_official(found)


def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Any:
    """Return the array with axes moved to new positions; the others keep their order."""
    return mxnp.moveaxis(x, source, destination)


def nextafter(x1: Any, x2: Any, /) -> Any:
    """Return the next floating value after each element of ``x1`` towards ``x2``; no gradient.

    Args:
        x1: Array or number.
        x2: Array or number.

    Raises:
        ArgumentTypeError: Neither is an array.
    """
    array = x1 if isinstance(x1, ndarray) else x2
    if not isinstance(array, ndarray):
        raise ArgumentTypeError(f"nextafter: expected an array, got {x1!r} and {x2!r}")
    pair = [x.asnumpy() if isinstance(x, ndarray) else array.dtype.type(x) for x in (x1, x2)]
    return from_official(np.nextafter(*pair), array.context)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """Return the array with its axes in another order."""
    return mxnp.transpose(x, axes)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Repeat each element along an axis.

    Args:
        x: Array.
        repeats: Number of repeats: one for all elements, or an array of one per index of the axis.
        axis: Axis; None for the flattened array.
    """
    return mxnp.repeat(x, repeats, axis)


def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    """Return the elements, in row-major order, in another shape.

    Args:
        x: Array.
        shape: New shape; one size may be -1, to be inferred.
        copy: False returns a view; otherwise the result is a copy.
    """
    if copy is False:
        return x.reshape_view(shape)
    return mxnp.reshape(x, shape)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the element type of an operation on arrays, element types and numbers."""
    return common_dtype(*arrays_and_dtypes)


def roll(
    x: Any,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Any:
    """Shift the elements along axes; elements past the end reappear at the start.

    Args:
        x: Array.
        shift: Number of positions, one for all axes or one per axis.
        axis: Axis or axes; None for the flattened array.
    """
    return mxnp.roll(x, shift, axis)


def round(x: Any, /) -> Any:
    """Round to the nearest integer; halves go to the even neighbour."""
    return mxnp.around(x) if x.dtype.kind == "f" else mxnp.copy(x)


def sign(x: Any, /) -> Any:
    """Return -1, 0 or 1; NaN of NaN, whose sign is 0 in `gluonish.numpy`."""
    found = mxnp.sign(x)
    return mxnp.where(mxnp.isnan(x), x, found) if x.dtype.kind == "f" else found


def remainder(x1: Any, x2: Any, /) -> Any:
    """Return the remainder of ``x1 / x2``, with the sign of ``x2``.

    Of floats it is NaN where ``x2`` is 0; that of `gluonish.numpy`, and of ``x1 % x2``, is 0.

    Args:
        x1: Array or number.
        x2: Array or number.
    """
    if isinstance(x2, NUMBERS):
        return mxnp.remainder(x1, x2) if x2 or x1.dtype.kind != "f" else x1 * float("nan")
    if x2.dtype.kind == "f":
        x2 = mxnp.where(x2 == 0, float("nan"), x2)
    return mxnp.remainder(x1, x2)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Return the indices at which elements are inserted in an ascending vector; no gradient.

    Args:
        x1: Vector.
        x2: Array or number.
        side: ``"left"`` or ``"right"`` of equal elements.
        sorter: Indices that sort ``x1``.
    """
    found = mxnp.searchsorted(x1, x2, side, sorter)
    return found if isinstance(found, ndarray) else from_official(found, x1.context)


def signbit(x: Any, /) -> Any:
    """Return whether the sign bit is set, also of -0.0 and of NaN."""
    return from_official(np.signbit(x.asnumpy()), x.context)


def squeeze(x: Any, /, axis: int | tuple[int, ...]) -> Any:
    """Return the array without axes of size 1.

    Raises:
        OperatorError: An axis has another size.
    """
    return mxnp.squeeze(x, axis)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Return elements at given indices along an axis, which a vector need not name."""
    return mxnp.take(x, indices, 0 if axis is None and x.ndim == 1 else axis, mode="wrap")


def tile(x: Any, repetitions: Sequence[int], /) -> Any:
    """Return the array repeated along each axis."""
    return mxnp.tile(x, tuple(repetitions))


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Return elements of ``x1`` where a condition is true, and of ``x2`` elsewhere.

    Args:
        condition: Array of bool.
        x1: Array or number.
        x2: Array or number.
    """
    arrays = [x for x in (x1, x2) if not isinstance(x, NUMBERS)]
    if not arrays:
        pair = [from_official(np.asarray(x), condition.context) for x in (x1, x2)]
    else:
        dtype = common_dtype(*arrays)
        pair = [
            from_official(np.asarray(x, dtype), condition.context) if isinstance(x, NUMBERS) else x
            for x in (x1, x2)
        ]
    return mxnp.where(condition, *promoted("where", pair))
