"""Functions that MXNet leaves to NumPy, made of operators: with gradients, and traced.

`gluonish.numpy.fallback` has those that NumPy computes.
"""

from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.numpy.binary import equal, power
from gluonish.numpy.calls import NUMBERS, as_value_or_listed, axis_in, official
from gluonish.numpy.elements import sort
from gluonish.numpy.elements import where as chosen
from gluonish.numpy.nan_reductions import filled
from gluonish.numpy.numerics import diff
from gluonish.numpy.official import call_official
from gluonish.numpy.reductions import Axis, any, cumprod, cumsum, max, min, sum
from gluonish.numpy.shapes import copy, moveaxis
from gluonish.numpy.unary import absolute, isfinite

__all__ = [
    "float_power",
    "isclose",
    "msort",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmin",
    "positive",
    "ptp",
    "real",
    "rollaxis",
    "trapz",
]


def positive(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return a copy, ``+x``.

    Args:
        x: Array of any shape, or a number.
        out: Array that the result is written to, of its shape and dtype.
        **kwargs: NumPy's options; ignored.
    """
    return (
        official("positive", x)
        if isinstance(x, NUMBERS)
        else copy(as_value_or_listed(x, "positive"), out)
    )


def real(val: Any) -> Any:
    """Return a copy: arrays have no imaginary part.

    Args:
        val: Array of any shape, or a number.
    """
    return (
        official("real", val) if isinstance(val, NUMBERS) else copy(as_value_or_listed(val, "real"))
    )


def float_power(x1: Any, x2: Any) -> Any:
    """Return ``x1`` to the power of ``x2``, in float64.

    Args:
        x1: Array or number.
        x2: Array or number; the shapes broadcast.
    """
    return power(*(_as_double(x, "float_power") for x in (x1, x2)))


def _as_double(x: Any, what: str) -> Any:
    """Return a number as a float, and an array in float64."""
    if isinstance(x, NUMBERS):
        return float(x)
    return as_value_or_listed(x, what).astype("float64")


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Return where ``|a - b| <= atol + rtol * |b|``, as bool; equal infinities are close.

    Args:
        a: Array or number.
        b: Array or number; the shapes broadcast.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        equal_nan: Whether two NaN are close.
    """
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return np.isclose(a, b, rtol, atol, equal_nan)
    first, second = (_as_double(x, "isclose") for x in (a, b))
    near = (absolute(first - second) <= atol + rtol * absolute(second)) & isfinite(second)
    close = near | equal(first, second)
    if equal_nan:
        close = close | ((first != first) & (second != second))
    return close


def msort(a: Any) -> Any:
    """Return a copy sorted along axis 0."""
    return sort(as_value_or_listed(a, "msort"), 0)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Return the array with an axis moved in front of another.

    Args:
        a: Array.
        axis: The axis to move.
        start: The axis before which it is put; the number of axes puts it last.
    """
    value = as_value_or_listed(a, "rollaxis")
    rank = value.ndim
    source = axis_in(axis, rank, "rollaxis")
    target = rank if start == rank else axis_in(start, rank, "rollaxis")
    return moveaxis(value, source, target - 1 if source < target else target)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the range of the elements over axes: the largest minus the smallest.

    Args:
        a: Array.
        axis: Axis or axes; None for all.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    a, keep = as_value_or_listed(a, "ptp"), bool(keepdims)
    return _written(max(a, axis, keep) - min(a, axis, keep), out)


def nanmax(
    a: Any,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = None,
) -> Any:
    """Return the largest element over axes that is not NaN; NaN where all are.

    Args:
        a: Array.
        axis: Axis or axes; None for all.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
        initial: Value that is among the elements; NumPy computes the result then.
        where: Array of bool: the elements to look at; NumPy computes the result then.
    """
    value = as_value_or_listed(a, "nanmax")
    if initial is not None or where is not None:
        return _by_numpy(np.nanmax, value, axis, out, bool(keepdims), initial, where)
    return _written(_extreme(max, -np.inf, value, axis, bool(keepdims)), out)


def nanmin(
    a: Any,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = None,
) -> Any:
    """Return the smallest element over axes that is not NaN; arguments as for `nanmax`.

    Args:
        a: Array.
        axis: Axis or axes; None for all.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
        initial: Value that is among the elements; NumPy computes the result then.
        where: Array of bool: the elements to look at; NumPy computes the result then.
    """
    value = as_value_or_listed(a, "nanmin")
    if initial is not None or where is not None:
        return _by_numpy(np.nanmin, value, axis, out, bool(keepdims), initial, where)
    return _written(_extreme(min, np.inf, value, axis, bool(keepdims)), out)


def _by_numpy(
    function: Any, value: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    options = {"axis": axis, "out": out, "keepdims": keepdims, "initial": initial, "where": where}
    given = {key: option for key, option in options.items() if option is not None}
    return call_official(function, function.__name__, (value,), given)


def _extreme(reduce: Any, neutral: float, value: Any, axis: Axis, keepdims: bool) -> Any:
    spec = getattr(value, "_spec", None)  # a Symbol has none
    if spec is not None and spec.dtype.kind in "iub":
        return reduce(value, axis, keepdims)
    known = equal(value, value)
    found = reduce(chosen(known, value, neutral), axis, keepdims)
    return chosen(any(known, axis, keepdims), found, np.nan)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the cumulative sum along an axis, in which NaN counts as 0.

    Args:
        a: Array.
        axis: Axis; None for the flattened array.
        dtype: Element type of the result; by default that of ``a``, and 64 bits for integers.
        out: Array that the result is written to, of its shape and dtype.
    """
    return cumsum(filled(a, 0, "nancumsum"), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the cumulative product along an axis, in which NaN counts as 1.

    Args:
        a: Array.
        axis: Axis; None for the flattened array.
        dtype: Element type of the result; by default that of ``a``, and 64 bits for integers.
        out: Array that the result is written to, of its shape and dtype.
    """
    return cumprod(filled(a, 1, "nancumprod"), axis, dtype, out)


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the integral along an axis by the trapezoidal rule.

    Args:
        y: Values of the function.
        x: Points of the values: of the shape of ``y``, or a vector; None for a distance of ``dx``.
        dx: Distance of the points without ``x``.
        axis: Axis to integrate along.
    """
    value = moveaxis(as_value_or_listed(y, "trapz"), axis, -1)
    steps: Any = dx
    if x is not None:
        points = as_value_or_listed(x, "trapz")
        steps = diff(points if points.ndim == 1 else moveaxis(points, axis, -1))
    return sum((value[..., 1:] + value[..., :-1]) * steps / 2.0, -1)


def _written(result: Any, out: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


document_arguments(globals(), __all__)
