"""ROIPooling: pool regions of images to grids of maxima.

References:
    R. Girshick, Fast R-CNN, 2015.
"""

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, number, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.points import scatter_points
from gluonish.ops.vision.regions import (
    Matrix,
    check_pair,
    check_regions,
    image_number,
    round_away,
)


def _infer(data: Spec, rois: Spec, *, pooled_size: Shape, spatial_scale: float) -> tuple[Spec, ...]:
    check_regions("ROIPooling", data, rois)
    check_pair("ROIPooling", "pooled_size", pooled_size)
    if not 0 <= spatial_scale <= 1:
        raise OperatorError(f"ROIPooling: expected spatial_scale in [0, 1], got {spatial_scale}")
    out = limited("ROIPooling", (rois.shape[0], data.shape[1], *pooled_size))
    return Spec(out, data.dtype), Spec(out, INT64)


def _bounds(begin: Matrix, end: Matrix, bins: int, extent: int) -> Matrix:
    """Return the begin and end of each cell along an axis of the image, (R, bins, 2)."""
    real = begin.dtype.type
    step = np.maximum(end - begin + real(1), real(1)) / real(bins)
    edges = np.arange(bins + 1, dtype=begin.dtype) * step[:, None]
    low = np.clip(np.floor(edges[:, :-1]) + begin[:, None], 0, extent)
    high = np.clip(np.ceil(edges[:, 1:]) + begin[:, None], 0, extent)
    both = np.stack([low, high], axis=2)
    found: Matrix = np.where(np.isnan(both), 0, both).astype(np.int64)
    return found


def region_bounds(
    rois: Matrix, extents: Shape, pooled_size: Shape, spatial_scale: float
) -> tuple[Matrix, Matrix]:
    """Return the begin and end of the regions' cells, integers (R, cells, 2) for each axis.

    Args:
        rois: Rows (image, x1, y1, x2, y2).
        extents: Height and width of an image.
        pooled_size: Number of cells along rows and columns.
        spatial_scale: Scale of the corners.
    """
    x1, y1, x2, y2 = round_away(rois[:, 1:] * rois.dtype.type(spatial_scale)).T
    return (
        _bounds(y1, y2, pooled_size[0], extents[0]),
        _bounds(x1, x2, pooled_size[1], extents[1]),
    )


def _cells(image: Any, rows: Matrix, columns: Matrix) -> Iterator[tuple[int, int, Any]]:
    """Yield row, column and pixels of each nonempty cell of the grid."""
    for p, (top, bottom) in enumerate(rows.tolist()):
        for q, (left, right) in enumerate(columns.tolist()):
            if top < bottom and left < right:
                yield p, q, image[:, top:bottom, left:right]


def _kernel(
    xp: ModuleType, out: Any, data: Any, rois: Any, *, pooled_size: Shape, spatial_scale: float
) -> None:
    values, index = out
    values.fill(0)
    index.fill(-1)
    channels, height, width = data.shape[1:]
    first = xp.arange(channels) * (height * width)
    host = widened_on_host(xp, rois)
    bounds = region_bounds(host, (height, width), pooled_size, spatial_scale)
    for result, argmax, roi, rows, columns in zip(values, index, host, *bounds, strict=True):
        image = image_number(roi, len(data))
        if image is None or not channels:
            continue
        start = first + image * channels * height * width
        for p, q, cell in _cells(data[image], rows, columns):
            flat = cell.reshape(channels, -1)
            best = flat.argmax(axis=1)
            result[:, p, q] = xp.take_along_axis(flat, best[:, None], axis=1)[:, 0]
            row = best // cell.shape[2] + int(rows[p, 0])
            column = best % cell.shape[2] + int(columns[q, 0])
            argmax[:, p, q] = start + row * width + column


def _gradient(
    g: tuple[V | None, ...], data: V, rois: V, _out: V, index: V, **_: Any
) -> tuple[Any, None]:
    head = g[0]
    if head is None:
        return None, None
    count = math.prod(head.shape)

    def of_data() -> Any:
        spread = scatter_points(
            reshape(head, (1, 1, count)), reshape(index, (1, count)), math.prod(data.shape)
        )
        return reshape(spread, data.shape)

    return of_data, None


ROI_POOLING = register(
    Operator(
        "ROIPooling",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Apply region of interest (ROI) pooling: pool each region to a pooled_size grid of\n"
            "maxima.\n\n"
            "Corners are scaled by spatial_scale, in [0, 1], and rounded, and the end corner is\n"
            "included. A cell without pixels is 0, and so are regions of images that do not\n"
            "exist. The first of equal maxima receives the gradient.\n\n"
            "Shapes: data (N, C, H, W), rois (R, 5) with rows (image, xmin, ymin, xmax, ymax),\n"
            "output (R, C, *pooled_size)."
        ),
        inputs=("data", "rois"),
        schema=Schema(pooled_size=shape(), spatial_scale=number()),
        aliases=("_npx_roi_pooling",),
        outputs=2,
        visible=1,
        output_names=("output", "maxidx"),
        execution=Execution(heavy=True),
    )
)
