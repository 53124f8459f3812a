"""ROIPooling in one pass over the pixels of each bin; a step is a region."""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT64
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_kernel
from gluonish.ops.kernel import BackEnd, FastKernel, address
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.vision.regions import image_number
from gluonish.ops.vision.roi_pooling import ROI_POOLING, region_bounds

# Params: data, values, index, rows, columns, images; channels, height, width, bins along rows and
# along columns. NaN is the largest, as for argmax.
_SOURCE = """
def body(begin, end, params):
    data, values, index = {view}(params[0]), {view}(params[1]), i64(params[2])
    rows, columns, images = i64(params[3]), i64(params[4]), i64(params[5])
    channels, height, width, tall, wide = params[6], params[7], params[8], params[9], params[10]
    for region in range(begin, end):
        image = images[region]
        for c in range(channels):
            start = (image * channels + c) * height * width
            out = (region * channels + c) * tall * wide
            for p in range(tall):
                top, bottom = rows[2 * (region * tall + p)], rows[2 * (region * tall + p) + 1]
                for q in range(wide):
                    at = 2 * (region * wide + q)
                    left, right = columns[at], columns[at + 1]
                    best = {real}(0)
                    chosen = int64(-1)
                    if image >= 0:
                        for i in range(top, bottom):
                            for j in range(left, right):
                                k = start + i * width + j
                                value = data[k]
                                if chosen < 0 or value > best or (value != value and best == best):
                                    best = value
                                    chosen = k
                    values[out + p * wide + q] = best
                    index[out + p * wide + q] = chosen
"""


@cache
def _compiled(itemsize: int) -> CompiledKernel:
    real = {4: "float32", 8: "float64"}[itemsize]
    return compile_kernel(_SOURCE.format(view=f"f{8 * itemsize}", real=real))


def _kernel(
    xp: ModuleType, out: Any, data: Any, rois: Any, *, pooled_size: Shape, spatial_scale: float
) -> None:
    values, index = out
    data, host = np.ascontiguousarray(data), widened_on_host(np, rois)
    rows, columns = region_bounds(host, data.shape[2:], pooled_size, spatial_scale)
    numbers = [image_number(roi, len(data)) for roi in host]
    images = np.array([-1 if n is None else n for n in numbers], np.int64)
    arrays = (data, values, index, np.ascontiguousarray(rows), np.ascontiguousarray(columns))
    params = np.array(
        [*(address(x) for x in (*arrays, images)), *data.shape[1:], *pooled_size], np.int64
    )
    _compiled(data.itemsize)(len(images), params, 1)


def _supports(data: Spec, rois: Spec, **_: Any) -> bool:
    return data.dtype in (FLOAT32, FLOAT64) and data.size > 0 and rois.size > 0


KERNELS = (
    (
        ROI_POOLING,
        FastKernel(
            BackEnd.GENERATED,
            "roi_pooling",
            _supports,
            run=_kernel,
            enabled=available,
            makes=(INT64,),
        ),
    ),
)
