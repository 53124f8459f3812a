"""Reductions along axes, and cumulative sums and products."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import BOOL, is_floating
from gluonish.onnx.importing.arrays import axis_of, dtype_of, filled, integer, op, wide
from gluonish.onnx.importing.families.shapes import axes_given
from gluonish.onnx.importing.nodes import Call, Rule

Reduce = Callable[..., Any]


def _reduction(function: Reduce) -> Rule:
    def rule(call: Call, x: Any, axes: Any = None) -> Any:
        given = axes_given(call, axes)
        rank = len(x.shape)
        if not given and call.attr("noop_with_empty_axes", 0):
            return _on_each(call, x)
        chosen = tuple(axis_of(a, rank) for a in given) if given else tuple(range(rank))
        if not rank:
            return _on_each(call, x)
        keepdims = bool(call.attr("keepdims", 1))
        return function(wide(x), axis=chosen, keepdims=keepdims).astype(x.dtype)

    return rule


def _on_each(call: Call, x: Any) -> Any:
    """Reduce over no axes: apply the reduction to each element separately."""
    kind = call.node.kind
    if kind in ("ReduceL1", "ReduceL2"):
        return mnp.abs(x)
    if kind == "ReduceSumSquare":
        return x * x
    return mnp.log(x) if kind == "ReduceLogSum" else x


def _integral(function: Reduce) -> Reduce:
    """Return a reduction by sum or product that keeps the dtype of integers."""

    def reduce(x: Any, axis: tuple[int, ...], *, keepdims: bool) -> Any:
        return function(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

    return reduce


def _extreme(name: str) -> Reduce:
    def reduce(x: Any, axis: tuple[int, ...], *, keepdims: bool) -> Any:
        if dtype_of(x) == BOOL:
            return _extreme(name)(x.astype(np.uint8), axis, keepdims=keepdims)
        if any(x.shape[i] == 0 for i in axis):
            return _of_nothing(name, x, axis, keepdims=keepdims)
        return getattr(mnp, name)(x, axis=axis, keepdims=keepdims)

    return reduce


def _of_nothing(name: str, x: Any, axis: tuple[int, ...], *, keepdims: bool) -> Any:
    """Return the maximum or minimum over empty axes: the least or greatest value of the dtype."""
    dtype = dtype_of(x)
    if is_floating(dtype):
        number: Any = -np.inf if name == "max" else np.inf
    else:
        limits = np.iinfo(dtype)
        number = limits.min if name == "max" else limits.max
    shape = [1 if i in axis else n for i, n in enumerate(x.shape) if keepdims or i not in axis]
    return filled(shape, number, dtype)


def _l1(x: Any, **options: Any) -> Any:
    return mnp.sum(mnp.abs(x), **options)


def _l2(x: Any, **options: Any) -> Any:
    real = x if is_floating(dtype_of(x)) else x.astype(np.float64)
    return mnp.sqrt(mnp.sum(real * real, **options))


def _log_sum(x: Any, **options: Any) -> Any:
    return mnp.log(mnp.sum(x, **options))


def _log_sum_exp(x: Any, axis: tuple[int, ...], *, keepdims: bool) -> Any:
    real = x if is_floating(dtype_of(x)) else x.astype(np.float64)
    if any(x.shape[i] == 0 for i in axis):
        return mnp.log(mnp.sum(mnp.exp(real), axis=axis, keepdims=keepdims))
    top = op("BlockGrad")(mnp.max(real, axis=axis, keepdims=True))
    top = mnp.where(mnp.isfinite(top), top, mnp.zeros_like(top))
    found = mnp.log(mnp.sum(mnp.exp(real - top), axis=axis, keepdims=True)) + top
    return found if keepdims else mnp.squeeze(found, axis=axis)


def _sum_square(x: Any, **options: Any) -> Any:
    return _integral(mnp.sum)(x * x, **options)


def _mean(x: Any, **options: Any) -> Any:
    return mnp.mean(x, **options)


def _arg(name: str) -> Rule:
    def rule(call: Call, x: Any) -> Any:
        axis = axis_of(call.attr("axis", 0), len(x.shape))
        last = bool(call.attr("select_last_index", 0))
        rows = mnp.flip(x, axis=axis) if last else x
        found = getattr(mnp, name)(rows, axis=axis).astype(np.int64)
        if last:
            found = x.shape[axis] - 1 - found
        return mnp.expand_dims(found, axis) if call.attr("keepdims", 1) else found

    return rule


def _cumulative(call: Call, x: Any, axis: Any) -> Any:
    """Return cumulative sums (or products) along an axis."""
    along = axis_of(integer(axis), len(x.shape))
    backwards, exclusive = call.attr("reverse", 0), call.attr("exclusive", 0)
    rows = mnp.flip(x, axis=along) if backwards else x
    if call.node.kind == "CumSum":
        found = mnp.cumsum(rows, axis=along, dtype=rows.dtype)
        first = mnp.zeros_like(_slice(rows, along, 0, 1))
    else:
        found = _products(rows, along)
        first = mnp.ones_like(_slice(rows, along, 0, 1))
    if exclusive:
        rest = _slice(found, along, 0, x.shape[along] - 1)
        found = mnp.concatenate([first, rest], axis=along)
    return mnp.flip(found, axis=along) if backwards else found


def _slice(x: Any, axis: int, start: int, end: int) -> Any:
    return x[(*(slice(None),) * axis, slice(start, end))]


def _products(x: Any, axis: int) -> Any:
    """Return cumulative products, in log2(length) steps."""
    step, extent = 1, x.shape[axis]
    while step < extent:
        ahead = _slice(x, axis, 0, step)
        product = _slice(x, axis, step, extent) * _slice(x, axis, 0, extent - step)
        x = mnp.concatenate([ahead, product], axis=axis)
        step *= 2
    return x


RULES: dict[str, Rule] = {
    "ReduceSum": _reduction(_integral(mnp.sum)),
    "ReduceMean": _reduction(_mean),
    "ReduceProd": _reduction(_integral(mnp.prod)),
    "ReduceMax": _reduction(_extreme("max")),
    "ReduceMin": _reduction(_extreme("min")),
    "ReduceL1": _reduction(_l1),
    "ReduceL2": _reduction(_l2),
    "ReduceLogSum": _reduction(_log_sum),
    "ReduceLogSumExp": _reduction(_log_sum_exp),
    "ReduceSumSquare": _reduction(_sum_square),
    "ArgMax": _arg("argmax"),
    "ArgMin": _arg("argmin"),
    "CumSum": _cumulative,
    "CumProd": _cumulative,
}
