"""Convolution, its gradients and Deconvolution by im2col and matrix products.

Columns, and gradients of columns, have the data's dtype. They are (groups, channels * window,
samples, positions), for as many samples at a time as fit the device's memory. Products need no
copies of them: one product for each sample with the same filters, or one for each group. For 1x1
windows without padding or strides, the data are the columns.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENFORCE_DETERMINISM
from gluonish.core.context import Context
from gluonish.core.device import device_of
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.copies import contiguous, copy, duplicate
from gluonish.kernels.cupy.epilogues import run_epilogue, split_epilogue
from gluonish.kernels.cupy.gemm import multiply
from gluonish.kernels.cupy.source import Macros, launch
from gluonish.ops.nn.deconvolution import convolution_attributes
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.windows import (
    Geometry,
    channels_first,
    convolution_geometry,
    is_channels_last,
)

# Columns up to the first limit are always allocated; between the two limits, the size depends on
# free memory.
_SMALL_NBYTES = 64 << 20
_MAX_NBYTES = 1 << 30
# Fractions of total and of free memory. The first is the same in every run, so that equal runs add
# in the same order; the second counts only if the device is nearly full.
_SHARE_OF_ALL = 32
_SHARE_OF_FREE = 4


def _capacity(xp: Any) -> int:
    """Return the maximum size of columns on the current device, in bytes."""
    info = device_of(Context("gpu", xp.cuda.runtime.getDevice())).memory_info()
    return min(info.total // _SHARE_OF_ALL, (info.free + info.held) // _SHARE_OF_FREE)


def _chunks(xp: ModuleType, samples: int, nbytes: int) -> Iterator[slice]:
    """Yield slices of the batch axis whose columns, ``nbytes`` per sample, fit into memory."""
    limit = min(samples * nbytes, _MAX_NBYTES)
    if limit > _SMALL_NBYTES:
        # With determinism enforced, chunks must not depend on free memory.
        capacity = _SMALL_NBYTES if MXNET_ENFORCE_DETERMINISM.value else _capacity(xp)
        limit = max(_SMALL_NBYTES, min(limit, capacity))
    step = max(1, limit // max(1, nbytes))
    for start in range(0, samples, step):
        yield slice(start, min(start + step, samples))


class _Windows:
    """Gathers the windows of a convolution into columns, and scatters columns back.

    Args:
        data: Shape (N, C, *spatial) of the data.
        counts: Number of windows along each spatial axis.
        dtype: Dtype of data and columns.
    """

    def __init__(
        self,
        xp: Any,
        geometry: Geometry,
        groups: int,
        data: Shape,
        counts: Shape,
        dtype: np.dtype[Any],
    ) -> None:
        self.xp = xp
        self.groups = groups
        self.positions = math.prod(counts)
        self.inner = data[1] // groups * math.prod(geometry.kernel)
        self.is_point = all(n == 1 for n in geometry.kernel + geometry.stride) and not any(
            geometry.pad
        )
        self._channels = data[1]
        self._dtype = dtype
        self._extents = (*_three(data[2:], 1), *_three(counts, 1))
        self._macros = _macros(geometry)

    def chunks(self, samples: int) -> Iterator[slice]:
        """Yield slices of the samples to process at a time."""
        each = self.groups * self.inner * self.positions * self._dtype.itemsize
        return _chunks(self.xp, samples, each)

    def empty(self, samples: int) -> Any:
        """Return an uninitialized array of columns for this many samples."""
        shape = (self.groups, self.inner, samples, self.positions)
        return self.xp.empty(shape, self._dtype)

    def gather(self, data: Any) -> Any:
        """Return the columns of contiguous samples (im2col)."""
        samples = len(data)
        if self.is_point:
            return self.grouped(data)
        columns = self.empty(samples)
        total = self._channels * samples * self.positions
        self._launch("gather", (data, columns), total, samples)
        return columns

    def scatter(self, columns: Any, data: Any) -> None:
        """Set contiguous samples to the sums of their elements in all windows (col2im)."""
        self._launch("scatter", (columns, data), data.size, len(data))

    def _launch(self, name: str, arrays: tuple[Any, ...], total: int, samples: int) -> None:
        numbers = _int32(self._channels, samples, *self._extents)
        launch(self.xp, "windows", name, self._dtype, arrays, total, numbers, self._macros)

    def grouped(self, array: Any) -> Any:
        """Return (N, channels, ...) as contiguous (groups, channels per group, N, positions)."""
        channels = array.shape[1] // self.groups
        split = array.reshape(len(array), self.groups, channels, self.positions)
        return contiguous(self.xp, split.transpose(1, 2, 0, 3))


def _three(extents: Shape, fill: int) -> Shape:
    """Pad values of one to three axes to three, with ``fill`` in front."""
    return (fill,) * (3 - len(extents)) + tuple(extents)


@lru_cache(maxsize=512)
def _macros(geometry: Geometry) -> Macros:
    fills = {"kernel": 1, "stride": 1, "dilate": 1, "pad": 0}
    return tuple(
        (f"{name.upper()}{axis}", value)
        for name, fill in fills.items()
        for axis, value in enumerate(_three(getattr(geometry, name), fill))
    )


@lru_cache(maxsize=1024)
def _int32(*numbers: int) -> tuple[Any, ...]:
    return tuple(map(np.int32, numbers))


def _filters(xp: ModuleType, weight: Any, layout: str | None, groups: int) -> Any:
    """Return a weight as (groups, filters per group, channels per group * window)."""
    first = contiguous(xp, channels_first(xp, weight, layout))
    return first.reshape(groups, first.shape[0] // groups, math.prod(first.shape[1:]))


def _target(xp: ModuleType, out: Any, layout: str | None) -> tuple[Any, Any]:
    """Return ``out`` with channels first, and the array to fill: that view, or a temporary."""
    result = channels_first(xp, out, layout)
    return result, result if result.flags.c_contiguous else xp.empty(result.shape, result.dtype)


def _copy_back(xp: Any, result: Any, target: Any) -> None:
    if target is not result:
        copy(xp, result, target)


def _add_products(
    windows: _Windows, target: Any, filters: Any, columns: Any, bias: Any | None
) -> None:
    """Set samples (n, F, *counts) to the product of filters and columns, plus a bias.

    Args:
        target: The samples, contiguous; with a single group they already contain the bias.
        filters: (groups, filters per group, inner).
        columns: (groups, inner, n, positions).
    """
    samples, (groups, per_group, _) = len(target), filters.shape
    adds = bias is not None
    if groups == 1:
        out = target.reshape(samples, per_group, windows.positions)
        multiply(windows.xp, out, filters[0], columns[0].swapaxes(0, 1), accumulate=adds)
        return
    by_group_target = target.reshape(samples, groups, per_group, windows.positions).transpose(
        1, 2, 0, 3
    )
    product = windows.xp.empty(by_group_target.shape, by_group_target.dtype)
    if bias is not None:
        copy(windows.xp, product, bias.reshape(groups, per_group, 1, 1))
    across = samples * windows.positions
    flat = product.reshape(groups, per_group, across)
    columns_by_group = columns.reshape(groups, windows.inner, across)
    multiply(windows.xp, flat, filters, columns_by_group, accumulate=adds)
    copy(windows.xp, by_group_target, product)


def forward(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    bias: Any = None,
    *,
    num_group: int,
    layout: str | None,
    **attrs: Any,
) -> None:
    """Compute Convolution."""
    geometry = convolution_geometry(layout=layout, **attrs)
    data = contiguous(xp, channels_first(xp, data, layout))
    result, target = _target(xp, out, layout)
    windows = _Windows(xp, geometry, num_group, data.shape, target.shape[2:], data.dtype)
    filters = _filters(xp, weight, layout, num_group)
    if bias is not None and num_group == 1:
        copy(xp, target, bias.reshape(-1, *(1,) * (target.ndim - 2)))
    if windows.is_point and num_group == 1:
        by_sample = data.reshape(len(data), data.shape[1], windows.positions)
        product = target.reshape(len(data), filters.shape[1], windows.positions)
        multiply(xp, product, filters[0], by_sample, accumulate=bias is not None)
    else:
        for chunk in windows.chunks(len(data)):
            _add_products(windows, target[chunk], filters, windows.gather(data[chunk]), bias)
    _copy_back(xp, result, target)


def fused(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    """Compute a convolution, a sum and an activation."""
    arrays, addend, plain, epilogue = split_epilogue(inputs, attrs)
    if addend is not None and addend.data.ptr == out.data.ptr:
        addend = duplicate(xp, addend)
    forward(xp, out, *arrays, **plain)
    run_epilogue(xp, out, addend, epilogue)


def backward_data(
    xp: ModuleType,
    out: Any,
    grad: Any,
    weight: Any,
    *,
    num_group: int,
    layout: str | None,
    data_shape: Shape,
    **attrs: Any,
) -> None:
    """Compute the gradient of the data."""
    geometry = convolution_geometry(layout=layout, **attrs)
    grad = contiguous(xp, channels_first(xp, grad, layout))
    result, target = _target(xp, out, layout)
    windows = _Windows(xp, geometry, num_group, target.shape, grad.shape[2:], grad.dtype)
    transposed = _filters(xp, weight, layout, num_group).swapaxes(1, 2)
    if windows.is_point and num_group == 1:
        rows = grad.reshape(len(grad), grad.shape[1], windows.positions)
        product = target.reshape(len(grad), target.shape[1], windows.positions)
        multiply(xp, product, transposed[0], rows)
    else:
        for chunk in windows.chunks(len(grad)):
            windows.scatter(_columns_of_gradient(windows, grad[chunk], transposed), target[chunk])
    _copy_back(xp, result, target)


def _columns_of_gradient(windows: _Windows, grad: Any, transposed: Any) -> Any:
    """Return the gradient of the columns of samples."""
    samples = len(grad)
    columns = windows.empty(samples)
    if windows.groups == 1:
        rows = grad.reshape(samples, grad.shape[1], windows.positions)
        multiply(windows.xp, columns[0].swapaxes(0, 1), transposed[0], rows)
    else:
        across = samples * windows.positions
        rows = windows.grouped(grad).reshape(windows.groups, transposed.shape[2], across)
        flat = columns.reshape(windows.groups, windows.inner, across)
        multiply(windows.xp, flat, transposed, rows)
    return columns


def backward_weight(xp: ModuleType, out: Any, grad: Any, data: Any, **attrs: Any) -> None:
    """Compute the gradient of the weight."""
    _backward_weight(xp, out, None, grad, data, **attrs)


def backward_weight_bias(
    xp: ModuleType, outputs: tuple[Any, Any], grad: Any, data: Any, **attrs: Any
) -> None:
    """Compute the gradients of the weight and the bias."""
    _backward_weight(xp, *outputs, grad, data, **attrs)


def _backward_weight(
    xp: ModuleType,
    out: Any,
    bias_out: Any,
    grad: Any,
    data: Any,
    *,
    num_group: int,
    layout: str | None,
    weight_shape: Shape,
    **attrs: Any,
) -> None:
    geometry = convolution_geometry(layout=layout, **attrs)
    grad = channels_first(xp, grad, layout)
    data = contiguous(xp, channels_first(xp, data, layout))
    result, target = _target(xp, out, layout)
    windows = _Windows(xp, geometry, num_group, data.shape, grad.shape[2:], data.dtype)
    shape = (num_group, len(target) // num_group, windows.inner)
    chunks = list(windows.chunks(len(data)))
    sums = accumulator(out.dtype)
    total = target.reshape(shape)
    if len(chunks) > 1 and sums != out.dtype:
        total = xp.empty(shape, sums)
    if not chunks:
        total[...] = 0
    bias_sums: list[Any] = []
    for i, chunk in enumerate(chunks):
        rows = windows.grouped(grad[chunk])
        _add_to_weight(windows, total, rows, data[chunk], accumulate=i > 0)
        if bias_out is not None:
            bias_sums.append(rows.sum(axis=(2, 3), dtype=sums).reshape(-1))
    if total.dtype != target.dtype:
        target[...] = total.reshape(target.shape)
    _copy_back(xp, result, target)
    if bias_out is not None:
        bias_out[...] = sum(bias_sums[1:], bias_sums[0]) if bias_sums else 0


def _add_to_weight(
    windows: _Windows, total: Any, rows: Any, data: Any, *, accumulate: bool
) -> None:
    """Set ``total`` to the weight's gradient over some samples, or accumulate into it.

    Args:
        total: (groups, filters per group, inner).
        rows: Gradient of the output, (groups, filters per group, samples, positions).
    """
    across = len(data) * windows.positions
    columns = windows.gather(data).reshape(windows.groups, windows.inner, across)
    flat = rows.reshape(*rows.shape[:2], across)
    multiply(windows.xp, total, flat, columns.swapaxes(1, 2), accumulate=accumulate)


def deconvolution(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Compute Deconvolution."""
    window = convolution_attributes(data.shape, attrs)
    backward_data(xp, out, data, weight, **window, data_shape=out.shape)
    if bias is not None:
        trailing = 0 if is_channels_last(attrs["layout"]) else len(attrs["kernel"])
        xp.add(out, bias.reshape(-1, *(1,) * trailing), out=out)
