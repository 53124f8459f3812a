"""ROIAlign and its gradient, as products with a banded matrix along each axis of a region.

Each row of these matrices has the weights of pixels for one bin of the region. A first kernel
computes the matrices, and the bounds of their bands.
"""

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.kernel import BackEnd, FastKernel, address
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.vision.regions import image_number
from gluonish.ops.vision.roi_align import MAX_SAMPLES, ROI_ALIGN, ROI_ALIGN_BACKWARD

_MAX_ELEMENTS = 1 << 26  # elements of the matrices

# Params: starts of regions along the axis, their lengths, matrices, bands; bins, extent of the
# axis, samples (or 0) and their maximum.
_AXIS = """
def body(begin, end, params):
    starts, lengths = {view}(params[0]), {view}(params[1])
    matrices, bands = {view}(params[2]), i64(params[3])
    bins, extent, ratio, most = params[4], params[5], params[6], params[7]
    one, none = {real}(1), {real}(0)
    for region in range(begin, end):
        start, length = starts[region], lengths[region]
        step = length / {real}(bins)
        samples = ratio
        finite = start + length - (start + length) == none
        if samples <= 0:
            samples = int64(0)
            if finite:
                samples = int64(minimum(maximum(ceil(step), none), {real}(most)))
        for cell in range(bins):
            row = (region * bins + cell) * extent
            for i in range(extent):
                matrices[row + i] = none
            low, high = extent, int64(0)
            if finite:
                for sample in range(samples):
                    inner = ({real}(sample) + {real}(0.5)) * step / {real}(samples)
                    position = start + {real}(cell) * step + inner
                    if position >= -one and position <= {real}(extent):
                        position = minimum(maximum(position, none), {real}(extent - 1))
                        first = int64(position)
                        after = min(first + 1, extent - 1)
                        weight = position - {real}(first)
                        matrices[row + first] += (one - weight) / {real}(samples)
                        matrices[row + after] += weight / {real}(samples)
                        low, high = min(low, first), max(high, after + 1)
            bands[2 * (region * bins + cell)] = low
            bands[2 * (region * bins + cell) + 1] = high
"""

_HEAD = """
def body(begin, end, params):
    data, out = {view}(params[0]), {view}(params[1])
    rows, row_bands = {view}(params[2]), i64(params[3])
    columns, column_bands = {view}(params[4]), i64(params[5])
    images, regions, channels = i64(params[6]), params[7], params[8]
    height, width, tall, wide = params[9], params[10], params[11], params[12]
    sensitive, planes, none = params[13], params[14], {real}(0)
"""

_BIN = """
                    t, s = 2 * (region * tall + p), 2 * (region * wide + q)
                    row, column = (region * tall + p) * height, (region * wide + q) * width
                    plane = channel
                    if sensitive != 0:
                        plane = (channel * tall + p) * wide + q
                    image = (images[region] * planes + plane) * height * width
"""

# A step is a region.
_ALIGN = (
    _HEAD
    + """
    for region in range(begin, end):
        for channel in range(channels):
            for p in range(tall):
                for q in range(wide):
"""
    + _BIN
    + """
                    total = none
                    if images[region] >= 0:
                        for i in range(row_bands[t], row_bands[t + 1]):
                            along = none
                            for j in range(column_bands[s], column_bands[s + 1]):
                                along += data[image + i * width + j] * columns[column + j]
                            total += along * rows[row + i]
                    out[((region * channels + channel) * tall + p) * wide + q] = total
"""
)

# A step is a channel of the result, so that threads share no pixels.
_ADJOINT = (
    _HEAD
    + """
    for channel in range(begin, end):
        for region in range(regions):
            if images[region] >= 0:
              for p in range(tall):
                for q in range(wide):
"""
    + _BIN
    + """
                    g = data[((region * channels + channel) * tall + p) * wide + q]
                    for i in range(row_bands[t], row_bands[t + 1]):
                        share = g * rows[row + i]
                        for j in range(column_bands[s], column_bands[s + 1]):
                            out[image + i * width + j] += share * columns[column + j]
"""
)


@cache
def _compiled(source: str, itemsize: int) -> CompiledKernel:
    real = {4: "float32", 8: "float64"}[itemsize]
    text = source.format(view=f"f{8 * itemsize}", real=real)
    # Without contraction for positions, so that comparisons at a border agree with NumPy.
    return compile_kernel(text, fastmath=()) if source is _AXIS else compile_kernel(text)


class _Axis(NamedTuple):
    """The matrices (regions, bins, extent) along one axis, and their bands (regions, bins, 2)."""

    matrices: Any
    bands: Any

    def params(self) -> list[int]:
        """Return the addresses of the matrices and the bands."""
        return [address(self.matrices), address(self.bands)]


def _axis(starts: Any, lengths: Any, bins: int, extent: int, ratio: int) -> _Axis:
    found = _Axis(
        np.empty((len(starts), bins, extent), starts.dtype),
        np.empty((len(starts), bins, 2), np.int64),
    )
    params = [address(starts), address(lengths), *found.params(), bins, extent, ratio, MAX_SAMPLES]
    kernel = _compiled(_AXIS, starts.itemsize)
    kernel(len(starts), np.array(params, np.int64), max(1, 4096 // (bins * extent)))
    return found


class _Regions:
    """The matrices of all regions along both axes, and the kernels' params.

    Args:
        rois: One row (image, x1, y1, x2, y2) for each region.
        shape: The shape of the images.
    """

    def __init__(self, rois: Any, shape: Shape, attrs: dict[str, Any]) -> None:
        real = rois.dtype.type
        shift = real(0.5 if attrs["aligned"] else 0)
        corners = np.ascontiguousarray(rois[:, 1:].T) * real(attrs["spatial_scale"]) - shift
        starts, sizes = corners[:2], corners[2:] - corners[:2]
        if not attrs["aligned"]:
            sizes = np.maximum(sizes, real(1))
        numbers = [image_number(roi, shape[0]) for roi in rois]
        self.images = np.array([-1 if n is None else n for n in numbers], np.int64)
        self.attrs, self.shape = attrs, shape
        pooled, ratio = attrs["pooled_size"], attrs["sample_ratio"]
        self.columns, self.rows = (
            _axis(starts[i], sizes[i], pooled[1 - i], shape[3 - i], ratio) for i in range(2)
        )

    def params(self, channels: int) -> Any:
        """Return the kernels' params, with two zeros for the addresses of arrays."""
        return np.array(
            [
                *(0, 0, *self.rows.params(), *self.columns.params(), address(self.images)),
                *(len(self.images), channels, *self.shape[2:], *self.attrs["pooled_size"]),
                *(self.attrs["position_sensitive"], self.shape[1]),
            ],
            np.int64,
        )


def _kernel(xp: ModuleType, out: Any, data: Any, rois: Any, **attrs: Any) -> None:
    data, regions = (
        np.ascontiguousarray(data),
        _Regions(widened_on_host(np, rois), data.shape, attrs),
    )
    made = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    params = regions.params(out.shape[1])
    params[:2] = address(data), address(made)
    _compiled(_ALIGN, data.itemsize)(len(rois), params, 1)
    if made is not out:
        out[...] = made


def _backward(
    xp: ModuleType, out: Any, grad: Any, rois: Any, *, data_shape: Shape, **attrs: Any
) -> None:
    grad, regions = (
        np.ascontiguousarray(grad),
        _Regions(widened_on_host(np, rois), data_shape, attrs),
    )
    made = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    made.fill(0)
    params = regions.params(grad.shape[1])
    params[:2] = address(grad), address(made)
    _compiled(_ADJOINT, grad.itemsize)(grad.shape[1], params, 1)
    if made is not out:
        out[...] = made


def _fits(images: Shape, rois: Spec, dtype: Any, pooled: Shape) -> bool:
    matrices = rois.shape[0] * (pooled[0] * images[2] + pooled[1] * images[3])
    return (
        dtype in (FLOAT32, FLOAT64)
        and min(*images, rois.shape[0]) > 0
        and matrices <= _MAX_ELEMENTS
    )


def _supports(data: Spec, rois: Spec, *, pooled_size: Shape, **_: Any) -> bool:
    return _fits(data.shape, rois, data.dtype, pooled_size)


def _supports_backward(
    grad: Spec, rois: Spec, *, pooled_size: Shape, data_shape: Shape, **_: Any
) -> bool:
    return _fits(data_shape, rois, grad.dtype, pooled_size)


KERNELS = (
    (
        ROI_ALIGN,
        FastKernel(BackEnd.GENERATED, "roi_align", _supports, run=_kernel, enabled=available),
    ),
    (
        ROI_ALIGN_BACKWARD,
        FastKernel(
            BackEnd.GENERATED, "roi_align", _supports_backward, run=_backward, enabled=available
        ),
    ),
)
