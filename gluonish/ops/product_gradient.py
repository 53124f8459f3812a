"""Gradient of a product over axes: of every element, the product of all others.

It is the product divided by the element where that is exact. Where the product is 0, infinite or
NaN, the others are multiplied. Their own gradient multiplies halves, and divides nothing.
"""

from math import inf, prod
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape
from gluonish.ops.cast import cast
from gluonish.ops.concat import concat
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.reshape import reshape
from gluonish.ops.slice import slice_axis
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.transpose import transpose

__all__ = ["others_times"]


def _order(rank: int, axes: Shape) -> Shape:
    """Return the axes with those of the product behind all others."""
    return (*(i for i in range(rank) if i not in axes), *axes)


def _products_of_others(xp: ModuleType, rows: Any) -> Any:
    """Return, for each element along the last axis, the product of the others."""
    multiply = np.multiply.accumulate if xp is np else xp.cumprod
    before, behind = xp.ones_like(rows), xp.ones_like(rows)
    before[..., 1:] = multiply(rows[..., :-1], axis=-1, dtype=rows.dtype)
    behind[..., :-1] = multiply(rows[..., :0:-1], axis=-1, dtype=rows.dtype)[..., ::-1]
    return before * behind


def _kept(shape: Shape, axis: Shape) -> Shape:
    kept = [*shape]
    for i in axis:
        kept[i] = 1
    return tuple(kept)


def _all_exact(y: Any) -> bool:
    """Whether products in NumPy divide by each element: they are neither 0, infinite nor NaN."""
    if y.size == 1:
        return 0 < abs(y.item()) < inf
    return bool(np.count_nonzero(y) == y.size == np.count_nonzero(np.isfinite(y)))


def _kernel(xp: ModuleType, out: Any, g: Any, x: Any, y: Any, *, axis: Shape) -> None:
    kept = _kept(x.shape, axis)
    g, y = g.reshape(kept), y.reshape(kept)
    if is_floating(out.dtype):
        if xp is np and _all_exact(y):
            np.divide(g * y, x, out=out)
            return
        plain = g * y / x
        exact = (y != 0) & (abs(y) < inf)
        exact = exact | (x != x)  # NaN shows at its own place, too
    else:
        plain, exact = g, xp.zeros(g.shape, bool)
    order = _order(x.ndim, axis)
    moved = widen(x).transpose(order)
    rows = moved.reshape(*moved.shape[: x.ndim - len(axis)], prod(x.shape[i] for i in axis))
    back = [order.index(i) for i in range(x.ndim)]
    others = _products_of_others(xp, rows).reshape(moved.shape).transpose(back)
    out[...] = xp.where(exact, plain, (widen(g) * others).astype(out.dtype))


def _halves(x: Any) -> Any:
    """Return the products along the last axis, which keep it with size 1."""
    while x.shape[-1] > 1:
        half, odd = divmod(x.shape[-1], 2)
        pairs = slice_axis(x, -1, 0, half) * slice_axis(x, -1, half, 2 * half)
        x = concat([pairs, slice_axis(x, -1, 2 * half, 2 * half + 1)], -1) if odd else pairs
    return x


def _multiplied(x: Any, axis: Shape) -> Any:
    order = _order(len(x.shape), axis)
    lead = tuple(x.shape[i] for i in order[: len(x.shape) - len(axis)])
    flat = reshape(transpose(x, order), (*lead, prod(x.shape[i] for i in axis)))
    return reshape(_halves(flat), _kept(x.shape, axis))


def _formula(g: Any, x: Any, _y: Any, *, axis: Shape) -> Any:
    """What the kernel computes, in operators."""
    dtype = np.dtype(x.dtype)
    wide = accumulator(dtype)
    rule = composite_gradient(lambda value: _multiplied(value, axis))
    return cast(rule(cast(reshape(g, _kept(x.shape, axis)), wide), cast(x, wide))[0], dtype)


_OTHERS_TIMES = register(
    Operator(
        "_others_times",
        lambda g, x, y, **_: (x,),
        _kernel,
        composite_gradient(_formula),
        doc=(
            "Gradient of a product over axis: g times, for each element of x, the product y of\n"
            "all without it.\n\n"
            "Shapes: x any, g and y the same with size 1 along axis, output x's."
        ),
        inputs=("g", "x", "y"),
        schema=Schema(axis=shape_attr()),
    )
)


def others_times(g: Any, x: Any, y: Any, axis: Shape) -> Any:
    """Return the gradient of a product.

    Args:
        g: Gradient of the product, with size 1 along ``axis`` or without these axes.
        x: What was multiplied.
        y: The product, of the shape of ``g``.
        axis: What was multiplied over; ascending, from 0.
    """
    return apply(_OTHERS_TIMES, (g, x, y), {"axis": axis})
