"""BatchNorm's sums and gradient, each in one pass over memory.

There is one loop for channels-last arrays (rows of channels), and one for contiguous arrays (a run
of elements for each sample and channel). Blocks of elements are summed in float32, and the blocks
in float64. A channel's elements are first shifted by one of its values, so that a large mean does
not cost precision. Each chunk of the batch has separate sums; chunks do not depend on the number of
threads, so neither do results. Float32 only.
"""

import math
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.normalization.batch_norm import update_moving
from gluonish.ops.normalization.batch_norm_parts import (
    BATCH_NORM_DATA_GRADIENT,
    BATCH_NORM_STATISTICS,
    BATCH_NORM_SUMS,
    Bounds,
    add_bias,
    finish_statistics,
    finish_sums,
)
from gluonish.ops.registry import Attrs, Operator

_CHUNKS = 32
_SMALL = 1 << 14  # elements below which compiling does not pay

# Params: 0 rows (samples) per chunk, 1 total rows, 2 channels, 3 elements per run; then addresses.
# Arrays of sums are float64 of shape (chunks, 2, channels). Where it knows that there are channels,
# LLVM makes no second copy of the loops without them, and takes two thirds of the time.
_STATISTICS_LAST = """
def body(begin, end, params):
    step, rows, channels = params[0], params[1], params[2]
    if channels < 1:
        return
    x, sums, partial, shift = f32(params[4]), f64(params[5]), f32(params[6]), f32(params[7])
    for chunk in range(begin, end):
        first = chunk * 2 * channels
        second = first + channels
        for c in range(2 * channels):
            independent()
            sums[first + c] = 0.0
            partial[first + c] = float32(0)
        row = chunk * step
        stop = min(row + step, rows)
        while row < stop:
            block = min(row + 16, stop)
            while row < block:
                i = row * channels
                for c in range(channels):
                    independent()
                    a = x[i + c] - shift[c]
                    partial[first + c] += a
                    partial[second + c] += a * a
                row += 1
            for c in range(2 * channels):
                independent()
                sums[first + c] += float64(partial[first + c])
                partial[first + c] = float32(0)
"""

_STATISTICS_RUNS = """
def body(begin, end, params):
    step, rows, channels, run = params[0], params[1], params[2], params[3]
    x, sums, shift = f32(params[4]), f64(params[5]), f32(params[7])
    for chunk in range(begin, end):
        for c in range(channels):
            total = 0.0
            squares = 0.0
            k = shift[c]
            for n in range(chunk * step, min(chunk * step + step, rows)):
                i = (n * channels + c) * run
                for j in range(run):
                    a = float64(x[i + j] - k)
                    total += a
                    squares += a * a
            sums[chunk * 2 * channels + c] = total
            sums[chunk * 2 * channels + channels + c] = squares
"""

# {mask} is the gradient of the normalization's output, from the gradient `g` and `z`, the centered
# element.
_NORMALIZED = "z * scale[c] + beta[c]"


def _mask(bounds: Bounds) -> str:
    # Multiply by 0 or 1, since a select takes a third longer.
    if not bounds:
        return "g"
    if len(bounds) == 1:
        return f"g * float32({_NORMALIZED} > float32({bounds[0]!r}))"
    low, high = bounds
    below, above = f"{_NORMALIZED} < float32({low!r})", f"{_NORMALIZED} > float32({high!r})"
    return f"g * (float32(1) - float32({below}) - float32({above}))"


_SUMS_LAST = """
def body(begin, end, params):
    step, rows, channels = params[0], params[1], params[2]
    if channels < 1:
        return
    x, sums, partial, grad = f32(params[4]), f64(params[5]), f32(params[6]), f32(params[7])
    mean, scale, beta = f32(params[8]), f32(params[9]), f32(params[10])
    for chunk in range(begin, end):
        first = chunk * 2 * channels
        second = first + channels
        for c in range(2 * channels):
            independent()
            sums[first + c] = 0.0
            partial[first + c] = float32(0)
        row = chunk * step
        stop = min(row + step, rows)
        while row < stop:
            block = min(row + 16, stop)
            while row < block:
                i = row * channels
                for c in range(channels):
                    independent()
                    z = x[i + c] - mean[c]
                    g = grad[i + c]
                    a = {mask}
                    partial[first + c] += a
                    partial[second + c] += a * z
                row += 1
            for c in range(2 * channels):
                independent()
                sums[first + c] += float64(partial[first + c])
                partial[first + c] = float32(0)
"""

_SUMS_RUNS = """
def body(begin, end, params):
    step, rows, channels, run = params[0], params[1], params[2], params[3]
    x, sums, grad = f32(params[4]), f64(params[5]), f32(params[7])
    mean, scale, beta = f32(params[8]), f32(params[9]), f32(params[10])
    for chunk in range(begin, end):
        for c in range(channels):
            total = 0.0
            projection = 0.0
            for n in range(chunk * step, min(chunk * step + step, rows)):
                i = (n * channels + c) * run
                for j in range(run):
                    z = x[i + j] - mean[c]
                    g = grad[i + j]
                    a = {mask}
                    total += float64(a)
                    projection += float64(a * z)
            sums[chunk * 2 * channels + c] = total
            sums[chunk * 2 * channels + channels + c] = projection
"""

_GRADIENT_LAST = """
def body(begin, end, params):
    channels = params[2]
    x, out, grad = f32(params[4]), f32(params[5]), f32(params[6])
    mean, scale, beta = f32(params[7]), f32(params[8]), f32(params[9])
    slope, offset = f32(params[10]), f32(params[11])
    for row in range(begin, end):
        i = row * channels
        for c in range(channels):
            independent()
            z = x[i + c] - mean[c]
            g = grad[i + c]
            a = {mask}
            out[i + c] = a * scale[c] + (z * slope[c] + offset[c])
"""

_GRADIENT_RUNS = """
def body(begin, end, params):
    channels, run = params[2], params[3]
    x, out, grad = f32(params[4]), f32(params[5]), f32(params[6])
    mean, scale, beta = f32(params[7]), f32(params[8]), f32(params[9])
    slope, offset = f32(params[10]), f32(params[11])
    for row in range(begin, end):
        c = row % channels
        i = row * run
        for j in range(run):
            independent()
            z = x[i + j] - mean[c]
            g = grad[i + j]
            a = {mask}
            out[i + j] = a * scale[c] + (z * slope[c] + offset[c])
"""


@cache
def _kernel(last: str, runs: str, is_last: bool, bounds: Bounds) -> CompiledKernel:
    source = last if is_last else runs
    return compile_kernel(source.replace("{mask}", _mask(bounds)))


def _layout(*arrays: Array) -> bool | None:
    """Return True if all arrays are channels last, False if all are contiguous, else None."""
    if all(np.moveaxis(x, 1, -1).flags.c_contiguous for x in arrays):
        return True
    return False if all(x.flags.c_contiguous for x in arrays) else None


def _in_layout_of(pattern: Array, array: Array) -> Array:
    """Return the array, or a copy in the layout of ``pattern``, which has the same shape."""
    if _layout(pattern, array) is not None:
        return array
    copy = np.empty_like(pattern)
    copy[...] = array
    return copy


def _layout_message(array: Array) -> str:
    return f"batch_norm: expected contiguous memory or channels last, got strides {array.strides}"


def _sizes(data: Array, is_last: bool) -> tuple[int, int, int, int]:
    """Return the sizes that kernels need: rows per chunk, rows, channels, elements per run."""
    channels = data.shape[1]
    run = 1 if is_last else math.prod(data.shape[2:])
    rows = data.size // (channels * run)
    return -(-rows // _CHUNKS), rows, channels, run


def _chunk_sums(kernel: CompiledKernel, data: Array, is_last: bool, *others: Array) -> Any:
    step, rows, channels, run = _sizes(data, is_last)
    count = -(-rows // step)
    sums = np.empty((count, 2, channels), np.float64)
    partial = np.empty((count, 2, channels) if is_last else 0, np.float32)
    arrays = (data, sums, partial, *others)
    params = np.array([step, rows, channels, run, *map(address, arrays)], np.int64)
    kernel(count, params, 0 if data.size > _SMALL else count)
    return sums.sum(axis=0)


def _statistics(
    xp: ModuleType,
    outputs: Any,
    data: Array,
    gamma: Array,
    moving_mean: Array,
    moving_var: Array,
    bias: Array | None = None,
    *,
    eps: float,
    momentum: float,
    fix_gamma: bool,
    use_global_stats: bool,
    train: bool,
    **_: object,
) -> None:
    is_last = _layout(data)
    if is_last is None:
        raise RefusedError(_layout_message(data))
    if not train or use_global_stats:
        flags = {"use_global_stats": use_global_stats, "train": train, "fix_gamma": fix_gamma}
        arrays = (data, gamma, moving_mean, moving_var)
        BATCH_NORM_STATISTICS.kernel(xp, outputs, *arrays, eps=eps, momentum=momentum, **flags)
        return
    kernel = _kernel(_STATISTICS_LAST, _STATISTICS_RUNS, is_last, ())
    shift = np.moveaxis(data, 1, -1)[(0,) * (data.ndim - 1)].copy()
    totals = _chunk_sums(kernel, data, is_last, shift) / (data.size // data.shape[1])
    variance = np.maximum(totals[1] - totals[0] * totals[0], 0).astype(np.float32)
    mean = (totals[0] + shift).astype(np.float32)
    update_moving(moving_mean, mean, momentum)
    if bias is not None:
        add_bias(moving_mean, bias, momentum)
    update_moving(moving_var, variance, momentum)
    finish_statistics(xp, outputs, mean, variance, gamma, eps=eps, fix_gamma=fix_gamma)


def _sums(
    xp: ModuleType,
    outputs: Any,
    grad: Array,
    data: Array,
    mean: Array,
    inverse_std: Array,
    scale: Array,
    beta: Array,
    *,
    bounds: Bounds,
    fix_gamma: bool,
    use_global_stats: bool,
) -> None:
    flags = {"fix_gamma": fix_gamma, "use_global_stats": use_global_stats}
    grad = _in_layout_of(data, grad)
    is_last = _layout(grad, data)
    if is_last is None:
        raise RefusedError(_layout_message(data))
    kernel = _kernel(_SUMS_LAST, _SUMS_RUNS, is_last, bounds)
    totals = _chunk_sums(kernel, data, is_last, grad, mean, scale, beta)
    projection = (totals[1] * inverse_std).astype(np.float32)
    d_beta = totals[0].astype(np.float32)
    finish_sums(outputs, data, d_beta, projection, inverse_std, scale, **flags)


def _data_gradient(
    xp: ModuleType, out: Array, grad: Array, data: Array, *channels: Array, bounds: Bounds
) -> None:
    if _layout(out, data) is None and _layout(data) is not None:
        made = np.empty_like(data)
        _data_gradient(xp, made, grad, data, *channels, bounds=bounds)
        out[...] = made
        return
    grad = _in_layout_of(data, grad)
    is_last = _layout(out, grad, data)
    if is_last is None:
        raise RefusedError(_layout_message(data))
    kernel = _kernel(_GRADIENT_LAST, _GRADIENT_RUNS, is_last, bounds)
    _, rows, count, run = _sizes(data, is_last)
    arrays = (data, out, grad, *channels)
    params = np.array([0, rows, count, run, *map(address, arrays)], np.int64)
    extent = rows if is_last else rows * count
    kernel(extent, params, max(1, _SMALL // (count if is_last else run)))


def _supports(data: Spec, *rest: Spec, **_: Any) -> bool:
    specs = (data, *rest)
    large = max(spec.size for spec in specs) >= _SMALL
    return large and all(spec.dtype == FLOAT32 for spec in specs)


def _compile_statistics(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    is_last = _layout(inputs[0])
    if is_last is not None and attrs["train"] and not attrs["use_global_stats"]:
        _kernel(_STATISTICS_LAST, _STATISTICS_RUNS, is_last, ())


def _compile_sums(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    is_last = _layout(inputs[1])
    if is_last is not None:
        _kernel(_SUMS_LAST, _SUMS_RUNS, is_last, attrs["bounds"])


def _compile_gradient(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    is_last = _layout(inputs[1])
    if is_last is not None:
        _kernel(_GRADIENT_LAST, _GRADIENT_RUNS, is_last, attrs["bounds"])


KERNELS: tuple[tuple[Operator, FastKernel], ...] = tuple(
    (
        op,
        FastKernel(
            BackEnd.GENERATED,
            op.name[1:],
            _supports,
            run=run,
            compiles=compiles,
            enabled=available,
        ),
    )
    for op, run, compiles in (
        (BATCH_NORM_STATISTICS, _statistics, _compile_statistics),
        (BATCH_NORM_SUMS, _sums, _compile_sums),
        (BATCH_NORM_DATA_GRADIENT, _data_gradient, _compile_gradient),
    )
)
