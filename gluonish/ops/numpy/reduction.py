"""Reductions over axes: sum, prod, mean, max, min, any and all in one table.

A reduction over all axes returns a 0-d array. ``axis=()`` reduces nothing. Sums of 16-bit floats
are accumulated in float32.

argmax and argmin as int64.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT64, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.core.schema import Attribute, Schema, boolean, choice, number, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast, convert
from gluonish.ops.facts import Gradient, zero_gradient
from gluonish.ops.numpy.comparison import EQUAL
from gluonish.ops.numpy.promotion import dtype_of, refuse_bool, true_divide_dtype
from gluonish.ops.reductions.arg_reduction import index_operator
from gluonish.ops.reductions.product_gradient import others_times
from gluonish.ops.reductions.reduction import share
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import accumulator, average, total, widen
from gluonish.ops.support.shape_rules import named_axes

Axes = tuple[int, ...]
Fill = Callable[[ModuleType, Any, Any, Axes], None]  # (xp, out without the axes, data, axes)
Rule = Callable[[Any, Any, Any, Axes, int], Any]  # (g, x, y, axes, elements per result)
DefaultDtype = Callable[[np.dtype[Any]], np.dtype[Any]]

AXIS = optional(shape_attr())


def reduction_dtypes(*more: str) -> Attribute:
    """Return the dtype attribute of a reduction."""
    return choice(
        None, *more, "float16", "float32", "float64", "int32", "int64", "int8", default=None
    )


def all_axes(operator: str, rank: int, axis: Axes | None) -> Axes:
    """Return the axes to reduce, ascending: all for None, none for ()."""
    return tuple(range(rank)) if axis is None else named_axes(operator, axis, rank)


def reduced_shape(shape: Shape, axes: Axes, keepdims: bool) -> Shape:
    """Return the shape of a reduction over ``axes``."""
    if keepdims:
        return tuple(1 if i in axes else extent for i, extent in enumerate(shape))
    return tuple(extent for i, extent in enumerate(shape) if i not in axes)


def spread(g: Any, shape: Shape, axes: Axes) -> Any:
    """Broadcast the gradient of a reduction to the reduced array's shape."""
    return broadcast_to(reshape(g, reduced_shape(shape, axes, keepdims=True)), shape)


def _refuse_initial(name: str, initial: float | None) -> None:
    if initial is not None:
        raise OperatorError(f"{name}: expected no initial value, got {initial}; add it afterwards")


def _with_dtype(
    name: str, doc: str, default: DefaultDtype, fill: Fill, rule: Rule, *aliases: str
) -> Operator:
    """Register a reduction with a dtype attribute."""

    def infer(
        a: Spec, *, axis: Axes | None, dtype: str | None, keepdims: bool, initial: float | None
    ) -> tuple[Spec]:
        _refuse_initial(name, initial)
        shape = reduced_shape(a.shape, all_axes(name, len(a.shape), axis), keepdims)
        return (Spec(shape, default(a.dtype) if dtype is None else np.dtype(dtype)),)

    def kernel(
        xp: ModuleType,
        out: Any,
        a: Any,
        *,
        axis: Axes | None,
        dtype: str | None,
        keepdims: bool,
        initial: float | None,
    ) -> None:
        axes = all_axes(name, a.ndim, axis)
        fill(xp, out.reshape(reduced_shape(a.shape, axes, keepdims=False)), a, axes)

    def gradient(
        g: V,
        x: Any,
        y: V,
        *,
        axis: Axes | None,
        dtype: str | None,
        keepdims: bool,
        initial: float | None,
    ) -> tuple[Any]:
        own = dtype_of(x)
        if own == BOOL:
            return (None,)
        axes = all_axes(name, len(x.shape), axis)
        count = math.prod(x.shape[i] for i in axes)
        return (rule(cast(g, own), x, cast(y, own), axes, count),)

    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(gradient, uses_output=True),
            doc=(
                f"{doc} along axis, all axes by default, in dtype.\n\n"
                "Without dtype the result has the dtype of a; sums and products of bool are\n"
                "int64, means of integers float32. initial must be None.\n\n"
                "Shapes: a any, output a's without the axes in axis, or with size 1 there\n"
                "(keepdims)."
            ),
            inputs=("a",),
            schema=Schema(
                axis=AXIS,
                dtype=reduction_dtypes("bool"),
                keepdims=boolean(False),
                initial=optional(number()),
            ),
            aliases=aliases,
        )
    )


def _work_dtype(data: np.dtype[Any], out: np.dtype[Any]) -> np.dtype[Any]:
    """Return the accumulator's dtype."""
    if is_floating(data):
        wide = accumulator(data)
        return FLOAT64 if out == FLOAT64 else wide
    return FLOAT64 if is_floating(out) else INT64


def _accumulate(ufunc: str) -> Fill:
    def fill(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
        wide = _work_dtype(data.dtype, out.dtype)
        convert(out, getattr(xp, ufunc).reduce(data, axis=axes, dtype=wide, keepdims=False))

    return fill


def _sum(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    convert(out, xp.asarray(total(xp, data, axes, _work_dtype(data.dtype, out.dtype))))


def _mean(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    if not math.prod(data.shape[i] for i in axes):
        out[...] = math.nan if is_floating(out.dtype) and not follows_mxnet1() else 0
        return
    found = average(xp, data, axes, _work_dtype(data.dtype, out.dtype))
    convert(out, xp.asarray(found))


def _products(g: Any, x: Any, y: Any, axes: Axes) -> Any:
    return others_times(g, x, y, axes)


def _whole_for_bool(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return INT64 if dtype == BOOL else dtype


SUM = _with_dtype(
    "_np_sum",
    "Sum",
    _whole_for_bool,
    _sum,
    lambda g, x, y, axes, count: spread(g, x.shape, axes),
)
PROD = _with_dtype(
    "_np_prod",
    "Product",
    _whole_for_bool,
    _accumulate("multiply"),
    lambda g, x, y, axes, count: _products(g, x, y, axes),
    "_np_product",
)
MEAN = _with_dtype(
    "_npi_mean",
    "Arithmetic mean",
    true_divide_dtype,
    _mean,
    lambda g, x, y, axes, count: spread(share(g, count), x.shape, axes),
)


def _extreme(name: str, ufunc: str, doc: str, *aliases: str) -> Operator:
    def infer(a: Spec, *, axis: Axes | None, keepdims: bool, initial: float | None) -> tuple[Spec]:
        _refuse_initial(name, initial)
        axes = all_axes(name, len(a.shape), axis)
        shape = reduced_shape(a.shape, axes, keepdims)
        if a.size == 0 and 0 not in shape:
            raise OperatorError(
                f"{name}: expected at least one element along the reduced axes, got {a.shape}"
            )
        return (Spec(shape, a.dtype),)

    def kernel(
        xp: ModuleType,
        out: Any,
        a: Any,
        *,
        axis: Axes | None,
        keepdims: bool,
        initial: float | None,
    ) -> None:
        if not out.size:
            return
        axes = all_axes(name, a.ndim, axis)
        found = getattr(xp, ufunc)(widen(a), axis=axes)
        out.reshape(found.shape)[...] = found.astype(out.dtype)

    def gradient(
        g: V, x: V, y: V, *, axis: Axes | None, keepdims: bool, initial: float | None
    ) -> tuple[Any]:
        axes = all_axes(name, len(x.shape), axis)
        shape = reduced_shape(x.shape, axes, keepdims=True)
        hit = cast(apply(EQUAL, (x, reshape(y, shape)), {}), dtype_of(x))
        return (spread(g, x.shape, axes) * hit,)

    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(gradient, uses_output=True),
            doc=(
                f"{doc} along axis, all axes by default. All elements equal to it get the\n"
                "full gradient. initial must be None.\n\n"
                "Shapes: a any, output a's without the axes in axis, or with size 1 there\n"
                "(keepdims)."
            ),
            inputs=("a",),
            schema=Schema(axis=AXIS, keepdims=boolean(False), initial=optional(number())),
            aliases=aliases,
        )
    )


MAX = _extreme("_np_max", "max", "Maximum", "_np_amax")
MIN = _extreme("_np_min", "min", "Minimum", "_np_amin")


def _question(name: str, ufunc: str, doc: str, *aliases: str) -> Operator:
    def infer(data: Spec, *, axis: Axes | None, keepdims: bool) -> tuple[Spec]:
        axes = all_axes(name, len(data.shape), axis)
        return (Spec(reduced_shape(data.shape, axes, keepdims), BOOL),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, axis: Axes | None, keepdims: bool) -> None:
        axes = all_axes(name, data.ndim, axis)
        out[...] = getattr(xp, ufunc)(data != 0, axis=axes, keepdims=keepdims)

    return register(
        Operator(
            name,
            infer,
            kernel,
            zero_gradient,
            doc=(
                f"Whether {doc}, all axes by default, as bool.\n\n"
                "Shapes: data any, output data's without the axes in axis, or with size 1 there\n"
                "(keepdims)."
            ),
            schema=Schema(axis=AXIS, keepdims=boolean(False)),
            aliases=aliases,
        )
    )


_question("_np_any", "any", "any element along axis is not 0", "_np_sometrue")
_question("_np_all", "all", "all elements along axis are not 0")


def sum_(a: Any, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the sum along axes, all by default."""
    return apply(SUM, (a,), {"axis": axis, "dtype": None, "keepdims": keepdims, "initial": None})


def max_(a: Any, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the maximum along axes, all by default."""
    return apply(MAX, (a,), {"axis": axis, "keepdims": keepdims, "initial": None})


def _whole(name: str, method: str) -> Operator:
    return index_operator(name, method, refuse_bool, lambda shape, _: Spec(shape, INT64), "")


ARGMAX = _whole("_npi_argmax", "argmax")
ARGMIN = _whole("_npi_argmin", "argmin")
