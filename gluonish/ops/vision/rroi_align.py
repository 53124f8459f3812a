"""_contrib_RROIAlign: pool rotated regions of images to grids of means.

References:
    J. Ma, W. Shao, H. Ye, L. Wang, H. Wang, Y. Zheng, X. Xue, Arbitrary-Oriented Scene Text
        Detection via Rotation Proposals, 2018.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import Schema, integer, number, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.bilinear_points import read_bilinear
from gluonish.ops.vision.extents import check_pair
from gluonish.ops.vision.regions import Matrix, check_regions, image_number
from gluonish.ops.vision.roi_align import check_samples, check_scale, sample_count

_NAME = "_contrib_RROIAlign"


def _infer(
    data: Spec, rois: Spec, *, pooled_size: Shape, spatial_scale: float, sampling_ratio: int
) -> tuple[Spec]:
    check_regions(_NAME, data, rois, 6)
    check_pair(_NAME, "pooled_size", pooled_size)
    check_scale(_NAME, spatial_scale)
    check_samples(_NAME, "sampling_ratio", sampling_ratio)
    return (Spec(limited(_NAME, (rois.shape[0], data.shape[1], *pooled_size)), data.dtype),)


def _along(size: Any, bins: int, ratio: int) -> Matrix:
    """Return sample positions (cells, samples) along an axis of a region centered at 0."""
    real = size.dtype.type
    samples = sample_count(size, bins, ratio)
    step = size / real(bins)
    inner = (np.arange(samples, dtype=size.dtype) + real(0.5)) * (step / real(max(1, samples)))
    positions: Matrix = np.arange(bins, dtype=size.dtype)[:, None] * step + inner - size / real(2)
    return positions


def _samples(roi: Matrix, pooled_size: Shape, scale: float, ratio: int) -> tuple[Matrix, Matrix]:
    """Return rows and columns (cells along rows, along columns, samples, samples)."""
    real = roi.dtype.type
    column, row = roi[1:3] * real(scale)
    width, height = np.maximum(roi[3:5] * real(scale), real(1))
    angle = roi[5] * real(math.pi / 180)
    down = _along(height, pooled_size[0], ratio)[:, None, :, None]
    across = _along(width, pooled_size[1], ratio)[None, :, None, :]
    cosine, sine = np.cos(angle), np.sin(angle)
    return down * cosine - across * sine + row, across * cosine + down * sine + column


def _inside(rows: Matrix, columns: Matrix, extents: Shape) -> Matrix:
    found: Matrix = (rows >= -1) & (rows <= extents[0]) & (columns >= -1) & (columns <= extents[1])
    return found


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    rois: Any,
    *,
    pooled_size: Shape,
    spatial_scale: float,
    sampling_ratio: int,
) -> None:
    out.fill(0)
    for result, roi in zip(out, widened_on_host(xp, rois), strict=True):
        image = image_number(roi, len(data))
        if image is None or 0 in data.shape[2:]:
            continue
        rows, columns = _samples(roi, pooled_size, spatial_scale, sampling_ratio)
        total = sum(
            _read(xp, data[image : image + 1], rows[:, :, i], columns[:, :, i])
            for i in range(rows.shape[2])
        )
        result[...] = total / rows.dtype.type(max(1, rows.shape[2] * rows.shape[3]))


def _read(xp: ModuleType, image: Any, rows: Matrix, columns: Matrix) -> Any:
    """Return the sums (C, P, Q) of samples (P, Q, samples) of an image (1, C, H, W)."""
    extents = image.shape[2:]
    weights = xp.asarray(_inside(rows, columns, extents).astype(rows.dtype))
    down, across = (
        xp.asarray(np.clip(x, 0, extent - 1).reshape(1, -1))
        for x, extent in zip((rows, columns), extents, strict=True)
    )
    values = read_bilinear(xp, image, down, across, "zeros")
    return (values.reshape(image.shape[1], *rows.shape) * weights).sum(axis=3)


RROI_ALIGN = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Pool rotated regions to a pooled_size grid of means of bilinear samples.\n\n"
            "Lengths are scaled by spatial_scale, and are at least 1. Each cell is the mean of\n"
            "sampling_ratio samples along each axis, or about one for each pixel if\n"
            "sampling_ratio is not positive. It has no gradient.\n\n"
            "Shapes: data (N, C, H, W), rois (R, 6) with rows (image, x and y of the center,\n"
            "width, height, angle in degrees), output (R, C, *pooled_size)."
        ),
        inputs=("data", "rois"),
        schema=Schema(pooled_size=shape(), spatial_scale=number(), sampling_ratio=integer(-1)),
        execution=Execution(heavy=True),
    )
)
