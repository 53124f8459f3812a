"""diff, ediff1d, cumsum and cumprod: differences of neighbours, cumulative sums and products."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number, optional
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast, convert
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.numpy.promotion import dtype_of, refuse_bool
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype, infer_same
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, check_number, in_dtype, running_total
from gluonish.ops.support.shape_rules import normalize_axis


def _infer(a: Spec, *, n: int, axis: int) -> tuple[Spec]:
    refuse_bool("_npi_diff", a)
    if n < 0:
        raise OperatorError(f"_npi_diff: expected n of at least 0, got {n}")
    along = normalize_axis("_npi_diff", axis, len(a.shape))
    extent = max(0, a.shape[along] - n)
    return (Spec((*a.shape[:along], extent, *a.shape[along + 1 :]), a.dtype),)


def _kernel(xp: ModuleType, out: Any, a: Any, *, n: int, axis: int) -> None:
    if out.size:
        with np.errstate(all="ignore"):  # no warnings of infinities and NaN
            out[...] = xp.diff(a, n, axis)


def _differences(a: Any, *, n: int, axis: int) -> Any:
    for _ in range(n):
        extent = a.shape[axis]
        a = slice_axis(a, axis, 1, extent) - slice_axis(a, axis, 0, extent - 1)
    return a


_rule = composite_gradient(_differences)


def _gradient(g: V, a: V, *, n: int, axis: int) -> tuple[Any, ...]:
    along = axis % len(a.shape)
    if a.shape[along] <= n or 0 in a.shape:
        return (zeros_like(a),)
    return _rule(g, a, n=n, axis=along)


DIFF = register(
    Operator(
        "_npi_diff",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Differences between neighboring elements along axis, taken n times.\n\n"
            "Shapes: a any, output the same with n less along axis."
        ),
        inputs=("a",),
        schema=Schema(n=integer(1), axis=integer(-1)),
    )
)


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    count = 1 + attrs["to_begin_arr_given"] + attrs["to_end_arr_given"]
    return ("input1", "input2", "input3")[:count]


def _edges(
    others: tuple[Any, ...],
    *,
    to_begin_arr_given: bool,
    to_end_arr_given: bool,
    to_begin_scalar: float | None,
    to_end_scalar: float | None,
) -> list[Any]:
    """Return the values before and after the differences: each an array, a number or None."""
    arrays = iter(others)
    return [
        next(arrays, None) if to_begin_arr_given else to_begin_scalar,
        next(arrays, None) if to_end_arr_given else to_end_scalar,
    ]


def _size(shape: Shape) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _length(edge: Any) -> int:
    return 0 if edge is None else (_size(edge.shape) if hasattr(edge, "shape") else 1)


def _ediff_infer(input1: Spec, *others: Spec, **attrs: Any) -> tuple[Spec]:
    refuse_bool("_npi_ediff1d", input1, *others)
    edges = _edges(others, **attrs)
    for edge in edges:
        if isinstance(edge, Spec):
            check_same_dtype("_npi_ediff1d", input1, edge)
        elif edge is not None:
            check_number("_npi_ediff1d", input1.dtype, edge)
    return (Spec((max(0, input1.size - 1) + sum(map(_length, edges)),), input1.dtype),)


def _ediff_kernel(xp: ModuleType, out: Any, input1: Any, *others: Any, **attrs: Any) -> None:
    begin, end = _edges(others, **attrs)
    first, last = _length(begin), out.shape[0] - _length(end)
    flat = input1.reshape(-1)
    xp.subtract(flat[1:], flat[:-1], out=out[first:last])
    for edge, part in ((begin, out[:first]), (end, out[last:])):
        if edge is not None:
            is_array = hasattr(edge, "reshape")
            part[...] = edge.reshape(-1) if is_array else in_dtype(out.dtype, edge)


def _slice_gradient(g: Any, first: int, last: int, like: Any) -> Any:
    """Return the gradient of the input array that fills [first, last) of the result."""
    return reshape(slice_axis(g, 0, first, last), like.shape) if first < last else zeros_like(like)


def _ediff_gradient(g: V, input1: V, *others: V, **attrs: Any) -> tuple[Any, ...]:
    if not is_floating(dtype_of(input1)):
        return (None,) * (1 + len(others))
    begin, end = _edges(others, **attrs)
    whole = g.shape[0]
    first, last = _length(begin), whole - _length(end)

    def middle() -> Any:
        if first >= last:
            return zeros_like(input1)
        flat = reshape(input1, (_size(input1.shape),))
        (back,) = _rule(slice_axis(g, 0, first, last), flat, n=1, axis=0)
        return reshape(back, input1.shape)

    entries: list[Any] = [middle]
    if attrs["to_begin_arr_given"]:
        entries.append(lambda: _slice_gradient(g, 0, first, begin))
    if attrs["to_end_arr_given"]:
        entries.append(lambda: _slice_gradient(g, last, whole, end))
    return tuple(entries)


EDIFF1D = register(
    Operator(
        "_npi_ediff1d",
        _ediff_infer,
        _ediff_kernel,
        _ediff_gradient,
        doc=(
            "Differences between neighboring elements of the flattened array.\n\n"
            "They are preceded and followed by arrays (the inputs enabled by to_begin_arr_given\n"
            "and to_end_arr_given) or by the numbers to_begin_scalar and to_end_scalar.\n\n"
            "Shapes: all any, output (elements - 1 + those before and after,)."
        ),
        inputs=("input1", "input2", "input3"),
        active_inputs=_inputs,
        schema=Schema(
            to_begin_arr_given=boolean(False),
            to_end_arr_given=boolean(False),
            to_begin_scalar=optional(number()),
            to_end_scalar=optional(number()),
        ),
    )
)


def _dtype(data: np.dtype[Any], dtype: str | None) -> np.dtype[Any]:
    if dtype is not None:
        return np.dtype(dtype)
    return INT64 if data == BOOL else data


def _infer_cumulative(a: Spec, *, axis: int | None, dtype: str | None) -> tuple[Spec]:
    if axis is None:
        return (Spec((a.size,), _dtype(a.dtype, dtype)),)
    normalize_axis("_np_cumsum", axis, len(a.shape))
    return (Spec(a.shape, _dtype(a.dtype, dtype)),)


def _kernel_cumulative(
    xp: ModuleType, out: Any, a: Any, *, axis: int | None, dtype: str | None
) -> None:
    wide = accumulator(out.dtype)
    if axis is None:  # CuPy's order of addition varies from run to run without an axis
        a, axis = a.reshape(-1), 0
    convert(out, running_total(xp, a, axis, wide))


def _gradient_cumulative(g: V, a: Any, *, axis: int | None, dtype: str | None) -> tuple[Any]:
    own = dtype_of(a)
    if own == BOOL:
        return (None,)
    along = 0 if axis is None else axis % len(a.shape)
    back = apply(_REVERSED, (cast(g, own),), {"axis": along})
    return (reshape(back, a.shape),)


CUMSUM = register(
    Operator(
        "_np_cumsum",
        _infer_cumulative,
        _kernel_cumulative,
        _gradient_cumulative,
        doc=(
            "Cumulative sums along axis, or of all elements in row-major order.\n\n"
            "Sums of bool are int64, others of the dtype of a, unless dtype is given.\n\n"
            "Shapes: a any, output the same, or without axis (elements,)."
        ),
        inputs=("a",),
        schema=Schema(
            axis=optional(integer()),
            dtype=choice(
                None, "float16", "float32", "float64", "int32", "int64", "int8", default=None
            ),
        ),
        aliases=("cumsum",),
    )
)


def _reversed_kernel(xp: ModuleType, out: Any, data: Any, *, axis: int) -> None:
    wide = accumulator(data.dtype)
    turned = xp.flip(data, axis)
    out[...] = xp.flip(running_total(xp, turned, axis, wide), axis).astype(out.dtype)


def _reversed_gradient(g: V, data: V, *, axis: int) -> tuple[Any]:
    return (apply(CUMSUM, (g,), {"axis": axis, "dtype": None}),)


_REVERSED = register(
    Operator(
        "_cumsum_reversed",
        infer_same,
        _reversed_kernel,
        _reversed_gradient,
        doc=(
            "Cumulative sums from the end: the sum of the elements from each one to the last\n"
            "along axis."
        ),
        schema=Schema(axis=integer()),
    )
)


def _infer_product(a: Spec, *, axis: int) -> tuple[Spec]:
    normalize_axis("_npi_cumprod", axis, len(a.shape))
    return (Spec(a.shape, _dtype(a.dtype, None)),)


def _products(xp: ModuleType, a: Any, axis: int, dtype: Any) -> Any:
    accumulate = np.multiply.accumulate if xp is np else xp.cumprod
    return accumulate(a, axis=axis, dtype=dtype)


def _kernel_product(xp: ModuleType, out: Any, a: Any, *, axis: int) -> None:
    convert(out, _products(xp, a, axis, accumulator(out.dtype)))


def _gradient_product(g: V, a: Any, *, axis: int) -> tuple[Any]:
    if dtype_of(a) == BOOL:
        return (None,)
    return (apply(_CUMPROD_BACKWARD, (cast(g, dtype_of(a)), a), {"axis": axis}),)


CUMPROD = register(
    Operator(
        "_npi_cumprod",
        _infer_product,
        _kernel_product,
        _gradient_product,
        doc=(
            "Cumulative products along axis; of bool in int64.\n\n"
            "Shapes: a any of at least one axis, output the same."
        ),
        inputs=("a",),
        schema=Schema(axis=integer()),
    )
)


def _kernel_product_backward(xp: ModuleType, out: Any, g: Any, data: Any, *, axis: int) -> None:
    """Fill the sums over i >= k of g_i times the product of all elements to i without the k-th.

    No division, since elements may be 0: the products before k times a sum from the end.
    """
    wide = accumulator(data.dtype)
    x = xp.moveaxis(xp.asarray(data, dtype=wide), axis, 0)
    rest = xp.moveaxis(xp.array(g, dtype=wide), axis, 0)
    for i in range(len(x) - 2, -1, -1):
        rest[i] += x[i + 1] * rest[i + 1]
    rest[1:] *= _products(xp, x, 0, wide)[:-1]
    out[...] = xp.moveaxis(rest, 0, axis).astype(out.dtype)


_CUMPROD_BACKWARD = register(
    Operator(
        "_cumprod_backward",
        lambda g, data, *, axis: (data,),
        _kernel_product_backward,
        None,
        doc="Gradient of the cumulative product of data along axis.",
        inputs=("g", "data"),
        schema=Schema(axis=integer()),
    )
)
