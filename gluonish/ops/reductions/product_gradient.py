"""Gradient of a product over axes: for every element, the product of all others.

This is the product divided by the element if that is exact, else (product 0, infinite or NaN) the
other elements are multiplied. The second derivative multiplies pairs, without divisions.
"""

from math import inf, prod
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.schema import Schema, boolean
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape
from gluonish.ops.elementwise.binary import EQUAL
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.constant_like import ones_like, zeros_like
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.indexing.where import where
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.shape.concat import concat
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen


def _order(rank: int, axes: Shape) -> Shape:
    """Return the order of axes with the axes of the product last."""
    return (*(i for i in range(rank) if i not in axes), *axes)


def _products_of_others(xp: ModuleType, rows: Any) -> Any:
    """Return, for each element along the last axis, the product of the others."""
    multiply = np.multiply.accumulate if xp is np else xp.cumprod
    before, after = xp.ones_like(rows), xp.ones_like(rows)
    before[..., 1:] = multiply(rows[..., :-1], axis=-1, dtype=rows.dtype)
    after[..., :-1] = multiply(rows[..., :0:-1], axis=-1, dtype=rows.dtype)[..., ::-1]
    return before * after


def _keepdims_shape(shape: Shape, axis: Shape) -> Shape:
    return tuple(1 if i in axis else extent for i, extent in enumerate(shape))


def _all_exact(y: Any) -> bool:
    """Return whether all products in NumPy are neither 0, infinite nor NaN."""
    if y.size == 1:
        return bool(0 < abs(y.item()) < inf)
    return bool(np.count_nonzero(y) == y.size == np.count_nonzero(np.isfinite(y)))


def _kernel(
    xp: ModuleType, out: Any, g: Any, x: Any, y: Any, *, axis: Shape, skips_nan: bool
) -> None:
    shape = _keepdims_shape(x.shape, axis)
    g, y = g.reshape(shape), y.reshape(shape)
    skips_nan = skips_nan and is_floating(out.dtype)
    if xp is np and is_floating(out.dtype) and _all_exact(y):
        np.divide(g * y, x, out=out)
    else:
        out[...] = _selected(
            xp, g, xp.where(x == x, x, x.dtype.type(1)) if skips_nan else x, y, axis
        )
    if skips_nan and (xp is not np or np.count_nonzero(x != x)):
        out[...] = xp.where(x == x, out, out.dtype.type(0))


def _selected(xp: ModuleType, g: Any, x: Any, y: Any, axis: Shape) -> Any:
    """Return the gradient of a product, computed by division where that is exact."""
    if is_floating(x.dtype):
        quotient = g * y / x
        exact = (y != 0) & (abs(y) < inf)
        exact = exact | (x != x)  # NaN elements have NaN gradients
    else:
        quotient, exact = g, xp.zeros(g.shape, bool)
    order = _order(x.ndim, axis)
    permuted = widen(x).transpose(order)
    rows = permuted.reshape(*permuted.shape[: x.ndim - len(axis)], prod(x.shape[i] for i in axis))
    inverse_order = [order.index(i) for i in range(x.ndim)]
    others = _products_of_others(xp, rows).reshape(permuted.shape).transpose(inverse_order)
    return xp.where(exact, quotient, (widen(g) * others).astype(x.dtype))


def _pairwise_product(x: Any) -> Any:
    """Multiply along the last axis, which is kept with size 1."""
    while x.shape[-1] > 1:
        half, odd = divmod(x.shape[-1], 2)
        pairs = slice_axis(x, -1, 0, half) * slice_axis(x, -1, half, 2 * half)
        x = concat([pairs, slice_axis(x, -1, 2 * half, 2 * half + 1)], -1) if odd else pairs
    return x


def _multiplied(x: Any, axis: Shape) -> Any:
    order = _order(len(x.shape), axis)
    lead = tuple(x.shape[i] for i in order[: len(x.shape) - len(axis)])
    flat = reshape(transpose(x, order), (*lead, prod(x.shape[i] for i in axis)))
    return reshape(_pairwise_product(flat), _keepdims_shape(x.shape, axis))


def _formula(g: Any, x: Any, _y: Any, *, axis: Shape, skips_nan: bool) -> Any:
    """Compute the kernel's result with operators."""
    dtype = np.dtype(x.dtype)
    wide = accumulator(dtype)
    rule = composite_gradient(lambda value: _multiplied(value, axis))
    factors = where(EQUAL(x, x), x, ones_like(x)) if skips_nan else x
    found = rule(cast(reshape(g, _keepdims_shape(x.shape, axis)), wide), cast(factors, wide))[0]
    found = cast(found, dtype)
    return where(EQUAL(x, x), found, zeros_like(found)) if skips_nan else found


_OTHERS_TIMES = register(
    Operator(
        "_others_times",
        lambda g, x, y, **_: (x,),
        _kernel,
        composite_gradient(_formula),
        doc=(
            "Compute the gradient of a product y over axis: g times the product of the other\n"
            "elements of x; with skips_nan NaN counts as 1 in x, and its gradient is 0.\n\n"
            "Shapes: x any, g and y the same with size 1 along axis or without it, output x's."
        ),
        inputs=("g", "x", "y"),
        schema=Schema(axis=shape_attr(), skips_nan=boolean(False)),
    )
)


def others_times(g: Any, x: Any, y: Any, axis: Shape, skips_nan: bool = False) -> Any:
    """Return the gradient of a product.

    Args:
        g: Gradient of the product, with size 1 along ``axis`` or without these axes.
        x: The factors.
        y: The product, of the shape of ``g``.
        axis: Axes of the product, nonnegative and ascending.
        skips_nan: Whether the product ignores NaN.
    """
    return apply(_OTHERS_TIMES, (g, x, y), {"axis": axis, "skips_nan": skips_nan})
