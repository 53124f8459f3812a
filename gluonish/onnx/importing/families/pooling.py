"""Pooling: max, mean and Lp, global pooling, and max unpooling."""

from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import INT64, is_floating
from gluonish.onnx.importing.arrays import array_of, check_table, dtype_of, integers, op
from gluonish.onnx.importing.families.convolution import Window
from gluonish.onnx.importing.families.shapes import padded
from gluonish.onnx.importing.nodes import Call, Rule


def _counts(call: Call, x: Any, window: Window) -> list[int]:
    """Return the number of windows along each axis."""
    counts = []
    for i, n in enumerate(x.shape[2:]):
        reach = window.dilations[i] * (window.kernel[i] - 1) + 1
        room = n + window.before[i] + window.after[i] - reach
        stride = window.strides[i]
        count = room // stride + 1
        if call.attr("ceil_mode", 0):
            count = -(-room // stride) + 1
            # Windows may not start in the padding at the end.
            if (count - 1) * stride >= n + window.before[i]:
                count -= 1
        if count < 1:
            call.wrong(f"expected windows that fit into {x.shape}, got kernel {window.kernel}")
        counts.append(count)
    return counts


def _places(call: Call, x: Any, window: Window) -> list[np.ndarray[Any, Any]]:
    """Return the indices of the elements in each window, (windows, kernel), for each axis."""
    found = []
    for i, count in enumerate(_counts(call, x, window)):
        check_table(count, window.kernel[i])
        starts = np.arange(count)[:, None] * window.strides[i] - window.before[i]
        found.append(starts + np.arange(window.kernel[i])[None, :] * window.dilations[i])
    return found


def _windows(x: Any, places: list[np.ndarray[Any, Any]], number: Any) -> Any:
    """Return the windows' elements (N, C, windows .., elements); ``number`` is the padding."""
    rank = len(places)
    low = [max(0, -int(p.min())) for p in places]
    high = [max(0, int(p.max()) + 1 - n) for p, n in zip(places, x.shape[2:], strict=True)]
    x = padded(x, [(0, 0), (0, 0), *zip(low, high, strict=True)], "constant", number)
    for i, p in enumerate(places):
        x = mnp.take(x, array_of((p + low[i]).astype(np.int64)), axis=2 + 2 * i, mode="clip")
    order = [0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 2 + 2 * rank, 2)]
    counts = [len(p) for p in places]
    return mnp.reshape(mnp.transpose(x, order), (*x.shape[:2], *counts, -1))


def _simple(call: Call, x: Any, kind: str, **options: Any) -> Any:
    """Apply gluonish's Pooling if it supports the windows; return None otherwise."""
    window = Window(call, x.shape[2:])
    plain = set(window.dilations) == {1} and window.is_even and is_floating(dtype_of(x))
    fits = all(2 * b <= k for b, k in zip(window.before, window.kernel, strict=True))
    if not plain or not fits or call.attr("ceil_mode", 0) or not 1 <= len(window.kernel) <= 3:
        return None
    shapes = {"kernel": window.kernel, "stride": window.strides, "pad": window.before}
    return op("Pooling")(x, pool_type=kind, **shapes, **options)


def _max_pool(call: Call, x: Any) -> Any:
    simple = None if call.wants(1) else _simple(call, x, "max")
    if simple is not None:
        return simple
    window = Window(call, x.shape[2:])
    places = _places(call, x, window)
    dtype = dtype_of(x)
    lowest = -np.inf if is_floating(dtype) else np.iinfo(dtype).min
    elements = _windows(x, places, lowest)
    found = mnp.max(elements, axis=-1)
    if not call.wants(1):
        return found
    return found, _indices(call, x, elements, places)


def _indices(call: Call, x: Any, elements: Any, places: list[np.ndarray[Any, Any]]) -> Any:
    """Return the flat indices of the maxima in the input."""
    shape = x.shape[2:]
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    if call.attr("storage_order", 0):
        strides = [prod(shape[:i]) for i in range(len(shape))]
    rank = len(places)
    flat: Any = 0
    for i, (p, step) in enumerate(zip(places, strides, strict=True)):
        axes = [p.shape[0] if j == i else 1 for j in range(rank)]
        axes += [p.shape[1] if j == i else 1 for j in range(rank)]
        flat = flat + (p * step).reshape(axes)
    counts = [len(p) for p in places]
    table = np.broadcast_to(np.reshape(flat, (*counts, -1)), elements.shape)
    chosen = mnp.expand_dims(op("argmax")(elements, axis=-1).astype(INT64), -1)
    inside = mnp.squeeze(
        op("_take_along")(array_of(table.astype(np.int64)), chosen, axis=-1), axis=-1
    )
    images = np.arange(prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * rank) * prod(shape)
    return inside + array_of(images.astype(np.int64))


def _average_pool(call: Call, x: Any) -> Any:
    whole = bool(call.attr("count_include_pad", 0))
    simple = _simple(call, x, "avg", count_include_pad=whole)
    if simple is not None:
        return simple
    window = Window(call, x.shape[2:])
    places = _places(call, x, window)
    total = mnp.sum(_windows(x, places, 0), axis=-1)
    shares: Any = np.ones((), np.float64)
    for i, (p, n) in enumerate(zip(places, x.shape[2:], strict=True)):
        low, high = (-window.before[i], n + window.after[i]) if whole else (0, n)
        inside = ((p >= low) & (p < high)).sum(1)
        shares = shares[..., None] * inside
    return total / array_of(shares.astype(dtype_of(x)))


def _lp_pool(call: Call, x: Any) -> Any:
    power = call.attr("p", 2)
    places = _places(call, x, Window(call, x.shape[2:]))
    elements = mnp.abs(_windows(x, places, 0))
    return mnp.power(mnp.sum(mnp.power(elements, power), axis=-1), 1 / power).astype(x.dtype)


def _global(kind: str) -> Rule:
    def rule(call: Call, x: Any) -> Any:
        rank = len(x.shape) - 2
        if 1 <= rank <= 3:
            return op("Pooling")(x, pool_type=kind, global_pool=True, kernel=(1,) * rank)
        reduce = mnp.max if kind == "max" else mnp.mean
        return reduce(x, axis=tuple(range(2, rank + 2)), keepdims=True)

    return rule


def _global_lp(call: Call, x: Any) -> Any:
    power = call.attr("p", 2)
    axes = tuple(range(2, len(x.shape)))
    total = mnp.sum(mnp.power(mnp.abs(x), power), axis=axes, keepdims=True)
    return mnp.power(total, 1 / power)


def _max_unpool(call: Call, x: Any, indices: Any, shape: Any = None) -> Any:
    """Scatter elements to the positions that `_max_pool` returned, with 0 elsewhere."""
    kernel = call.attr("kernel_shape")
    strides = call.attr("strides") or [1] * len(kernel)
    pads = call.attr("pads") or [0] * 2 * len(kernel)
    spatial = [
        (n - 1) * s + k - pads[i] - pads[len(kernel) + i]
        for i, (n, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    own = [*x.shape[:2], *spatial]
    target = own if shape is None else integers(shape)
    places = mnp.reshape(indices, (1, -1)).astype(INT64)
    if target != own:  # the indices refer to the smaller image
        grid = np.indices(own).reshape(len(own), -1)
        table = array_of(np.ravel_multi_index(tuple(grid), target).astype(np.int64))
        places = mnp.take(table, places, axis=0)
    zeros = mnp.zeros((prod(target),), dtype=x.dtype)
    flat = op("_scatter_set_nd")(zeros, mnp.reshape(x, (-1,)), places, shape=(prod(target),))
    return mnp.reshape(flat, tuple(target))


RULES: dict[str, Rule] = {
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "LpPool": _lp_pool,
    "GlobalMaxPool": _global("max"),
    "GlobalAveragePool": _global("avg"),
    "GlobalLpPool": _global_lp,
    "MaxUnpool": _max_unpool,
}
