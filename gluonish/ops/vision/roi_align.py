"""_contrib_ROIAlign and _contrib_PSROIPooling: pool regions to grids of means.

Both are separable: a region is pooled by a matrix for each axis.

References:
    K. He, G. Gkioxari, P. Dollar, R. Girshick, Mask R-CNN, 2017.
    J. Dai, Y. Li, K. He, J. Sun, R-FCN: Object Detection via Region-based Fully Convolutional
        Networks, 2016.

_contrib_RROIAlign: pool rotated regions of images to grids of means.

References:
    J. Ma, W. Shao, H. Ye, L. Wang, H. Wang, Y. Zheng, X. Xue, Arbitrary-Oriented Scene Text
        Detection via Rotation Proposals, 2018.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.bilinear_points import read_bilinear
from gluonish.ops.vision.regions import (
    Matrix,
    RegionMap,
    check_pair,
    check_regions,
    image_number,
    map_regions,
    region_adjoint,
    round_away,
)

_ALIGN = "_contrib_ROIAlign"
_POOLING = "_contrib_PSROIPooling"
MAX_SAMPLES = 1 << 9  # along an axis of a cell; no region within an image needs more


def check_scale(operator: str, scale: float) -> None:
    """Raise OperatorError for a spatial_scale that is not finite."""
    if not math.isfinite(scale):
        raise OperatorError(f"{operator}: expected a finite spatial_scale, got {scale}")


def check_samples(operator: str, name: str, ratio: int) -> None:
    """Raise OperatorError for a sampling ratio above the limit."""
    if ratio > MAX_SAMPLES:
        raise OperatorError(f"{operator}: expected {name} of at most {MAX_SAMPLES}, got {ratio}")


def sample_count(length: float, bins: int, ratio: int) -> int:
    """Return the number of samples of a cell along an axis: ``ratio``, or about one per pixel."""
    if ratio > 0:
        return ratio
    share = np.ceil(length / bins)
    return int(min(max(share, 0), MAX_SAMPLES)) if share == share else 0


def _align_axis(start: Any, length: Any, bins: int, ratio: int, extent: int) -> Matrix:
    """Return a matrix (bins, extent): the weight of each pixel in the means of bilinear samples."""
    matrix = np.zeros((bins, extent))
    samples = sample_count(length, bins, ratio)
    if not samples or not extent or not np.isfinite(start + length):
        return matrix
    step = length / length.dtype.type(bins)
    inner = (np.arange(samples, dtype=length.dtype) + length.dtype.type(0.5)) * step / samples
    positions = start + np.arange(bins, dtype=length.dtype)[:, None] * step + inner
    inside = (positions >= -1) & (positions <= extent)
    positions = np.clip(positions, 0, extent - 1)
    first = positions.astype(np.int64)
    weight = positions - first
    rows = np.broadcast_to(np.arange(bins)[:, None], first.shape)
    np.add.at(matrix, (rows, first), inside * (1 - weight) / samples)
    np.add.at(matrix, (rows, np.minimum(first + 1, extent - 1)), inside * weight / samples)
    return matrix


def _align_map(
    roi: Matrix,
    extents: Shape,
    *,
    pooled_size: Shape,
    spatial_scale: float,
    sample_ratio: int,
    position_sensitive: bool,
    aligned: bool,
) -> RegionMap:
    """Return the map of a region (image, x1, y1, x2, y2)."""
    real = roi.dtype.type
    corners = roi[1:] * real(spatial_scale) - real(0.5 if aligned else 0)
    sizes = corners[2:] - corners[:2]
    if not aligned:
        sizes = np.maximum(sizes, real(1))
    columns, rows = (
        _align_axis(corners[i], sizes[i], pooled_size[1 - i], sample_ratio, extents[1 - i])
        for i in range(2)
    )
    if not position_sensitive:
        return RegionMap(rows, columns)
    tall, wide = pooled_size
    return RegionMap(rows, columns, ((np.arange(tall), tall), (np.arange(wide), wide)))


def _align_infer(
    data: Spec, rois: Spec, *, pooled_size: Shape, position_sensitive: bool, **attrs: Any
) -> tuple[Spec]:
    check_regions(_ALIGN, data, rois)
    check_pair(_ALIGN, "pooled_size", pooled_size)
    check_scale(_ALIGN, attrs["spatial_scale"])
    check_samples(_ALIGN, "sample_ratio", attrs["sample_ratio"])
    channels = data.shape[1]
    if position_sensitive:
        cells = math.prod(pooled_size)
        if channels % cells:
            raise OperatorError(
                f"{_ALIGN}: expected channels divisible by the {cells} cells of pooled_size, got "
                f"data {data.shape}"
            )
        channels //= cells
    return (Spec(limited(_ALIGN, (rois.shape[0], channels, *pooled_size)), data.dtype),)


def _align_kernel(xp: ModuleType, out: Any, data: Any, rois: Any, **attrs: Any) -> None:
    map_regions(xp, out, data, rois, _align_map, **attrs)


_ALIGN_SCHEMA = Schema(
    pooled_size=shape(),
    spatial_scale=number(),
    sample_ratio=integer(-1),
    position_sensitive=boolean(False),
    aligned=boolean(False),
)

ROI_ALIGN_BACKWARD, _align_rule = region_adjoint(
    lambda: ROI_ALIGN, "_roi_align_backward", _align_map, _ALIGN_SCHEMA
)
ROI_ALIGN: Operator = register(
    Operator(
        _ALIGN,
        _align_infer,
        _align_kernel,
        _align_rule,
        doc=(
            "Apply region of interest (ROI) align: pool each region to a pooled_size grid of\n"
            "means of bilinear samples.\n\n"
            "Corners are scaled by spatial_scale, and are at least 1 apart; with aligned they\n"
            "are shifted by half a pixel instead. Each cell of the grid is the mean of\n"
            "sample_ratio samples along each axis, or about one for each pixel if sample_ratio\n"
            "is not positive. With position_sensitive each cell reads its own channel, and C\n"
            "is divided by the number of cells. Regions of images that do not exist give 0.\n\n"
            "Shapes: data (N, C, H, W), rois (R, 5) with rows (image, xmin, ymin, xmax, ymax),\n"
            "output (R, C, *pooled_size)."
        ),
        inputs=("data", "rois"),
        schema=_ALIGN_SCHEMA,
        execution=Execution(heavy=True),
    )
)


def _mean_axis(start: Any, length: Any, bins: int, extent: int) -> Matrix:
    """Return a matrix (bins, extent): 1 / count for the pixels of each cell, else 0."""
    step = length / length.dtype.type(bins)
    edges = np.arange(bins + 1, dtype=length.dtype) * step + start
    low, high = np.clip(np.floor(edges[:-1]), 0, extent), np.clip(np.ceil(edges[1:]), 0, extent)
    pixels = np.arange(extent)
    inside = (pixels >= low[:, None]) & (pixels < high[:, None])
    matrix: Matrix = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    return matrix


def _group_size(pooled_size: int, group_size: int) -> int:
    return group_size or pooled_size


def _pooling_map(
    roi: Matrix,
    extents: Shape,
    *,
    spatial_scale: float,
    output_dim: int,
    pooled_size: int,
    group_size: int,
) -> RegionMap:
    """Return the map of a region (image, x1, y1, x2, y2)."""
    real = roi.dtype.type
    rounded = round_away(roi[1:])
    start = rounded[:2] * real(spatial_scale)
    sizes = np.maximum((rounded[2:] + 1) * real(spatial_scale) - start, real(0.1))
    columns, rows = (_mean_axis(start[i], sizes[i], pooled_size, extents[1 - i]) for i in range(2))
    count = _group_size(pooled_size, group_size)
    group = np.minimum(np.arange(pooled_size) * count // pooled_size, count - 1)
    return RegionMap(rows, columns, ((group, count), (group, count)))


def _pooling_infer(
    data: Spec,
    rois: Spec,
    *,
    spatial_scale: float,
    output_dim: int,
    pooled_size: int,
    group_size: int,
) -> tuple[Spec]:
    check_regions(_POOLING, data, rois)
    check_scale(_POOLING, spatial_scale)
    channels = output_dim * _group_size(pooled_size, group_size) ** 2
    if data.shape[1] != channels:
        raise OperatorError(
            f"{_POOLING}: expected {channels} channels, output_dim times the square of group_size, "
            f"got data {data.shape}"
        )
    out = (rois.shape[0], output_dim, pooled_size, pooled_size)
    return (Spec(limited(_POOLING, out), data.dtype),)


def _pooling_kernel(xp: ModuleType, out: Any, data: Any, rois: Any, **attrs: Any) -> None:
    map_regions(xp, out, data, rois, _pooling_map, **attrs)


_POOLING_SCHEMA = Schema(
    spatial_scale=number(),
    output_dim=integer(low=1),
    pooled_size=integer(low=1),
    group_size=integer(0, low=0),
)

PSROI_POOLING: Operator = register(
    Operator(
        _POOLING,
        _pooling_infer,
        _pooling_kernel,
        region_adjoint(
            lambda: PSROI_POOLING, "_psroi_pooling_backward", _pooling_map, _POOLING_SCHEMA
        )[1],
        doc=(
            "Apply position-sensitive ROI pooling: pool each region to a grid of means, where\n"
            "each cell reads its own channel.\n\n"
            "Corners are rounded, the end corner is included, and both are scaled by\n"
            "spatial_scale. group_size 0 means pooled_size. A cell without pixels is 0.\n\n"
            "Shapes: data (N, output_dim * group_size**2, H, W), rois (R, 5) with rows (image,\n"
            "xmin, ymin, xmax, ymax), output (R, output_dim, pooled_size, pooled_size)."
        ),
        inputs=("data", "rois"),
        schema=_POOLING_SCHEMA,
        execution=Execution(heavy=True),
    )
)


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
    """Return sample rows and columns, (cells along rows, along columns, samples, samples) each."""
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
    """Return the sums (C, P, Q) over samples (P, Q, samples) of an image (1, C, H, W)."""
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
