"""Functions that select, insert, sort and count elements."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.schema import as_number
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import (
    NUMBERS,
    as_tuple,
    as_value,
    axis_in,
    call,
    check_order,
    host_values,
    is_value,
    official,
    pieces,
    run,
)
from gluonish.numpy.creation import array
from gluonish.numpy.shapes import broadcast_to, moveaxis
from gluonish.ops.registry import find_operator

__all__ = [
    "argsort",
    "bincount",
    "delete",
    "histogram",
    "insert",
    "nonzero",
    "sort",
    "take",
    "take_along_axis",
    "unique",
    "unravel_index",
    "where",
]


def take(
    a: Any, indices: Any, axis: int | None = None, mode: str = "raise", out: Any = None
) -> Any:
    """Return elements at given indices along an axis.

    Args:
        a: Array.
        indices: Indices: an array, int or nested list of ints, whose shape replaces the axis.
        axis: Axis; None for the flattened array.
        mode: What to do with indices out of bounds: ``"raise"``, ``"clip"`` or ``"wrap"``.
        out: Array that the result is written to, of its shape and dtype.
    """
    value = as_value(a, "take")
    if isinstance(indices, int | list | tuple):
        indices = _index_array("take", indices, getattr(value, "ctx", None))
    if axis is None:
        value, axis = value.reshape(-1), 0
    return call("_npi_take", (value, indices), {"axis": axis, "mode": mode}, out, "take")


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Return the elements at an index for each row along an axis, such as those of `argsort`.

    Args:
        arr: Array.
        indices: Array of integers with the axes of ``arr``, which broadcast except for ``axis``.
        axis: The axis; None for the flattened array.

    Raises:
        ArgumentError: The numbers of axes differ, or the shapes do not broadcast.
    """
    value, index = as_value(arr, "take_along_axis"), as_value(indices, "take_along_axis")
    if axis is None:
        value, axis = value.reshape(-1), 0
    along = axis_in(axis, value.ndim, "take_along_axis")
    try:
        if value.ndim != index.ndim:
            raise ValueError
        leads = [(*x.shape[:along], *x.shape[along + 1 :]) for x in (value, index)]
        lead = np.broadcast_shapes(*leads)
    except ValueError:
        raise ArgumentError(
            "take_along_axis: expected indices of the shape of the array except along axis "
            f"{axis}, got {index.shape} for {value.shape}"
        ) from None
    size, rows = value.shape[along], math.prod(lead)
    rows_first = broadcast_to(moveaxis(value, along, -1), (*lead, size)).reshape(-1)
    chosen = broadcast_to(moveaxis(index, along, -1), (*lead, index.shape[along]))
    flat = chosen.astype("int64").reshape(rows, -1) if rows else chosen.reshape(rows, 0)
    flat = where(flat < 0, flat + size, flat)
    start = array(np.arange(rows, dtype=np.int64)[:, None] * size, ctx=getattr(value, "ctx", None))
    found = take(rows_first, (flat + start).reshape(chosen.shape), 0)
    return moveaxis(found, -1, along)


def _index_array(what: str, values: Any, ctx: Any) -> Any:
    try:
        return array(np.asarray(values, np.int64), ctx=ctx)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{what}: expected integers, got {values!r}") from error


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of ``x`` where a condition is true, and of ``y`` elsewhere.

    Args:
        condition: Array; true where it is not 0.
        x: Array or number.
        y: Array or number. Without ``x`` and ``y`` the indices where the condition is true are
            returned.

    Raises:
        ArgumentError: Only one of ``x`` and ``y`` is passed.
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ArgumentError("where: expected both x and y, or none, got one of them")
    if isinstance(condition, NUMBERS):
        return x if condition else y
    if isinstance(x, NUMBERS):
        if isinstance(y, NUMBERS):
            params = {"x": as_number(x), "y": as_number(y)}
            return call("_npi_where_scalar2", (condition,), params, what="where")
        return call("_npi_where_lscalar", (condition, y), {"scalar": as_number(x)}, what="where")
    if isinstance(y, NUMBERS):
        return call("_npi_where_rscalar", (condition, x), {"scalar": as_number(y)}, what="where")
    return call("_npi_where", (condition, x, y), what="where")


def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of the elements that are not zero, int64, one array for each axis."""
    found = call("_npx_nonzero", (a,), what="nonzero").T
    return tuple(found[i] for i in range(found.shape[0]))


def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | bool | None = None,
    order: bool | None = None,
    *,
    descending: bool = False,
    stable: bool = True,
) -> Any:
    """Sort the elements along an axis; return a copy.

    Args:
        a: Array.
        axis: Axis; None for the flattened array.
        kind: Ignored; a bool is ``descending``, as in MXNet 2.0.
        order: Must be None, or ``stable`` behind ``descending``.
        descending: Whether the largest element comes first.
        stable: Ignored: equal elements keep their order.
    """
    descending = _is_descending("sort", kind, order, descending)
    return call("_npi_sort", (a,), {"axis": axis, "is_ascend": not descending}, what="sort")


def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | bool | None = None,
    order: bool | None = None,
    *,
    descending: bool = False,
    stable: bool = True,
) -> Any:
    """Return the indices that would sort an array, int64; arguments as for `sort`."""
    descending = _is_descending("argsort", kind, order, descending)
    params = {"axis": axis, "is_ascend": not descending, "dtype": "int64"}
    return call("_npi_argsort", (a,), params, what="argsort")


def _is_descending(what: str, kind: object, order: object, descending: bool) -> bool:
    """Return whether the largest element comes first, after checking NumPy's ``order``."""
    if isinstance(kind, bool):
        return kind
    if order is not None:
        raise NotSupportedError(f"{what}: expected order None, got {order!r}")
    return descending


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """Return the distinct elements in ascending order.

    Args:
        ar: Array.
        return_index: Whether to return the index of the first occurrence of each, too.
        return_inverse: Whether to return the indices that reconstruct the array, too.
        return_counts: Whether to return the number of occurrences of each, too.
        axis: Axis along which to compare subarrays; None to compare elements.

    Returns:
        The elements, or a tuple of them and the requested int64 arrays.
    """
    params = {
        "return_index": return_index,
        "return_inverse": return_inverse,
        "return_counts": return_counts,
        "axis": axis,
    }
    found = pieces(call("_npi_unique", (ar,), params, what="unique"))
    return tuple(found) if return_index or return_inverse or return_counts else found[0]


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Count the occurrences of each integer from 0, or sum their weights.

    Args:
        x: Vector of non-negative integers.
        weights: Vector of weights; None for 1 each.
        minlength: Minimum length of the result.
    """
    params = {"minlength": minlength, "has_weights": weights is not None}
    inputs = (x,) if weights is None else (x, weights)
    return call("_npi_bincount", inputs, params, what="bincount")


def histogram(
    a: Any,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    normed: bool | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> Any:
    """Compute a histogram: the number of elements in each bin, and the bin edges.

    Args:
        a: Array.
        bins: Number of bins of equal width, or an array or sequence of bin edges.
        range: First and last edge, for a number of bins.
        normed: Must be None or False.
        weights: Must be None.
        density: Must be None or False.

    Returns:
        Counts, int64, and edges: a tuple; by the rules of MXNet 1.9 a list.
    """
    if not all(option is None or option is False for option in (normed, weights, density)):
        raise NotSupportedError(
            "histogram: expected no normed, weights and density, got one; divide the counts"
        )
    value = as_value(a, "histogram")
    if isinstance(bins, int | np.integer):
        if range is None:
            raise NotSupportedError(
                "histogram: expected range for a number of bins, got None; pass (a.min(), a.max())"
            )
        try:
            ends = (float(range[0]), float(range[1]))
        except (TypeError, ValueError, IndexError) as error:
            raise ArgumentTypeError(f"histogram: expected two numbers, got {range!r}") from error
        edges = array(np.zeros(0, np.float32))
        params: dict[str, Any] = {"bin_cnt": int(bins), "range": ends}
        return _histogram(value, edges, params)
    if isinstance(bins, list | tuple):
        bins = array(bins, value.dtype)
    return _histogram(value, as_value(bins, "histogram"), {})


def _histogram(value: Any, edges: Any, params: dict[str, Any]) -> Any:
    op = find_operator("_npi_histogram")
    attrs = op.schema.parse("histogram", params)
    inputs = (value, edges) if len(op.input_names(attrs)) > 1 else (value,)
    return as_tuple(run(op, inputs, attrs))


def unravel_index(indices: Any, shape: Sequence[int], order: str = "C") -> Any:
    """Convert flat indices to a tuple of indices along each axis.

    Args:
        indices: Flat index, or an array of them.
        shape: Shape of the array.
        order: ``"C"`` (row by row), the only order.

    Raises:
        ArgumentError: An index is out of bounds.
    """
    check_order("unravel_index", order)
    if isinstance(indices, NUMBERS):
        return official("unravel_index", int(indices), shape)
    value = as_value(indices, "unravel_index")
    if not isinstance(value, NDArray):  # in a graph, one array of them all, as in MXNet
        return call("_unravel_index", (value,), {"shape": shape}, what="unravel_index")
    found = official("unravel_index", value.asnumpy().astype(np.int64), shape)
    return tuple(array(x, "int64", getattr(value, "ctx", None)) for x in found)


def _unmasked(obj: Any, arr: Any, axis: int | None) -> Any:
    """Convert a boolean mask to indices; return other indices unchanged.

    Raises:
        ArgumentError: The mask differs from the axis in size.
    """
    is_listed = isinstance(obj, list | tuple | np.ndarray | NDArray)
    values = np.asarray(host_values(obj)) if is_listed else None
    if not isinstance(values, np.ndarray) or values.dtype != np.bool_:
        return obj
    extent = arr.size if axis is None else arr.shape[axis]
    if values.shape != (extent,):
        raise ArgumentError(f"delete: expected a mask of {extent} bools, got shape {values.shape}")
    return np.flatnonzero(values).tolist()


def _add_index(what: str, obj: Any, params: dict[str, Any]) -> Any:
    """Add an int or slice to the attributes and return None; return any other index as an array."""
    if isinstance(obj, int | np.integer):
        params["int_ind"] = int(obj)
        return None
    if isinstance(obj, slice):
        params |= {"start": obj.start, "stop": obj.stop, "step": obj.step}
        return None
    if isinstance(obj, list | tuple):
        obj = _index_array(what, obj, None)
    if not is_value(obj) and not isinstance(obj, np.ndarray):
        raise ArgumentTypeError(
            f"{what}: expected obj to be an int, a slice or an array, got {type(obj).__name__}"
        )
    return as_value(obj, what)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Return a copy with subarrays along an axis deleted.

    Args:
        arr: Array.
        obj: Indices along the axis: an int, a slice, or an array of ints.
        axis: Axis; None for the flattened array.
    """
    params: dict[str, Any] = {"axis": axis}
    indices = _add_index("delete", _unmasked(obj, arr, axis), params)
    inputs = (arr,) if indices is None else (arr, indices)
    return call("_npi_delete", inputs, params, what="delete")


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return a copy with values inserted before given indices along an axis.

    Args:
        arr: Array.
        obj: Indices along the axis: an int, a slice, or an array of ints.
        values: Number, or array that broadcasts to the inserted subarray.
        axis: Axis; None for the flattened array.
    """
    params: dict[str, Any] = {"axis": axis}
    indices = _add_index("insert", obj, params)
    inputs = [arr]
    if isinstance(values, NUMBERS):
        params["val"] = as_number(values)
    else:
        inputs.append(array(values) if isinstance(values, list | tuple) else values)
    if indices is not None:
        inputs.append(indices)
        return call("_npi_insert_tensor", inputs, params, what="insert")
    operator = "_npi_insert_scalar" if "int_ind" in params else "_npi_insert_slice"
    return call(operator, inputs, params, what="insert")


document_arguments(
    globals(),
    __all__,
    {
        "descending": "Whether the largest element comes first.",
        "order": "Must be None.",
        "stable": "Accepted and ignored: equal elements keep their order.",
    },
)
