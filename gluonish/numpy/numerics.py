"""Rounding, clipping, differences, and `shares_memory`."""

import math
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError
from gluonish.core.schema import as_number
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import NUMBERS, as_value, axis_in, call, official
from gluonish.numpy.joining import concatenate
from gluonish.numpy.shapes import broadcast_to
from gluonish.numpy.unary import check_options

__all__ = [
    "around",
    "clip",
    "diff",
    "ediff1d",
    "may_share_memory",
    "nan_to_num",
    "round",
    "round_",
    "shares_memory",
]


def around(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
    """Round to a number of decimals; halves go to the even neighbour.

    Args:
        x: Array or number.
        decimals: Number of digits after the decimal point; negative rounds to tens, hundreds ...
        out: Array that the result is written to, of its shape and dtype.
        **kwargs: NumPy's options, with their defaults only.
    """
    if kwargs:
        check_options("around", kwargs)
    if isinstance(x, NUMBERS):
        return official("around", x, decimals)
    return call("_npi_around", (x,), {"decimals": decimals}, out, "around")


def round(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
    """Round to a number of decimals: `around`."""
    return around(x, decimals, out, **kwargs)


def round_(x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
    """Round to a number of decimals: `around`."""
    return around(x, decimals, out, **kwargs)


def clip(a: Any, a_min: float | None, a_max: float | None, out: Any = None) -> Any:
    """Limit values to [a_min, a_max]; None is no limit.

    Raises:
        ArgumentError: Both are None.
    """
    if a_min is None and a_max is None:
        raise ArgumentError("clip: expected a_min or a_max, got neither")
    if isinstance(a, NUMBERS):
        return official("clip", a, a_min, a_max)
    params = {
        "a_min": -math.inf if a_min is None else a_min,
        "a_max": math.inf if a_max is None else a_max,
    }
    return call("_npi_clip", (a,), params, out, "clip")


def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    **kwargs: Any,
) -> Any:
    """Replace NaN and infinities by numbers.

    Args:
        x: Array or number.
        copy: Whether to return a new array; False writes to ``x`` itself.
        nan: Replacement of NaN.
        posinf: Replacement of positive infinity; the largest number by default.
        neginf: Replacement of negative infinity; the lowest number by default.
        **kwargs: NumPy's options, with their defaults only.
    """
    if kwargs:
        check_options("nan_to_num", kwargs)
    if isinstance(x, NUMBERS):
        return official("nan_to_num", x, True, nan, posinf, neginf)
    value = as_value(x, "nan_to_num")
    params = {"copy": copy, "nan": nan, "posinf": posinf, "neginf": neginf}
    return call("_npi_nan_to_num", (value,), params, None if copy else value, "nan_to_num")


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the n-th differences of neighbouring elements along an axis.

    Args:
        a: Array of one axis or more.
        n: How often to take differences.
        axis: Axis.
        prepend: Array or number to put before the array along the axis.
        append: Array or number to put after the array along the axis.
    """
    value = as_value(a, "diff")
    if hasattr(value, "ndim"):
        axis = axis_in(axis, value.ndim, "diff")
    arrays = [_border(prepend, value, axis), value, _border(append, value, axis)]
    arrays = [x for x in arrays if x is not None]
    if len(arrays) > 1:
        value = concatenate(arrays, axis)
    return call("_npi_diff", (value,), {"n": n, "axis": axis}, what="diff")


def _border(border: Any, value: Any, axis: int) -> Any:
    """Return an array or number to prepend or append as an array, of size 1 for a number."""
    if border is None:
        return None
    if isinstance(border, NUMBERS):
        border = np.asarray(border, value.dtype)
    border = as_value(border, "diff", getattr(value, "ctx", None))
    if border.shape:
        return border
    shape = list(value.shape)
    shape[axis] = 1
    return broadcast_to(border, shape)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbouring elements of the flattened array.

    Args:
        ary: Array.
        to_end: Number or array to put after the differences.
        to_begin: Number or array to put before the differences.
    """
    inputs, params = [ary], dict[str, Any]()
    for name, border in (("to_begin", to_begin), ("to_end", to_end)):
        if isinstance(border, NUMBERS):
            params[f"{name}_scalar"] = as_number(border)
        elif border is not None:
            params[f"{name}_arr_given"] = True
            inputs.append(border)
    return call("_npi_ediff1d", inputs, params, what="ediff1d")


def shares_memory(a: Any, b: Any, max_work: int | None = None) -> bool:
    """Return whether two arrays share memory.

    Args:
        a: Array.
        b: Array.
        max_work: Ignored.
    """
    first, second = as_value(a, "shares_memory"), as_value(b, "shares_memory")
    if not isinstance(first, NDArray) or not isinstance(second, NDArray):
        return False
    return first._device is second._device and bool(
        first._device.xp.may_share_memory(first._data, second._data)
    )


def may_share_memory(a: Any, b: Any, max_work: int | None = None) -> bool:
    """Return whether two arrays may share memory; see `shares_memory`."""
    return shares_memory(a, b, max_work)


document_arguments(globals(), __all__)
