"""Reductions over axes: sum, mean, prod, nansum, nanprod, max, min in one table, and norm.

Without ``keepdims`` a reduction over all axes has shape (1,), as in MXNet. Sums of 16-bit floats
are accumulated in float32.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.binary import EQUAL, over_root
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.elementwise.unary import SIGN
from gluonish.ops.facts import Gradient
from gluonish.ops.indexing.where import where
from gluonish.ops.reductions.product_gradient import others_times
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import accumulator, as_real, average, in_dtype, is_narrow, total
from gluonish.ops.support.shape_rules import normalize_axes
from gluonish.ops.support.work import remembered

Axes = tuple[int, ...]
Reduce = Callable[[ModuleType, Any, Any, Axes], None]  # (xp, out without the axes, data, axes)
Rule = Callable[[Any, Any, Any, Shape, int], Any]  # (g, x, y, keepdims shape, elements per result)

_SCHEMA = Schema(axis=optional(shape_attr()), keepdims=boolean(False), exclude=boolean(False))


@lru_cache(1024)
def reduced_axes(operator: str, rank: int, axis: Axes | None, exclude: bool = False) -> Axes:
    """Return the axes to reduce in ascending order: all for None and ()."""
    if not axis:
        return tuple(range(rank))
    axes = normalize_axes(operator, axis, rank)
    return tuple(i for i in range(rank) if i not in axes) if exclude else axes


@lru_cache(1024)
def _inner_shape(shape: Shape, axes: Axes) -> Shape:
    """Return a shape without some axes."""
    return tuple(extent for i, extent in enumerate(shape) if i not in axes)


def _reduced_shape(shape: Shape, axes: Axes, keepdims: bool) -> Shape:
    if keepdims:
        return tuple(1 if i in axes else extent for i, extent in enumerate(shape))
    return _inner_shape(shape, axes) or (1,)


def _row(name: str, *aliases: str, doc: str, reduce: Reduce, rule: Rule, empty: bool) -> Operator:
    """Register a reduction; ``empty`` means that it is defined for no elements."""

    @remembered
    def infer(data: Spec, *, axis: Axes | None, keepdims: bool, exclude: bool) -> tuple[Spec]:
        axes = reduced_axes(name, len(data.shape), axis, exclude)
        shape = _reduced_shape(data.shape, axes, keepdims)
        if not empty and data.size == 0 and 0 not in shape:
            raise OperatorError(
                f"{name}: expected at least one element along the reduced axes, got {data.shape}"
            )
        return (Spec(shape, data.dtype),)

    def kernel(
        xp: ModuleType, out: Any, data: Any, *, axis: Axes | None, keepdims: bool, exclude: bool
    ) -> None:
        axes = reduced_axes(name, data.ndim, axis, exclude)
        reduce(xp, out.reshape(_inner_shape(data.shape, axes)), data, axes)

    def gradient(
        g: V, x: V, y: V, *, axis: Axes | None, keepdims: bool, exclude: bool
    ) -> tuple[Any]:
        axes = reduced_axes(name, len(x.shape), axis, exclude)
        reduced = _reduced_shape(x.shape, axes, keepdims=True)
        return (rule(g, x, y, reduced, math.prod(x.shape[i] for i in axes)),)

    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(gradient, uses_output=True),
            doc=(
                f"Compute the {doc} along axis, all axes by default; with exclude along all\n"
                "other axes.\n\n"
                "Shapes: data any, output data's without the axes in axis, or with size 1 there\n"
                "(keepdims); (1,) without remaining axes."
            ),
            schema=_SCHEMA,
            aliases=aliases,
        )
    )


# Kernels reduce with the ufunc, not with `sum`, which is Python code in NumPy's modules: the filter
# in `gluonish.ops.registry` does not apply to its overflow warnings.
def _sum(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    wide = accumulator(data.dtype)
    if wide == data.dtype and xp is not np:
        xp.add.reduce(data, axis=axes, dtype=wide, out=out)
    else:
        out[...] = total(xp, data, axes, wide).astype(out.dtype, copy=False)


def _mean(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    count = math.prod([data.shape[i] for i in axes])
    if not count:
        out[...] = math.nan if is_floating(data.dtype) else 0
        return
    wide = accumulator(data.dtype) if is_floating(data.dtype) else np.dtype(np.int64)
    if data.dtype == np.int64:  # toward zero, as below, but float64 would round the sum
        summed = total(xp, data, axes, wide)
        out[...] = xp.sign(summed) * (xp.abs(summed) // count)
        return
    # Integers divide in float64, and the cast truncates toward zero.
    out[...] = average(xp, data, axes, wide).astype(out.dtype)


def _prod(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    wide = accumulator(data.dtype)
    out[...] = xp.multiply.reduce(data, axis=axes, dtype=wide).astype(out.dtype)


def share(g: Any, count: int) -> Any:
    """Divide a value by a number of elements, in float32 if 16-bit floats cannot represent it."""
    dtype, number = np.dtype(g.dtype), float(max(1, count))
    if is_narrow(dtype) and float(in_dtype(dtype, number)) != number:
        return cast(cast(g, FLOAT32) / number, dtype)
    return g / number


def _without_nan(function: Reduce, neutral: int) -> Reduce:
    def reduce(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
        if is_floating(data.dtype):
            data = xp.where(data == data, data, data.dtype.type(neutral))
        function(xp, out, data, axes)

    return reduce


def _max(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    if out.size:
        xp.max(data, axis=axes, out=out)


def _min(xp: ModuleType, out: Any, data: Any, axes: Axes) -> None:
    if out.size and xp is np:
        np.min(data, axis=axes, out=out)
    elif out.size:
        out[...] = xp.min(data, axis=axes)  # CuPy 14.2 passes min's out as its dtype


def _spread(g: V, x: V, reduced: Shape) -> Any:
    """Broadcast the gradient of the results to the elements."""
    return broadcast_to(reshape(g, reduced), x.shape)


def _at_extreme(g: V, x: V, y: V, reduced: Shape, count: int) -> Any:
    """Return the full gradient for every element equal to the result, as in MXNet."""
    return _spread(g, x, reduced) * EQUAL(x, broadcast_to(reshape(y, reduced), x.shape))


def _products(g: Any, x: Any, y: Any, reduced: Shape, count: int, skips_nan: bool = False) -> Any:
    axes = tuple(i for i, extent in enumerate(reduced) if extent != x.shape[i])
    return others_times(g, x, y, axes, skips_nan)


def _of_present(x: Any, gradient: Any) -> Any:
    return where(EQUAL(x, x), gradient, zeros_like(gradient))


SUM = _row(
    "sum",
    "sum_axis",
    "_sparse_sum",
    doc="sum",
    reduce=_sum,
    rule=lambda g, x, y, reduced, count: _spread(g, x, reduced),
    empty=True,
)
MEAN = _row(
    "mean",
    "_sparse_mean",
    doc="arithmetic mean",
    reduce=_mean,
    rule=lambda g, x, y, reduced, count: _spread(share(g, count), x, reduced),
    empty=True,
)
PROD = _row(
    "prod",
    doc="product",
    reduce=_prod,
    rule=_products,
    empty=True,
)
NANSUM = _row(
    "nansum",
    doc="sum of the elements that are not NaN",
    reduce=_without_nan(_sum, 0),
    rule=lambda g, x, y, reduced, count: _of_present(x, _spread(g, x, reduced)),
    empty=True,
)
NANPROD = _row(
    "nanprod",
    doc="product of the elements that are not NaN",
    reduce=_without_nan(_prod, 1),
    rule=lambda g, x, y, reduced, count: _products(g, x, y, reduced, count, skips_nan=True),
    empty=True,
)
MAX = _row("max", "max_axis", doc="maximum", reduce=_max, rule=_at_extreme, empty=False)
MIN = _row("min", "min_axis", doc="minimum", reduce=_min, rule=_at_extreme, empty=False)


def _norm_infer(
    data: Spec,
    *,
    ord: int,  # noqa: A002  # MXNet's name
    axis: Axes | None,
    out_dtype: str | None,
    keepdims: bool,
) -> tuple[Spec]:
    if ord not in (1, 2):
        raise OperatorError(f"norm: expected ord 1 or 2, got {ord}")
    axes = reduced_axes("norm", len(data.shape), axis)
    shape = _reduced_shape(data.shape, axes, keepdims)
    return (Spec(shape, data.dtype if out_dtype is None else np.dtype(out_dtype)),)


# Sums of squares above this have lost no precision to underflow.
SAFE = {dtype: np.finfo(dtype).tiny / np.finfo(dtype).eps ** 2 for dtype in (FLOAT32, FLOAT64)}


def root_of_squares(xp: ModuleType, x: Any, axes: Axes) -> Any:
    """Return the square root of a sum of float32 or float64 squares, without over- or underflow."""
    # On a GPU testing the sums would synchronize.
    if xp is np or not x.size:
        squares = total(xp, x * x, axes)
        if not x.size or (squares.min() > SAFE[x.dtype] and squares.max() < math.inf):
            return xp.sqrt(squares)
    max_magnitude = xp.max(xp.abs(x), axis=axes, keepdims=True)
    # A power of two: scaling does not change the bits where it is not needed.
    exponent = xp.frexp(xp.where(max_magnitude < math.inf, max_magnitude, x.dtype.type(1)))[1]
    scale = xp.ldexp(x.dtype.type(1), exponent - 1)
    scaled = x / scale
    return xp.sqrt(total(xp, scaled * scaled, axes)) * scale.reshape(
        [n for i, n in enumerate(x.shape) if i not in axes]
    )


def _norm_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    ord: int,  # noqa: A002  # MXNet's name
    axis: Axes | None,
    out_dtype: str | None,
    keepdims: bool,
) -> None:
    axes = reduced_axes("norm", data.ndim, axis)
    real = as_real(xp, data)
    sums = ord == 1
    size = total(xp, xp.abs(real), axes) if sums else root_of_squares(xp, real, axes)
    out[...] = size.astype(out.dtype).reshape(out.shape)


def _norm_gradient(
    g: V,
    x: V,
    y: V,
    *,
    ord: int,  # noqa: A002  # MXNet's name
    axis: Axes | None,
    out_dtype: str | None,
    keepdims: bool,
) -> tuple[Any]:
    reduced = _reduced_shape(x.shape, reduced_axes("norm", len(x.shape), axis), keepdims=True)
    if out_dtype is not None:
        dtype: Any = x.dtype  # type: ignore[attr-defined]  # values have a dtype
        g, y = cast(g, dtype), cast(y, dtype)
    if ord == 1:
        return (_spread(g, x, reduced) * SIGN(x),)
    return (reshape(over_root(g, y), reduced) * x,)


NORM = register(
    Operator(
        "norm",
        _norm_infer,
        _norm_kernel,
        Gradient(_norm_gradient, uses_output=True),
        doc=(
            "Compute the norm along axis, or over all elements: the sum of absolute values\n"
            "(ord=1) or the square root of the sum of squares (ord=2).\n\n"
            "Shapes: data any, output data's without the axes in axis, or with size 1 there\n"
            "(keepdims); (1,) without remaining axes."
        ),
        schema=Schema(
            ord=integer(2),
            axis=optional(shape_attr()),
            out_dtype=choice(
                None, "float16", "float32", "float64", "int32", "int64", "int8", default=None
            ),
            keepdims=boolean(False),
        ),
        aliases=("_sparse_norm",),
    )
)


def sum_(x: Any, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the sum along axes, all by default."""
    return apply(SUM, (x,), {"axis": axis, "keepdims": keepdims, "exclude": False})
