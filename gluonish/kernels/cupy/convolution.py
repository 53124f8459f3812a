"""Convolution, its gradients and Deconvolution: windows as columns, and products of matrices.

Columns, and gradients of columns, are in the data's own dtype. They lie as (groups, channels *
window, samples, positions), for as many samples at a time as the device has room for. So every
product reads and writes them where they lie: one a sample with the same filters, or one a group.
Where the window is a single element without padding or steps, the data itself is the columns.
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
from gluonish.kernels.cupy.gemm import multiply
from gluonish.kernels.cupy.source import Macros, launch, without_gaps
from gluonish.ops.nn.deconvolution import convolution_attributes
from gluonish.ops.support.convolution_shapes import convolution_geometry
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.windows import Geometry, channels_first, is_channels_last

# Columns up to the first may always be had; beyond it the device is asked, up to the second.
_SMALL_NBYTES = 64 << 20
_MOST_NBYTES = 1 << 30
# Of all memory, and of what is free, one part in so many. The first is the same in every run, so
# that equal runs add in the same order; the second counts only where a device is nearly full.
_SHARE_OF_ALL = 32
_SHARE_OF_FREE = 4


def _room(xp: Any) -> int:
    """Return the bytes that columns may take of the current device."""
    info = device_of(Context("gpu", xp.cuda.runtime.getDevice())).memory_info()
    return min(info.total // _SHARE_OF_ALL, (info.free + info.held) // _SHARE_OF_FREE)


def _parts(xp: ModuleType, samples: int, nbytes: int) -> Iterator[slice]:
    """Yield slices of the batch axis whose columns, ``nbytes`` a sample, fit into memory."""
    wanted = min(samples * nbytes, _MOST_NBYTES)
    if wanted > _SMALL_NBYTES:
        # Where determinism is asked for, it must not depend on what else is in memory, ever.
        room = _SMALL_NBYTES if MXNET_ENFORCE_DETERMINISM.value else _room(xp)
        wanted = max(_SMALL_NBYTES, min(wanted, room))
    step = max(1, wanted // max(1, nbytes))
    for start in range(0, samples, step):
        yield slice(start, min(start + step, samples))


class _Windows:
    """The windows of one call.

    Args:
        xp: CuPy.
        geometry: The window.
        groups: Of channels and of filters.
        data: Shape (N, C, *spatial) of what windows are taken of.
        counts: Windows along each spatial axis.
        dtype: Of data and columns.
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

    def parts(self, samples: int) -> Iterator[slice]:
        """Yield the samples to do at a time."""
        each = self.groups * self.inner * self.positions * self._dtype.itemsize
        return _parts(self.xp, samples, each)

    def empty(self, samples: int) -> Any:
        """Return columns of undefined values."""
        shape = (self.groups, self.inner, samples, self.positions)
        return self.xp.empty(shape, self._dtype)

    def gather(self, data: Any) -> Any:
        """Return the columns of samples, which have no gaps."""
        samples = len(data)
        if self.is_point:
            return self.grouped(data)
        columns = self.empty(samples)
        total = self._channels * samples * self.positions
        self._launch("gather", (data, columns), total, samples)
        return columns

    def scatter(self, columns: Any, data: Any) -> None:
        """Set samples, which have no gaps, to the sums of their windows."""
        self._launch("scatter", (columns, data), data.size, len(data))

    def _launch(self, name: str, arrays: tuple[Any, ...], total: int, samples: int) -> None:
        numbers = _int32(self._channels, samples, *self._extents)
        launch(self.xp, "windows", name, self._dtype, arrays, total, numbers, self._macros)

    def grouped(self, array: Any) -> Any:
        """Return (N, channels, ...) as (groups, channels per group, N, positions), no gaps."""
        channels = array.shape[1] // self.groups
        parted = array.reshape(len(array), self.groups, channels, self.positions)
        return without_gaps(parted.transpose(1, 2, 0, 3))


def _three(extents: Shape, fill: int) -> Shape:
    """Return what belongs to one to three axes for three, the first of them empty."""
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
    first = without_gaps(channels_first(xp, weight, layout))
    return first.reshape(groups, first.shape[0] // groups, math.prod(first.shape[1:]))


def _target(xp: ModuleType, out: Any, layout: str | None) -> tuple[Any, Any]:
    """Return ``out`` with channels first, and what to fill for it: itself, or an array to copy."""
    result = channels_first(xp, out, layout)
    return result, result if result.flags.c_contiguous else xp.empty(result.shape, result.dtype)


def _deliver(result: Any, target: Any) -> None:
    if target is not result:
        result[...] = target


def _add_products(
    windows: _Windows, target: Any, filters: Any, columns: Any, bias: Any | None
) -> None:
    """Set samples (n, F, *counts) to filters times columns; add the bias, which is there already.

    Args:
        target: The samples, without gaps.
        filters: (groups, filters per group, inner).
        columns: (groups, inner, n, positions).
        bias: Of the layer, or None.
    """
    samples, (groups, per_group, _) = len(target), filters.shape
    adds = bias is not None
    if groups == 1:
        out = target.reshape(samples, per_group, windows.positions)
        multiply(windows.xp, out, filters[0], columns[0].swapaxes(0, 1), accumulate=adds)
        return
    parted = target.reshape(samples, groups, per_group, windows.positions).transpose(1, 2, 0, 3)
    product = windows.xp.empty(parted.shape, parted.dtype)
    if bias is not None:
        product[...] = bias.reshape(groups, per_group, 1, 1)
    across = samples * windows.positions
    flat = product.reshape(groups, per_group, across)
    by_group = columns.reshape(groups, windows.inner, across)
    multiply(windows.xp, flat, filters, by_group, accumulate=adds)
    parted[...] = product


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
    """Fill ``out`` as Convolution's reference kernel does."""
    geometry = convolution_geometry(layout=layout, **attrs)
    data = without_gaps(channels_first(xp, data, layout))
    result, target = _target(xp, out, layout)
    windows = _Windows(xp, geometry, num_group, data.shape, target.shape[2:], data.dtype)
    filters = _filters(xp, weight, layout, num_group)
    if bias is not None and num_group == 1:
        target[...] = bias.reshape(-1, *(1,) * (target.ndim - 2))
    if windows.is_point and num_group == 1:
        by_sample = data.reshape(len(data), data.shape[1], windows.positions)
        product = target.reshape(len(data), filters.shape[1], windows.positions)
        multiply(xp, product, filters[0], by_sample, accumulate=bias is not None)
    else:
        for part in windows.parts(len(data)):
            _add_products(windows, target[part], filters, windows.gather(data[part]), bias)
    _deliver(result, target)


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
    """Fill ``out`` as the reference kernel of the data's gradient does."""
    geometry = convolution_geometry(layout=layout, **attrs)
    grad = without_gaps(channels_first(xp, grad, layout))
    result, target = _target(xp, out, layout)
    windows = _Windows(xp, geometry, num_group, target.shape, grad.shape[2:], grad.dtype)
    turned = _filters(xp, weight, layout, num_group).swapaxes(1, 2)
    if windows.is_point and num_group == 1:
        rows = grad.reshape(len(grad), grad.shape[1], windows.positions)
        product = target.reshape(len(grad), target.shape[1], windows.positions)
        multiply(xp, product, turned[0], rows)
    else:
        for part in windows.parts(len(grad)):
            windows.scatter(_columns_of_gradient(windows, grad[part], turned), target[part])
    _deliver(result, target)


def _columns_of_gradient(windows: _Windows, grad: Any, turned: Any) -> Any:
    """Return the gradient of the columns of samples."""
    samples = len(grad)
    columns = windows.empty(samples)
    if windows.groups == 1:
        rows = grad.reshape(samples, grad.shape[1], windows.positions)
        multiply(windows.xp, columns[0].swapaxes(0, 1), turned[0], rows)
    else:
        across = samples * windows.positions
        rows = windows.grouped(grad).reshape(windows.groups, turned.shape[2], across)
        flat = columns.reshape(windows.groups, windows.inner, across)
        multiply(windows.xp, flat, turned, rows)
    return columns


def backward_weight(xp: ModuleType, out: Any, grad: Any, data: Any, **attrs: Any) -> None:
    """Fill ``out`` as the reference kernel of the weight's gradient does."""
    _backward_weight(xp, out, None, grad, data, **attrs)


def backward_weight_bias(
    xp: ModuleType, outputs: tuple[Any, Any], grad: Any, data: Any, **attrs: Any
) -> None:
    """Fill the gradients of the weight and the bias as the reference kernel does."""
    _backward_weight(xp, *outputs, grad, data, **attrs)


def _backward_weight(
    xp: ModuleType,
    out: Any,
    of_bias: Any,
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
    data = without_gaps(channels_first(xp, data, layout))
    result, target = _target(xp, out, layout)
    windows = _Windows(xp, geometry, num_group, data.shape, grad.shape[2:], data.dtype)
    shape = (num_group, len(target) // num_group, windows.inner)
    parts = list(windows.parts(len(data)))
    sums = accumulator(out.dtype)
    total = target.reshape(shape)
    if len(parts) > 1 and sums != out.dtype:
        total = xp.empty(shape, sums)
    if not parts:
        total[...] = 0
    of_parts: list[Any] = []
    for i, part in enumerate(parts):
        rows = windows.grouped(grad[part])
        _add_to_weight(windows, total, rows, data[part], accumulate=i > 0)
        if of_bias is not None:
            of_parts.append(rows.sum(axis=(2, 3), dtype=sums).reshape(-1))
    if total.dtype != target.dtype:
        target[...] = total.reshape(target.shape)
    _deliver(result, target)
    if of_bias is not None:
        of_bias[...] = sum(of_parts[1:], of_parts[0]) if of_parts else 0


def _add_to_weight(
    windows: _Windows, total: Any, rows: Any, data: Any, *, accumulate: bool
) -> None:
    """Set ``total`` to the weight's gradient from samples, or add that.

    Args:
        total: (groups, filters per group, inner).
        rows: Gradient of the output, (groups, filters per group, samples, positions).
        data: The samples.
        accumulate: Whether to add.
    """
    across = len(data) * windows.positions
    columns = windows.gather(data).reshape(windows.groups, windows.inner, across)
    flat = rows.reshape(*rows.shape[:2], across)
    multiply(windows.xp, total, flat, columns.swapaxes(1, 2), accumulate=accumulate)


def deconvolution(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    """Fill ``out`` as Deconvolution's reference kernel does."""
    plain = convolution_attributes(data.shape, attrs)
    backward_data(xp, out, data, weight, **plain, data_shape=out.shape)
    if bias is not None:
        trailing = 0 if is_channels_last(attrs["layout"]) else len(attrs["kernel"])
        xp.add(out, bias.reshape(-1, *(1,) * trailing), out=out)
