"""Reductions over axes that leave out NaN; with gradients, which are 0 at NaN."""

from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.numpy.binary import not_equal
from gluonish.numpy.calls import as_value_or_listed
from gluonish.numpy.elements import where
from gluonish.numpy.reductions import Axis, prod, std, sum, var
from gluonish.numpy.unary import sqrt

__all__ = ["filled", "nanprod", "nanstd", "nansum", "nanvar"]


def nansum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = None,
) -> Any:
    """Return the sum over axes of the elements that are not NaN.

    Args:
        a: Array of any shape.
        axis: Axis or axes; None for all.
        dtype: Element type of the result and of the accumulation; that of ``a`` by default.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
        initial: Start value of the sum.
        where: Array of bool that broadcasts to ``a``: the elements to add; None for all.
    """
    return sum(filled(a, 0, "nansum"), axis, dtype, bool(keepdims), initial, out, where)


def nanprod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = None,
) -> Any:
    """Return the product over axes of the elements that are not NaN.

    Args:
        a: Array of any shape.
        axis: Axis or axes; None for all.
        dtype: Element type of the result and of the product; that of ``a`` by default.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
        initial: Start value of the product.
        where: Array of bool that broadcasts to ``a``: the elements to multiply; None for all.
    """
    return prod(filled(a, 1, "nanprod"), axis, dtype, out, bool(keepdims), initial, where)


def nanvar(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Any:
    """Return the variance over axes of the elements that are not NaN.

    Args:
        a: Array of any shape.
        axis: Axis or axes; None for all.
        dtype: Element type of the result.
        out: Array that the result is written to, of its shape and dtype.
        ddof: The sum of squares is divided by the count minus ``ddof``.
        keepdims: Whether to keep the reduced axes, with size 1.

    Returns:
        The variances; NaN where no more than ``ddof`` elements are left.
    """
    value = as_value_or_listed(a, "nanvar")
    _ = value.shape  # a Symbol's call is repeated once its shape and dtype are known
    if not is_floating(value.dtype):
        return var(value, axis, dtype, out, ddof, bool(keepdims))
    wide = value.astype(FLOAT32) if np.dtype(value.dtype).itemsize == 2 else value
    known = not_equal(wide, wide) == 0
    count = sum(known.astype(wide.dtype), axis, None, True)
    mean = sum(filled(wide, 0, "nanvar"), axis, None, True) / count
    squares = where(known, wide - mean, 0) ** 2
    left = count - ddof
    found = sum(squares, axis, None, True) / where(left > 0, left, np.nan)
    result = found if keepdims else found.reshape(sum(squares, axis).shape)
    result = result.astype(value.dtype if dtype is None else dtype, copy=False)
    if out is None:
        return result
    out[...] = result
    return out


def nanstd(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Any:
    """Return the standard deviation over axes of the elements that are not NaN; see `nanvar`.

    Args:
        a: Array of any shape.
        axis: Axis or axes; None for all.
        dtype: Element type of the result.
        out: Array that the result is written to, of its shape and dtype.
        ddof: The sum of squares is divided by the count minus ``ddof``.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    value = as_value_or_listed(a, "nanstd")
    _ = value.shape  # as above
    if not is_floating(value.dtype):
        return std(value, axis, dtype, out, ddof, bool(keepdims))
    return sqrt(nanvar(value, axis, dtype, None, ddof, keepdims), out)


def filled(a: Any, neutral: int, what: str) -> Any:
    """Return an array with a neutral element for NaN."""
    value = as_value_or_listed(a, what)
    spec = getattr(value, "_spec", None)  # a Symbol has none
    if spec is not None and spec.dtype.kind in "iub":  # summed in 64 bits, as in NumPy
        return value.astype("uint64" if spec.dtype.kind == "u" else "int64", copy=False)
    return where(not_equal(value, value), neutral, value)
