"""Reductions and sorting of the array API standard, with its signatures and element types."""

from typing import Any

import numpy as np

import gluonish.numpy as mxnp
from gluonish.core.dtype import INT64, UINT64, normalize_dtype
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import from_official

__all__ = [
    "all",
    "any",
    "argsort",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "sort",
    "std",
    "sum",
    "var",
]

Axis = int | tuple[int, ...] | None


def widened(x: Any, dtype: Any) -> Any:
    """Return an array in the element type of its sums: 64 bits for integers, unless given."""
    if dtype is None:
        kind = x.dtype.kind
        dtype = UINT64 if kind == "u" else INT64 if kind in "ib" else x.dtype
    return x.astype(normalize_dtype(dtype), copy=False)


def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Return the sum over axes.

    Args:
        x: Array.
        axis: Axis or axes; None for all.
        dtype: Element type; by default that of floats, and int64 or uint64 for integers.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    return mxnp.sum(widened(x, dtype), axis, keepdims=keepdims)


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Return the product over axes; arguments as for `sum`."""
    return mxnp.prod(widened(x, dtype), axis, keepdims=keepdims)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Return the cumulative sum along an axis.

    Args:
        x: Array of at least one axis.
        axis: Axis; may be omitted for a vector.
        dtype: Element type; by default that of floats, and int64 or uint64 for integers.
        include_initial: Whether the result begins with 0, and so has one element more.
    """
    return mxnp.cumulative_sum(widened(x, dtype), axis=axis, include_initial=include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Return the cumulative product along an axis; arguments as for `cumulative_sum`."""
    return mxnp.cumulative_prod(widened(x, dtype), axis=axis, include_initial=include_initial)


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the mean over axes.

    Args:
        x: Array.
        axis: Axis or axes; None for all.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    return mxnp.mean(x, axis, keepdims=keepdims)


def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the standard deviation over axes; arguments as for `var`."""
    return mxnp.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the variance over axes.

    Args:
        x: Array.
        axis: Axis or axes; None for all.
        correction: The sum of squares is divided by the count minus this.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    found = mxnp.var(x, axis, keepdims=keepdims)
    if not correction:
        return found
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    count = float(np.prod([x.shape[i] for i in axes]))
    rest = count - correction
    return found * (count / rest if rest > 0 else float("nan"))


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the largest element over axes; arguments as for `mean`."""
    return mxnp.max(x, axis, keepdims)


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the smallest element over axes; arguments as for `mean`."""
    return mxnp.min(x, axis, keepdims)


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return whether all elements over axes are nonzero; arguments as for `mean`."""
    return mxnp.all(x, axis, keepdims)


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return whether any element over axes is nonzero; arguments as for `mean`."""
    return mxnp.any(x, axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the number of nonzero elements over axes, as int64; arguments as for `mean`."""
    return mxnp.sum((x != 0).astype(INT64), axis, keepdims=keepdims)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Sort the elements along an axis; return a copy.

    Args:
        x: Array.
        axis: Axis.
        descending: Whether the largest element comes first.
        stable: Ignored: equal elements keep their order.
    """
    return mxnp.take_along_axis(
        x, argsort(x, axis=axis, descending=descending, stable=stable), axis
    )


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """Return the indices that would sort an array, int64; arguments as for `sort`."""
    values = x.asnumpy()
    if not descending:
        return from_official(np.argsort(values, axis=axis, stable=True), x.context, INT64)
    # Reversed twice, so that equal elements keep their order.
    turned = np.argsort(np.flip(values, axis), axis=axis, stable=True)
    return from_official(values.shape[axis] - 1 - np.flip(turned, axis), x.context, INT64)
