"""Reductions over axes; by default over all axes, to shape ()."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError
from gluonish.core.mxnet_rules import follows_mxnet, follows_mxnet2
from gluonish.core.numpy_mode import is_np_default_dtype
from gluonish.numpy.calls import NUMBERS, as_value, axis_in, call, is_value, pieces
from gluonish.numpy.creation import array, full
from gluonish.numpy.elements import where as chosen
from gluonish.numpy.joining import concatenate

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "average",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "median",
    "min",
    "percentile",
    "prod",
    "product",
    "quantile",
    "sometrue",
    "std",
    "sum",
    "var",
]

Axis = int | tuple[int, ...] | None


def _both_orders(keepdims: Any, out: Any) -> tuple[Any, Any]:
    """Return ``keepdims`` and ``out``, which MXNet 2.0 passes by position in the other order."""
    if is_value(keepdims) or isinstance(out, bool):
        return out or False, keepdims
    return keepdims or False, out


def sum(  # NumPy's name
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: float | None = None,
    out: Any = None,
    where: Any = None,
) -> Any:
    """Return the sum over axes.

    ``sum(a, axis, dtype, out, keepdims, initial)``, MXNet 2.0's order, is understood, too.

    Args:
        a: Array of any shape; bools are counted, as int64.
        axis: Axis or axes; None for all.
        dtype: Element type of the result and of the accumulation; that of ``a`` by default.
        keepdims: Whether to keep the reduced axes, with size 1.
        initial: Start value of the sum.
        out: Array that the result is written to, of its shape and dtype.
        where: Array of bool that broadcasts to ``a``: the elements to add; None for all.
    """
    if keepdims is not False and (is_value(keepdims) or isinstance(initial, bool)):
        out, keepdims, initial = keepdims, initial, out  # type: ignore[assignment]  # as in 2.0
    if where is not None and where is not True:
        a = _chosen(a, where, 0, "sum")
    params = {"axis": axis, "dtype": dtype, "keepdims": keepdims or False}
    if initial is None:
        return call("_np_sum", (a,), params, out, "sum")
    return _stored(call("_np_sum", (a,), params, what="sum") + initial, out)


def _chosen(a: Any, where: Any, neutral: int, what: str) -> Any:
    """Return an array with a neutral element where a condition is false."""
    return chosen(as_value(where, what), as_value(a, what), neutral)


def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: float | None = None,
    where: Any = None,
) -> Any:
    """Return the product over axes.

    Args:
        a: Array of any shape; bools are counted, as int64.
        axis: Axis or axes; None for all.
        dtype: Element type of the result and of the product; that of ``a`` by default.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
        initial: Start value of the product.
        where: Array of bool that broadcasts to ``a``: the elements to multiply; None for all.
    """
    if where is not None and where is not True:
        a = _chosen(a, where, 1, "prod")
    params = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
    if initial is None:
        return call("_np_prod", (a,), params, out, "prod")
    return _stored(call("_np_prod", (a,), params, what="prod") * initial, out)


def product(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Return the product over axes: `prod`."""
    return prod(a, axis, dtype, out, keepdims)


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Return the mean over axes; arguments as for `sum`.

    Args:
        a: Array of any shape.
        axis: Axis or axes; None for all.
        dtype: Element type of the result and of the accumulation; by default that of ``a``, and for
            integers float32 (float64 while `npx.is_np_default_dtype`). By the rules of MXNet 2.0
            the default is float32 for all types.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    if dtype is None and follows_mxnet2():
        dtype = "float64" if is_np_default_dtype() else "float32"
    params = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
    return call("_npi_mean", (a,), params, out, "mean")


def std(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    correction: int | None = None,
) -> Any:
    """Return the standard deviation over axes; arguments as for `var`."""
    ddof = ddof if correction is None else correction
    dtype = _fraction_dtype(a) if dtype is None else dtype
    params = {"axis": axis, "dtype": dtype, "ddof": ddof, "keepdims": keepdims}
    return call("_npi_std", (a,), params, out, "std")


def _fraction_dtype(a: Any) -> str | None:
    """Return float32, or float64 as NumPy's default, for integers; in MXNet they stay integers."""
    spec = getattr(a, "_spec", None)  # a Symbol has none
    if spec is None or spec.dtype.kind not in "iu" or follows_mxnet():
        return None
    return "float64" if is_np_default_dtype() else "float32"


def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    correction: int | None = None,
) -> Any:
    """Return the variance over axes.

    Args:
        a: Array of any shape.
        axis: Axis or axes; None for all.
        dtype: Element type of the result; by default that of ``a``, and float32 for integers. By
            the rules of MXNet those keep their type, and the result is rounded down.
        out: Array that the result is written to, of its shape and dtype.
        ddof: The sum of squares is divided by the count minus ``ddof``.
        keepdims: Whether to keep the reduced axes, with size 1.
        correction: The array API's and MXNet 2.0's name of ``ddof``.
    """
    ddof = ddof if correction is None else correction
    dtype = _fraction_dtype(a) if dtype is None else dtype
    params = {"axis": axis, "dtype": dtype, "ddof": ddof, "keepdims": keepdims}
    return call("_npi_var", (a,), params, out, "var")


def max(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return the largest element over axes; arguments as for `sum`."""
    if keepdims is not False or out is not None:
        keepdims, out = _both_orders(keepdims, out)
    return call("_np_max", (a,), {"axis": axis, "keepdims": keepdims}, out, "max")


def min(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return the smallest element over axes; arguments as for `sum`."""
    if keepdims is not False or out is not None:
        keepdims, out = _both_orders(keepdims, out)
    return call("_np_min", (a,), {"axis": axis, "keepdims": keepdims}, out, "min")


def amax(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return the maximum over axes: `max`."""
    return max(a, axis, keepdims, out)


def amin(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return the minimum over axes: `min`."""
    return min(a, axis, keepdims, out)


def all(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return whether all elements over axes are nonzero, as bool; arguments as for `sum`."""
    if keepdims is not False or out is not None:
        keepdims, out = _both_orders(keepdims, out)
    return call("_np_all", (a,), {"axis": axis, "keepdims": keepdims}, out, "all")


def any(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return whether any element over axes is nonzero, as bool; arguments as for `sum`."""
    if keepdims is not False or out is not None:
        keepdims, out = _both_orders(keepdims, out)
    return call("_np_any", (a,), {"axis": axis, "keepdims": keepdims}, out, "any")


def sometrue(a: Any, axis: Axis = None, keepdims: bool = False, out: Any = None) -> Any:
    """Return whether any element over axes is nonzero: `any`."""
    return any(a, axis, keepdims, out)


def argmax(a: Any, axis: int | None = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the first largest element along an axis, as int64.

    Args:
        a: Array.
        axis: Axis; None for the index in the flattened array.
        out: Array that the result is written to, of its shape and dtype.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    params = {"axis": axis, "keepdims": keepdims}
    return call("_npi_argmax", (a,), params, out, "argmax")


def argmin(a: Any, axis: int | None = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the first smallest element along an axis; arguments as for `argmax`."""
    params = {"axis": axis, "keepdims": keepdims}
    return call("_npi_argmin", (a,), params, out, "argmin")


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the cumulative sum along an axis; None for the flattened array."""
    return call("_np_cumsum", (a,), {"axis": axis, "dtype": dtype}, out, "cumsum")


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the cumulative product along an axis; None for the flattened array.

    Args:
        a: Array of any shape; bools are counted, as int64.
        axis: Axis; None for the flattened array.
        dtype: Element type of the result; by default that of ``a``, and 64 bits for integers.
        out: Array that the result is written to, of its shape and dtype.
    """
    value = as_value(a, "cumprod")
    spec = getattr(value, "_spec", None)  # a Symbol has none
    if dtype is None and spec is not None and spec.dtype.kind in "iub":
        dtype = "uint64" if spec.dtype.kind == "u" else "int64"
    if dtype is not None:
        value = value.astype(dtype, copy=False)
    if axis is None:
        value, axis = value.reshape(-1), 0
    return call("_npi_cumprod", (value,), {"axis": axis}, out, "cumprod")


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    """Return the cumulative sum along an axis.

    Args:
        x: Array of at least one axis.
        axis: Axis; may be omitted for a vector.
        dtype: Element type of the result; that of ``x`` by default, and int64 for bool.
        out: Array that the result is written to, of its shape and dtype.
        include_initial: Whether the result begins with 0, and so has one element more.

    Raises:
        ArgumentError: ``axis`` is omitted, and ``x`` is not a vector.
    """
    value, along = _with_axis("cumulative_sum", x, axis)
    found = call("_np_cumsum", (value,), {"axis": along, "dtype": dtype}, what="cumulative_sum")
    return _stored(_led(found, along, 0) if include_initial else found, out)


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    """Return the cumulative product along an axis; arguments as for `cumulative_sum`.

    Args:
        x: Array of at least one axis.
        axis: Axis; may be omitted for a vector.
        dtype: Element type of the result; that of ``x`` by default, and int64 for bool.
        out: Array that the result is written to, of its shape and dtype.
        include_initial: Whether the result begins with 1, and so has one element more.

    Raises:
        ArgumentError: ``axis`` is omitted, and ``x`` is not a vector.
    """
    value, along = _with_axis("cumulative_prod", x, axis)
    found = cumprod(value, along, dtype)
    return _stored(_led(found, along, 1) if include_initial else found, out)


def _with_axis(what: str, x: Any, axis: int | None) -> tuple[Any, int]:
    value = as_value(x, what)
    if axis is not None:
        return value, axis_in(axis, value.ndim, what)
    if value.ndim != 1:
        raise ArgumentError(f"{what}: expected an axis of shape {value.shape}, got None")
    return value, 0


def _led(values: Any, axis: int, first: int) -> Any:
    """Return values with a leading element along an axis."""
    shape = tuple(1 if i == axis else n for i, n in enumerate(values.shape))
    return concatenate((full(shape, first, values.dtype, ctx=values.context), values), axis)


def _stored(values: Any, out: Any) -> Any:
    """Return ``out`` with the values; the values themselves without it."""
    if out is None:
        return values
    out[...] = values
    return out


def average(
    a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, out: Any = None
) -> Any:
    """Return the weighted mean over axes.

    Args:
        a: Array.
        axis: Axis or axes; None for all.
        weights: Weights, of the shape of ``a`` or of its axis; None for equal weights.
        returned: Whether to return the sum of the weights, too.
        out: Array that the result is written to, of its shape and dtype.

    Returns:
        The mean, or a list of it and the sum of weights.
    """
    fraction = _fraction_dtype(a)
    if fraction is not None:
        a = a.astype(fraction)
    params = {"axis": axis, "returned": returned, "weighted": weights is not None}
    inputs = (a,) if weights is None else (a, weights)
    result = call("_npi_average", inputs, params, out, "average")
    listed = pieces(result)
    return listed if returned else listed[0]


def percentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: Any = None,
    overwrite_input: bool | None = None,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """Return the ``q``-th percentile of the elements over axes.

    Args:
        a: Array.
        q: Numbers in [0, 100]: one, a sequence, or an array, whose axes lead the result's.
        axis: Axis or axes; None for all.
        out: Array that the result is written to, of its shape and dtype.
        overwrite_input: Ignored; the input is never modified.
        interpolation: Interpolation between two elements: ``"linear"``, ``"lower"``,
            ``"higher"``, ``"midpoint"`` or ``"nearest"``.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    params: dict[str, Any] = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims}
    inputs: Sequence[Any] = (a, q)
    if isinstance(q, NUMBERS):
        inputs, params["q_scalar"] = (a,), q
    elif isinstance(q, list | tuple):
        inputs = (a, array(q))
    return call("_npi_percentile", inputs, params, out, "percentile")


def quantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: Any = None,
    overwrite_input: bool | None = None,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """Return the ``q``-th quantile of the elements, ``q`` in [0, 1]; see `percentile`."""
    if isinstance(q, list | tuple):
        q = array(q)
    q = q if isinstance(q, NUMBERS) or is_value(q) else as_value(q, "quantile")
    return percentile(a, q * 100, axis, out, overwrite_input, interpolation, keepdims)


def median(
    a: Any,
    axis: Axis = None,
    out: Any = None,
    overwrite_input: bool | None = None,
    keepdims: bool = False,
) -> Any:
    """Return the median over axes: the middle element, or the mean of the two middle ones.

    Args:
        a: Array.
        axis: Axis or axes; None for all.
        out: Array that the result is written to, of its shape and dtype.
        overwrite_input: Ignored; the input is never modified.
        keepdims: Whether to keep the reduced axes, with size 1.

    Returns:
        Array of float64 for float64, else of float32.
    """
    return percentile(a, 50.0, axis, out, overwrite_input, "linear", keepdims)


document_arguments(
    globals(),
    __all__,
    {
        "axis": "Axis or axes, negative from the last; None for all.",
        "correction": "The array API's and MXNet 2.0's name of ``ddof``.",
    },
)
