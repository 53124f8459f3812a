"""Functions that change the shape or the order of elements."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.numpy.calls import (
    NUMBERS,
    as_ints,
    as_value,
    axis_in,
    call,
    call_list,
    check_order,
    host_values,
    official,
    pieces,
)
from gluonish.numpy.creation import extents, full, zeros

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "copy",
    "diag",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "meshgrid",
    "moveaxis",
    "pad",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "resize",
    "roll",
    "rot90",
    "shape",
    "squeeze",
    "swapaxes",
    "tile",
    "trace",
    "transpose",
]

Axes = int | Sequence[int] | None
_PAD_KEYWORDS = {"constant_values": "constant_value", "reflect_type": "reflect_type"}


def shape(a: Any) -> tuple[int, ...]:
    """Return the shape of an array."""
    found: tuple[int, ...] = a.shape if hasattr(type(a), "shape") else official("shape", a)
    return tuple(found)


def copy(a: Any, out: Any = None) -> Any:
    """Return a copy, through which gradients flow."""
    return call("_np_copy", (a,), out=out, what="copy")


def reshape(a: Any, newshape: int | Sequence[int], order: str = "C", out: Any = None) -> Any:
    """Return the elements in another shape.

    Args:
        a: Array.
        newshape: New shape; one size may be -1, to be inferred.
        order: ``"C"`` (row by row), the only order.
        out: Array that the result is written to, of its shape and dtype.
    """
    check_order("reshape", order)
    return call("_np_reshape", (a,), {"newshape": newshape, "order": order}, out, "reshape")


def ravel(x: Any, order: str = "C") -> Any:
    """Return a flattened copy."""
    check_order("ravel", order)
    if isinstance(x, NUMBERS):
        return official("reshape", x, -1)
    return reshape(x, -1)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    """Return the array with its axes in the order of ``axes``; reversed by default."""
    return call("_np_transpose", (a,), {"axes": axes}, what="transpose")


def permute_dims(a: Any, axes: Sequence[int] | None = None) -> Any:
    """Return the array with its axes in the order of ``axes``: `transpose`."""
    return transpose(a, axes)


def matrix_transpose(x: Any = None, *, a: Any = None) -> Any:
    """Return the array with its last two axes swapped.

    Args:
        x: Array of two axes or more.
        a: ``x`` under its name in MXNet 2.0.

    Raises:
        ArgumentError: The array has fewer than two axes.
    """
    x = a if x is None else x
    if getattr(x, "ndim", 2) < 2:
        raise ArgumentError(
            f"matrix_transpose: expected an array of at least two axes, got shape {x.shape}"
        )
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Return the array with two axes swapped."""
    return call("_npi_swapaxes", (a,), {"dim1": axis1, "dim2": axis2}, what="swapaxes")


def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """Return the array with axes moved to new positions; the others keep their order."""
    params = {"source": source, "destination": destination}
    return call("_np_moveaxis", (a,), params, what="moveaxis")


def expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
    """Return the array with new axes of size 1 at the positions ``axis`` of the result."""
    if not isinstance(axis, list | tuple):
        return call("_npi_expand_dims", (a,), {"axis": axis}, what="expand_dims")
    value = as_value(a, "expand_dims")
    if any(n < 0 for n in axis):
        rank = value.ndim + len(axis)
        axis = [axis_in(n, rank, "expand_dims") for n in axis]
    if len(set(axis)) < len(axis):
        raise ArgumentError(f"expand_dims: expected different axes, got {axis}")
    for position in sorted(axis):
        value = call("_npi_expand_dims", (value,), {"axis": position}, what="expand_dims")
    return value


def squeeze(a: Any = None, axis: Axes = None, out: Any = None, *, x: Any = None) -> Any:
    """Return the array without axes of size 1.

    Args:
        a: Array.
        axis: Axis or axes of size 1; None for all of them.
        out: Array that the result is written to, of its shape and dtype.
        x: ``a`` under its name in MXNet 2.0.
    """
    a = x if a is None else a
    return call("_np_squeeze", (a,), {"axis": axis}, out, "squeeze")


def broadcast_to(array: Any, shape: int | Sequence[int]) -> Any:
    """Return the array with axes of size 1 stretched to ``shape``; for a number `np.full`.

    Args:
        array: Array or number.
        shape: Shape of the result; -2 keeps the size of an axis.

    Raises:
        ArgumentError: ``shape`` contains another negative size.
        OperatorError: The array does not broadcast to it.
    """
    if isinstance(array, NUMBERS):
        return full(shape, array)
    listed = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    checked = extents([0 if n == -2 else n for n in listed], "broadcast_to")
    sizes = [-2 if n == -2 else size for n, size in zip(listed, checked, strict=True)]
    params = {"shape": tuple(sizes)}
    return call("_npi_broadcast_to", (array,), params, what="broadcast_to")


def broadcast_arrays(*args: Any) -> list[Any]:
    """Return the arrays broadcast to one shape."""
    arrays = [as_value(x, "broadcast_arrays") for x in args]
    try:
        common = np.broadcast_shapes(*[x.shape for x in arrays])
    except ValueError as error:
        raise ArgumentError(
            f"broadcast_arrays: expected shapes that broadcast, got {[x.shape for x in arrays]}"
        ) from error
    return [x if x.shape == common else broadcast_to(x, common) for x in arrays]


def meshgrid(*xi: Any, **kwargs: Any) -> list[Any]:
    """Return the coordinates of a grid.

    Args:
        *xi: Vectors, or arrays of shape ().
        **kwargs: ``indexing``: ``"xy"``, where the first vector runs along axis 1 (the default), or
            ``"ij"``; ``sparse``: return arrays that broadcast to the grid; ``copy``: ignored.

    Raises:
        ArgumentError: ``indexing`` is invalid.
        ArgumentTypeError: A keyword is unknown.
    """
    indexing = kwargs.pop("indexing", "xy")
    sparse = kwargs.pop("sparse", False)
    kwargs.pop("copy", None)
    if kwargs:
        raise ArgumentTypeError(
            f"meshgrid: expected indexing, sparse and copy, got {sorted(kwargs)}"
        )
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid: expected indexing 'xy' or 'ij', got {indexing!r}")
    count = len(xi)
    axes = list(range(count))
    if indexing == "xy" and count > 1:
        axes[:2] = [1, 0]
    grids = [
        reshape(x, tuple(-1 if i == axis else 1 for i in range(count)))
        for x, axis in zip(xi, axes, strict=True)
    ]
    return grids if sparse else broadcast_arrays(*grids)


def flip(m: Any, axis: Axes = None, out: Any = None) -> Any:
    """Return the array with the elements on axes, or on all, in reverse order."""
    if isinstance(m, NUMBERS):
        return official("flip", m, axis)
    value = as_value(m, "flip")
    if axis is None:
        axis = tuple(range(value.ndim))
    return call("_npi_flip", (value,), {"axis": axis}, out, "flip")


def fliplr(m: Any) -> Any:
    """Return the array with axis 1 in reverse order."""
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """Return the array with axis 0 in reverse order."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Rotate an array by ``k`` times 90 degrees, from the first of two axes towards the second."""
    return call("_npi_rot90", (m,), {"k": k, "axes": axes}, what="rot90")


def roll(a: Any, shift: int | Sequence[int], axis: Axes = None) -> Any:
    """Shift the elements along axes; elements past the end reappear at the start.

    Args:
        a: Array.
        shift: Number of positions, one for all axes or one per axis.
        axis: Axis or axes; None for the flattened array.
    """
    shifts, axes = _roll_attrs(shift, axis)
    return call("_np_roll", (a,), {"shift": shifts, "axis": axes}, what="roll")


def _roll_attrs(shift: Any, axis: Any) -> tuple[Any, Any]:
    """Return shifts and axes; several shifts along a single axis are summed."""
    if not isinstance(shift, int | np.integer):
        shift = as_ints(shift, "roll", "shift")
        if axis is None:
            return sum(shift), None
        if isinstance(axis, int | np.integer) or len(axis) == 1:
            return sum(shift), axis
    return shift, axis


def tile(A: Any, reps: int | Sequence[int]) -> Any:
    """Return the array repeated ``reps`` times along each axis."""
    if isinstance(A, NUMBERS):
        return official("tile", A, reps)
    return call("_npi_tile", (A,), {"reps": reps}, what="tile")


def repeat(a: Any, repeats: int | Sequence[int], axis: int | None = None) -> Any:
    """Repeat each element along an axis.

    Args:
        a: Array.
        repeats: Number of repeats: one for all elements, or one per index of the axis.
        axis: Axis; None for the flattened array.

    Raises:
        OperatorError: A number is negative, or their count differs from the axis's size.
        ArgumentTypeError: ``repeats`` are not ints.
    """
    if isinstance(a, NUMBERS):
        return official("repeat", a, repeats, axis)
    if isinstance(repeats, int | np.integer):
        return call("_np_repeat", (a,), {"repeats": repeats, "axis": axis}, what="repeat")
    each = as_ints(repeats, "repeat", "repeats")
    return call("_npi_repeats", (a,), {"repeats": each, "axis": axis}, what="repeat")


def resize(a: Any, new_shape: int | Sequence[int]) -> Any:
    """Return an array of a new shape, filled with repeated copies of the elements.

    Args:
        a: Array.
        new_shape: Shape: an int or a tuple of ints.
    """
    if isinstance(a, NUMBERS):
        return official("resize", a, new_shape)
    shape = extents(new_shape, "resize")
    size = int(np.prod(shape, dtype=np.int64))
    flat = ravel(as_value(a, "resize"))
    if flat.size == 0 or size == 0:
        return zeros(shape, a.dtype)
    flat = tile(flat, -(-size // flat.size))
    return reshape(flat[:size], shape)


def pad(x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> Any:
    """Return the array with padding.

    Args:
        x: Array.
        pad_width: Pairs (before, after) for each axis; one pair, or one int, for all.
        mode: ``"constant"``, ``"edge"``, ``"reflect"``, ``"symmetric"``, ``"maximum"`` or
            ``"minimum"``.
        **kwargs: ``constant_values``: value of the padding; ``reflect_type``: ``"even"``.

    Raises:
        ArgumentTypeError: A keyword is unknown.
    """
    value = as_value(x, "pad")
    try:
        widths = np.asarray(0 if pad_width is None else host_values(pad_width))
        pairs = np.broadcast_to(widths.astype(np.int64, casting="same_kind"), (value.ndim, 2))
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"pad: expected pad_width of pairs for {value.ndim} axes, got {pad_width!r}"
        ) from error
    params: dict[str, Any] = {
        "pad_width": tuple((int(a), int(b)) for a, b in pairs),
        "mode": mode,
    }
    for key, option in kwargs.items():
        if key not in _PAD_KEYWORDS:
            raise ArgumentTypeError(f"pad: expected {sorted(_PAD_KEYWORDS)}, got {key!r}")
        params[_PAD_KEYWORDS[key]] = option
    return call("_npi_pad", (value,), params, what="pad")


def diag(array: Any = None, k: int = 0, *, v: Any = None) -> Any:
    """Return a diagonal of a matrix, or a matrix with a vector as diagonal.

    Args:
        array: Matrix or vector.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        v: ``array`` under its name in NumPy and MXNet 2.0.
    """
    return call("_np_diag", (v if array is None else array,), {"k": k}, what="diag")


def diagflat(array: Any = None, k: int = 0, *, v: Any = None) -> Any:
    """Return a matrix with the elements of an array on diagonal ``k``.

    Args:
        array: Array of any shape.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        v: ``array`` under its name in NumPy and MXNet 2.0.
    """
    return call("_np_diagflat", (v if array is None else array,), {"k": k}, what="diagflat")


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonals of the matrices that two axes span, as the last axis."""
    params = {"offset": offset, "axis1": axis1, "axis2": axis2}
    return call("_np_diagonal", (a,), params, what="diagonal")


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, out: Any = None) -> Any:
    """Return the sums over the diagonals of the matrices that two axes span."""
    params = {"offset": offset, "axis1": axis1, "axis2": axis2}
    return call("_np_trace", (a,), params, out, "trace")


def diag_indices_from(arr: Any) -> Any:
    """Return the indices of the main diagonal of an array with equal extents, one per axis."""
    found = call("_npi_diag_indices_from", (arr,), what="diag_indices_from")
    if not hasattr(found, "shape"):  # a Symbol, returned without splitting, as in MXNet
        return found
    return tuple(found[i] for i in range(found.shape[0]))


def _at_least(operator: str, what: str, arys: Sequence[Any]) -> Any:
    made = call_list(operator, arys, what=what)
    return made if len(arys) > 1 else pieces(made)[0]


def atleast_1d(*arys: Any) -> Any:
    """Return arrays with at least one axis; a list for several."""
    return _at_least("_np_atleast_1d", "atleast_1d", arys)


def atleast_2d(*arys: Any) -> Any:
    """Return arrays with at least two axes, new ones in front; a list for several."""
    return _at_least("_np_atleast_2d", "atleast_2d", arys)


def atleast_3d(*arys: Any) -> Any:
    """Return arrays with at least three axes; a list for several."""
    return _at_least("_np_atleast_3d", "atleast_3d", arys)


document_arguments(
    globals(),
    __all__,
    {
        "rot90.axes": "The two axes of the plane.",
        "rot90.k": "Number of quarter turns.",
    },
)
