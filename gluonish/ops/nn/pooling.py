"""Pooling: the maximum, mean, sum or p-norm of windows, and its gradient."""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, optional, shape
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.elementwise.binary import EQUAL
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support import whole_window
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.windows import (
    Geometry,
    WindowSum,
    channels_first,
    channels_last,
    check_windows,
    is_channels_last,
    normalize_geometry,
    padded_for_windows,
    window_elements,
)
from gluonish.ops.support.work import remembered

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}

_SCHEMA = Schema(
    kernel=shape(()),
    pool_type=choice("max", "avg", "sum", "lp", default="max"),
    global_pool=boolean(False),
    cudnn_off=boolean(False),
    pooling_convention=choice("full", "valid", "same", default="valid"),
    stride=shape(()),
    pad=shape(()),
    p_value=optional(integer()),
    count_include_pad=optional(boolean()),
    layout=choice(None, *(name for pair in _LAYOUTS.values() for name in pair), default=None),
)


def pooling_plan(
    spatial: Shape,
    *,
    kernel: Shape,
    stride: Shape,
    pad: Shape,
    global_pool: bool,
    pooling_convention: str,
    **_: object,
) -> tuple[Geometry, Shape]:
    """Return the window, with defaults filled in, and the number of windows along each axis.

    Unknown extents of the pooled axes ``spatial`` have an unknown number of windows.

    Raises:
        OperatorError: The attributes do not match each other or the data.
    """
    rank = len(spatial)
    if global_pool:
        if 0 in spatial:
            raise OperatorError(f"Pooling: expected elements to pool, got sizes {spatial}")
        return Geometry(spatial, (1,) * rank, (1,) * rank, (0,) * rank), (1,) * rank
    if len(kernel) != rank:
        raise OperatorError(
            f"Pooling: expected a kernel of {rank} axes for data of {rank + 2}, got {kernel}"
        )
    if pooling_convention == "same" and any(pad):
        raise OperatorError(f"Pooling: expected no pad with pooling_convention='same', got {pad}")
    geometry = normalize_geometry("Pooling", kernel, *pooling_steps(rank, stride, pad))
    if any(p >= k for p, k in zip(geometry.pad, kernel, strict=True)):
        raise OperatorError(
            f"Pooling: expected pad smaller than kernel {kernel}, got {geometry.pad}"
        )
    return geometry, tuple(
        UNKNOWN if extent == UNKNOWN else _count(extent, k, s, p, pooling_convention)
        for extent, k, s, p in zip(spatial, kernel, geometry.stride, geometry.pad, strict=True)
    )


def pooling_steps(rank: int, stride: Shape, pad: Shape) -> tuple[Shape, Shape, Shape]:
    """Return strides, dilations and padding of ``rank`` axes from the attributes.

    As in MXNet, extra elements are ignored where one axis is pooled.
    """
    ones, zeros = (1,) * rank, (0,) * rank
    if rank == 1:
        stride, pad = stride[:1], pad[:1]
    return stride or ones, ones, pad or zeros


def _count(extent: int, kernel: int, stride: int, pad: int, convention: str) -> int:
    if convention == "same":
        return -(-extent // stride)
    room = extent + 2 * pad - kernel
    if room < 0:
        raise OperatorError(
            f"Pooling: expected a kernel of at most {extent + 2 * pad}, the padded size, got "
            f"{kernel}"
        )
    return (-(-room // stride) if convention == "full" else room // stride) + 1


def _spatial(data: Shape, layout: str | None) -> Shape:
    if not 3 <= len(data) <= 5 or (layout is not None and len(layout) != len(data)):
        raise OperatorError(
            f"Pooling: expected data of 3 to 5 axes that fit layout {layout}, got {data}"
        )
    return data[1:-1] if is_channels_last(layout) else data[2:]


def _out_shape(data: Shape, attrs: Attrs) -> Shape:
    layout = attrs["layout"]
    counts = pooling_plan(_spatial(data, layout), **attrs)[1]
    channels = data[-1] if is_channels_last(layout) else data[1]
    return channels_last((data[0], channels, *counts), layout)


def _check_sizes(data: Shape, attrs: Attrs) -> None:
    layout = attrs["layout"]
    spatial = _spatial(data, layout)
    geometry, counts = pooling_plan(spatial, **attrs)
    channels = data[-1] if is_channels_last(layout) else data[1]
    check_windows("Pooling", (data[0], channels, *spatial), counts, geometry)
    limited("Pooling", (data[0], channels, *counts))


@remembered
def _infer(data: Spec, **attrs: Any) -> tuple[Spec]:
    kind, p = attrs["pool_type"], attrs["p_value"]
    if kind != "max" and not is_floating(data.dtype):
        raise OperatorError(
            f"Pooling: expected floating data for pool_type={kind!r}, got {data.dtype.name}"
        )
    if kind == "lp" and p not in (1, 2, 3):
        raise OperatorError(f"Pooling: expected p_value 1, 2 or 3 for pool_type='lp', got {p}")
    _check_sizes(data.shape, attrs)
    return (Spec(_out_shape(data.shape, attrs), data.dtype),)


def _lowest(dtype: np.dtype[Any]) -> float:
    if is_floating(dtype):
        return -math.inf
    return 0 if dtype.kind == "b" else int(np.iinfo(dtype).min)


def _max(xp: ModuleType, out: Any, data: Any, geometry: Geometry) -> None:
    counts = out.shape[2:]
    if whole_window.covers(data.shape[2:], counts, geometry):
        out[...] = whole_window.maximum(data)
        return
    padded = padded_for_windows(xp, data, geometry, counts, _lowest(data.dtype))
    first = True
    for _, window_index in window_elements(geometry, counts):
        if first:
            out[...] = padded[window_index]
        else:
            xp.maximum(out, padded[window_index], out=out)
        first = False


def _sum(xp: ModuleType, counts: Shape, data: Any, geometry: Geometry) -> Any:
    """Return the sums of windows, in the accumulator's dtype."""
    if whole_window.covers(data.shape[2:], counts, geometry):
        return whole_window.total(data)
    padded = padded_for_windows(xp, data, geometry, counts)
    total = xp.zeros((*data.shape[:2], *counts), dtype=accumulator(data.dtype))
    for _, window_index in window_elements(geometry, counts):
        total += padded[window_index]
    return total


@lru_cache(maxsize=256)
def _lengths(
    spatial: Shape, counts: Shape, geometry: Geometry, with_pad: bool
) -> tuple[Shape, ...]:
    """Return the extent of each window along each axis."""
    found = []
    for axis, (extent, count) in enumerate(zip(spatial, counts, strict=True)):
        pad = geometry.pad[axis]
        start = np.arange(count) * geometry.stride[axis] - pad
        end = np.minimum(start + geometry.kernel[axis], extent + pad)
        if not with_pad:
            start, end = np.maximum(start, 0), np.minimum(end, extent)
        found.append(tuple(np.maximum(end - start, 1).tolist()))
    return tuple(found)


def _divisors(
    xp: ModuleType, spatial: Shape, counts: Shape, geometry: Geometry, with_pad: bool, dtype: Any
) -> Any:
    """Return the number of elements each window averages, as a number or an array to broadcast.

    Nothing is copied from the host: only a few windows, at the ends of an axis, are smaller.
    """
    lengths = _lengths(spatial, counts, geometry, with_pad)
    product: Any = dtype.type(1)
    for axis, along in enumerate(lengths):
        usual = along[len(along) // 2]
        if along.count(usual) == len(along):
            product = product * dtype.type(usual)
            continue
        row = xp.full(len(along), usual, dtype=dtype)
        start = 0
        for length, run in groupby(along):
            stop = start + len(list(run))
            if length != usual:
                row[start:stop] = length
            start = stop
        product = row.reshape(-1, *(1,) * (len(counts) - axis - 1)) * product
    return product


def _norm(xp: ModuleType, counts: Shape, data: Any, geometry: Geometry, p: int) -> Any:
    total = _sum(xp, counts, widen(data) ** p, geometry)
    return {1: lambda x: x, 2: xp.sqrt, 3: xp.cbrt}[p](total)


def _kernel(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    layout, kind = attrs["layout"], attrs["pool_type"]
    data, result = channels_first(xp, data, layout), channels_first(xp, out, layout)
    geometry, counts = pooling_plan(data.shape[2:], **attrs)
    if kind == "max":
        _max(xp, result, data, geometry)
    elif kind == "lp":
        result[...] = _norm(xp, counts, data, geometry, attrs["p_value"])
    else:
        total = _sum(xp, counts, data, geometry)
        if kind == "avg":
            with_pad = attrs["count_include_pad"] is not False
            total /= _divisors(xp, data.shape[2:], counts, geometry, with_pad, total.dtype)
        result[...] = total


def _for_each_maximum(
    xp: ModuleType,
    data: Any,
    out: Any,
    geometry: Geometry,
    visit: Callable[[tuple[Any, ...], Any], None],
) -> None:
    """Call ``visit(window_index, hit)`` for each index in a window.

    ``window_index`` is from `window_elements`; ``hit`` is the mask of windows whose first maximum
    is at this index.
    """
    counts = out.shape[2:]
    padded = padded_for_windows(xp, data, geometry, counts, _lowest(data.dtype))
    found = xp.zeros(out.shape, dtype=bool)
    for _, window_index in window_elements(geometry, counts):
        hit = padded[window_index] == out
        hit &= ~found
        found |= hit
        visit(window_index, hit)


def _backward_kernel(
    xp: ModuleType, result: Any, grad: Any, data: Any, out: Any, **attrs: Any
) -> None:
    layout, kind = attrs["layout"], attrs["pool_type"]
    grad, data, out, result = (channels_first(xp, a, layout) for a in (grad, data, out, result))
    geometry, counts = pooling_plan(data.shape[2:], **attrs)
    grad = widen(grad)
    if kind == "avg":
        with_pad = attrs["count_include_pad"] is not False
        grad = grad / _divisors(xp, data.shape[2:], counts, geometry, with_pad, grad.dtype)
    if whole_window.covers(data.shape[2:], counts, geometry):
        hit = whole_window.first_maximum(xp, data, out) if kind == "max" else None
        result[...] = grad if hit is None else xp.where(hit, grad, 0)
        return
    sums = WindowSum(xp, data.shape, geometry, counts, grad.dtype)
    if kind == "max":

        def visit(window_index: tuple[Any, ...], hit: Any) -> None:
            sums.total[window_index] += xp.where(hit, grad, 0)

        _for_each_maximum(xp, data, out, geometry, visit)
    else:
        for _, window_index in window_elements(geometry, counts):
            sums.total[window_index] += grad
    result[...] = sums.result()


def _select_kernel(
    xp: ModuleType, result: Any, values: Any, data: Any, out: Any, **attrs: Any
) -> None:
    layout = attrs["layout"]
    values, data, out, result = (channels_first(xp, a, layout) for a in (values, data, out, result))
    geometry, counts = pooling_plan(data.shape[2:], **attrs)
    if whole_window.covers(data.shape[2:], counts, geometry):
        hit = whole_window.first_maximum(xp, data, out)
        result[...] = whole_window.total(xp.where(hit, values, 0))
        return
    padded = padded_for_windows(xp, values, geometry, counts)
    result[...] = 0

    def visit(window_index: tuple[Any, ...], hit: Any) -> None:
        result[...] = xp.where(hit, padded[window_index], result)

    _for_each_maximum(xp, data, out, geometry, visit)


def _gradient(g: V, data: V, out: V, **attrs: Any) -> tuple[Any]:
    if attrs["pool_type"] != "lp":
        return (apply(POOLING_BACKWARD, (g, data, out), attrs),)
    p = attrs["p_value"]
    # A norm of 0 has gradient 0: its data is 0, and the divisor becomes 1.
    norm = out + EQUAL(out, 0.0)
    scaled = g if p == 1 else g / norm if p == 2 else g / (norm * norm)
    spread = apply(POOLING_BACKWARD, (scaled, data, out), {**attrs, "pool_type": "sum"})
    return (spread if p == 1 else spread * data if p == 2 else spread * data * data,)


def _backward_gradient(g: V, grad: V, data: V, out: V, **attrs: Any) -> tuple[Any, ...]:
    if attrs["pool_type"] == "max":
        return apply(_SELECT, (g, data, out), attrs), None, None
    return apply(POOLING, (g,), attrs), None, None


def _select_gradient(g: V, values: V, data: V, out: V, **attrs: Any) -> tuple[Any, ...]:
    return apply(POOLING_BACKWARD, (g, data, out), attrs), None, None


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, out = inputs[0], outputs[0]
    dtype = merge_dtypes(data.dtype, out.dtype, "Pooling")
    shape = out.shape
    if data.shape is not None:
        shape = merge_shapes(_out_shape(data.shape, attrs), shape, "Pooling output")
    inputs[0], outputs[0] = PartialSpec(data.shape, dtype), PartialSpec(shape, dtype)


POOLING = register(
    Operator(
        "Pooling",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Pooling: the maximum, mean, sum or p-norm of each window of the spatial axes.\n\n"
            "Each spatial output size is (size + 2 * pad - kernel) / stride + 1, rounded down\n"
            "('valid') or up ('full'); with 'same' it is size / stride rounded up, and windows\n"
            "begin at 0 and are clipped at the end of the data. global_pool uses one window for\n"
            "all data. Means include padding unless count_include_pad is False. 'lp' is the\n"
            "p-th root of the sum of p-th powers, with p_value 1, 2 or 3. Of equal maxima the\n"
            "first gets the gradient. In the layouts that end in C the channels are last.\n"
            "cudnn_off is accepted and ignored.\n\n"
            "Shapes: data (N, C, *spatial), output (N, C, *windows)."
        ),
        schema=_SCHEMA,
        aliases=("_npx_pooling",),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)

POOLING_BACKWARD = register(
    Operator(
        "_pooling_backward",
        lambda grad, data, out, **_: (data,),
        _backward_kernel,
        _backward_gradient,
        doc="Gradient of Pooling's data, from its output's gradient; all pool types but 'lp'.",
        inputs=("grad", "data", "out"),
        schema=_SCHEMA,
        execution=Execution(heavy=True),
    )
)

_SELECT = register(
    Operator(
        "_pooling_select",
        lambda values, data, out, **_: (out,),
        _select_kernel,
        _select_gradient,
        doc="The elements of values at the position of the maximum of data in each window.",
        inputs=("values", "data", "out"),
        schema=_SCHEMA,
        execution=Execution(heavy=True),
    )
)
