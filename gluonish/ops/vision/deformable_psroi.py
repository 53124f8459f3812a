"""_contrib_DeformablePSROIPooling: position-sensitive ROI pooling at learned offsets.

References:
    J. Dai, H. Qi, Y. Xiong, Y. Li, G. Zhang, H. Hu, Y. Wei, Deformable Convolutional Networks,
        2017.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.pointwise import CLIP
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.points import gather_points
from gluonish.ops.vision.regions import check_regions, image_number, round_away
from gluonish.ops.vision.roi_align import check_scale

_NAME = "_contrib_DeformablePSROIPooling"

_SCHEMA = Schema(
    spatial_scale=number(),
    output_dim=integer(low=1),
    group_size=integer(low=1),
    pooled_size=integer(low=1),
    part_size=integer(0, low=0),
    sample_per_part=integer(1, low=1),
    trans_std=number(0.0),
    no_trans=boolean(False),
)


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "rois") if attrs["no_trans"] else ("data", "rois", "trans")


def _part_size(attrs: Attrs) -> int:
    size: int = attrs["part_size"] or attrs["pooled_size"]
    return size


def _infer(data: Spec, rois: Spec, trans: Spec | None = None, **attrs: Any) -> tuple[Spec, ...]:
    check_regions(_NAME, data, rois)
    check_scale(_NAME, attrs["spatial_scale"])
    dim, size = attrs["output_dim"], attrs["pooled_size"]
    if data.shape[1] != dim * attrs["group_size"] ** 2:
        raise OperatorError(
            f"{_NAME}: expected {dim * attrs['group_size'] ** 2} channels, output_dim times the "
            f"square of group_size, got data {data.shape}"
        )
    limited(_NAME, (rois.shape[0], dim, (size * attrs["sample_per_part"]) ** 2))
    if trans is not None:
        part_size = _part_size(attrs)
        shape = trans.shape
        fits = len(shape) == 4 and (shape[0], *shape[2:]) == (rois.shape[0], part_size, part_size)
        if not fits or shape[1] < 2 or shape[1] % 2 or dim % (shape[1] // 2):
            raise OperatorError(
                f"{_NAME}: expected trans ({rois.shape[0]}, 2 * classes, {part_size}, {part_size}) "
                f"with classes that divide output_dim {dim}, got {shape}"
            )
        if trans.dtype != data.dtype:
            raise OperatorError(
                f"{_NAME}: expected trans of dtype {data.dtype.name}, got {trans.dtype.name}"
            )
    out = Spec((rois.shape[0], dim, size, size), data.dtype)
    return out, Spec((0,), data.dtype)


def _split(attrs: Attrs) -> tuple[Any, Any, Any]:
    """Return the row and column of each sample's cell, and the sample's indices in the cell.

    Samples are ordered by rows of cells, columns of cells, rows and columns in a cell.
    """
    size, samples = attrs["pooled_size"], attrs["sample_per_part"]
    grid = np.indices((size, size, samples, samples)).reshape(4, -1)
    return grid[0], grid[1], grid[2:]


def _samples(xp: ModuleType, rois: Any, attrs: Attrs) -> tuple[Any, ...]:
    """Return sample positions without offsets, region extents, and indices into trans."""
    host = widened_on_host(xp, rois)
    real = host.dtype.type
    rounded = round_away(host)
    begin = rounded[:, 1:3] * real(attrs["spatial_scale"]) - real(0.5)
    end = (rounded[:, 3:5] + 1) * real(attrs["spatial_scale"]) - real(0.5)
    extents = np.maximum(end - begin, real(0.1))
    row, column, inner = _split(attrs)
    positions = []
    for i, (cell, step) in enumerate(((column, inner[1]), (row, inner[0]))):
        size = extents[:, i : i + 1] / real(attrs["pooled_size"])
        offset = cell.astype(host.dtype) * size
        offset += step.astype(host.dtype) * (size / real(attrs["sample_per_part"]))
        positions.append(xp.asarray((begin[:, i : i + 1] + offset)[:, None]))
    cells = _part_size(attrs)
    down, across = (x * cells // attrs["pooled_size"] for x in (row, column))
    index = np.broadcast_to(down * cells + across, (len(host), row.size))
    heights, widths = (xp.asarray(extents[:, i, None, None]) for i in (1, 0))
    return positions[1], positions[0], heights, widths, xp.asarray(np.ascontiguousarray(index))


def _share(xp: ModuleType, rows: Any, columns: Any, extents: Shape, per_part: int) -> Any:
    """Return each sample's weight in the mean of its cell: 0 outside the image."""
    inside = (rows >= -0.5) & (rows <= extents[0] - 0.5)
    inside &= (columns >= -0.5) & (columns <= extents[1] - 0.5)
    cells = inside.reshape(*inside.shape[:2], inside.shape[2] // per_part, per_part)
    share = cells / xp.maximum(cells.sum(axis=3, keepdims=True), 1)
    return share.reshape(inside.shape)


def _starts(xp: ModuleType, rois: Any, data: Shape, attrs: Attrs) -> Any:
    """Return the offset of each sample's channel in flat data (R, output_dim, samples).

    It is -1 for regions without an image.
    """
    row, column, _ = _split(attrs)
    size, groups = attrs["pooled_size"], attrs["group_size"]
    down, across = (x * groups // size for x in (row, column))
    channel = np.arange(attrs["output_dim"])[:, None] * groups * groups + down * groups + across
    images = [image_number(roi, data[0]) for roi in widened_on_host(xp, rois)]
    first = np.array([-1 if n is None else n * data[1] for n in images], INT64)[:, None, None]
    return xp.asarray(np.where(first < 0, -1, (first + channel) * (data[2] * data[3])))


def _pixels(
    xp: ModuleType, rows: Any, columns: Any, rois: Any, data: Shape, attrs: Attrs
) -> tuple[Any, ...]:
    """Return the first pixel's row and column, each sample's weight, and four flat indices."""
    height, width = data[2:]
    share = _share(xp, rows, columns, data[2:], attrs["sample_per_part"] ** 2)
    first_row = xp.floor(xp.clip(xp.where(share > 0, rows, 0), 0, height - 1))
    first_column = xp.floor(xp.clip(xp.where(share > 0, columns, 0), 0, width - 1))
    starts = _starts(xp, rois, data, attrs)
    classes = rows.shape[1]
    repeats = attrs["output_dim"] // classes
    index = []
    for i in range(4):
        row = xp.minimum(first_row + i // 2, height - 1)
        column = xp.minimum(first_column + i % 2, width - 1)
        pixel = xp.repeat((row * width + column).astype(INT64), repeats, axis=1)
        inside = (starts >= 0) & (xp.repeat(share, repeats, axis=1) > 0)
        index.append(xp.where(inside, starts + pixel, -1))
    return first_row, first_column, share, *index


def _shifted(rows: Any, columns: Any, heights: Any, widths: Any, offsets: Any, std: float) -> Any:
    """Return sample rows and columns, each (R, classes, samples), shifted by the offsets."""
    return rows + offsets[1] * heights * std, columns + offsets[0] * widths * std


def _kernel(
    xp: ModuleType, out: Any, data: Any, rois: Any, trans: Any = None, **attrs: Any
) -> None:
    wide = widen(data)
    rows, columns, heights, widths, cells = _samples(xp, rois, attrs)
    if trans is not None:
        flat = widen(trans).reshape(*trans.shape[:2], math.prod(trans.shape[2:]))
        pairs = xp.take_along_axis(flat, cells[:, None], axis=2)
        offsets = pairs[:, 0::2], pairs[:, 1::2]
        std = wide.dtype.type(attrs["trans_std"])
        rows, columns = _shifted(rows, columns, heights, widths, offsets, std)
    row, column, share, *corners = _pixels(xp, rows, columns, rois, data.shape, attrs)
    below = xp.clip(rows, 0, max(0, data.shape[2] - 1)) - row
    right = xp.clip(columns, 0, max(0, data.shape[3] - 1)) - column
    pixels = wide.reshape(-1)
    repeats = attrs["output_dim"] // rows.shape[1]
    total = xp.zeros(corners[0].shape, accumulator(data.dtype))
    for i, index in enumerate(corners):
        weight = share * (below if i // 2 else 1 - below) * (right if i % 2 else 1 - right)
        weight = xp.repeat(xp.where(share > 0, weight, 0), repeats, axis=1)
        if pixels.size:
            total += xp.where(index >= 0, pixels[xp.maximum(index, 0)], 0) * weight
    out[0][...] = total.reshape(*out[0].shape, attrs["sample_per_part"] ** 2).sum(axis=4)


def _samples_kernel(xp: ModuleType, out: Any, rois: Any, **attrs: Any) -> None:
    for target, value in zip(out, _samples(xp, rois, attrs), strict=True):
        target[...] = value


def _samples_infer(rois: Spec, **attrs: Any) -> tuple[Spec, ...]:
    count = (attrs["pooled_size"] * attrs["sample_per_part"]) ** 2
    regions = rois.shape[0]
    position, extent = Spec((regions, 1, count), rois.dtype), Spec((regions, 1, 1), rois.dtype)
    return position, position, extent, extent, Spec((regions, count), INT64)


_SAMPLES = register(
    Operator(
        "_deformable_psroi_samples",
        _samples_infer,
        _samples_kernel,
        zero_gradient,
        doc=(
            "Return the positions of the samples of regions without offsets, and the sizes of\n"
            "the regions."
        ),
        inputs=("rois",),
        schema=_SCHEMA,
        outputs=5,
        output_names=("rows", "columns", "heights", "widths", "parts"),
    )
)


def _pixels_kernel(
    xp: ModuleType, out: Any, rows: Any, columns: Any, rois: Any, *, data_shape: Shape, **attrs: Any
) -> None:
    found = _pixels(xp, widen(rows), widen(columns), rois, data_shape, attrs)
    for target, value in zip(out, found, strict=True):
        target[...] = value


def _pixels_infer(rows: Spec, columns: Spec, rois: Spec, **attrs: Any) -> tuple[Spec, ...]:
    index = Spec((rows.shape[0], attrs["output_dim"], rows.shape[2]), INT64)
    return (rows,) * 3 + (index,) * 4


_PIXELS = register(
    Operator(
        "_deformable_psroi_pixels",
        _pixels_infer,
        _pixels_kernel,
        zero_gradient,
        doc="Return the four pixels around each sample, and its weight in the mean.",
        inputs=("rows", "columns", "rois"),
        schema=Schema(**_SCHEMA.attributes, data_shape=shape_attr()),
        outputs=7,
        output_names=("row", "column", "share", *(f"index{i}" for i in range(4))),
    )
)


def _offsets(trans: Any, cells: Any, shape: Shape) -> list[Any]:
    """Return the offsets of columns and of rows, (R, classes, samples) each."""
    flat = reshape(trans, (*shape[:2], shape[2] * shape[3]))
    count = cells.shape[1]
    pairs = reshape(gather_points(flat, cells), (shape[0], shape[1] // 2, 2, count))
    return [
        reshape(slice_axis(pairs, 2, i, i + 1), (shape[0], shape[1] // 2, count)) for i in range(2)
    ]


def _composite(data: Any, rois: Any, trans: Any = None, **attrs: Any) -> tuple[Any]:
    """Compute `_kernel` with operators."""
    rows, columns, heights, widths, cells = apply(_SAMPLES, (rois,), attrs)
    if trans is not None:
        offsets = _offsets(trans, cells, trans.shape)
        rows, columns = _shifted(rows, columns, heights, widths, offsets, attrs["trans_std"])
    height, width = data.shape[2:]
    row, column, share, *corners = apply(
        _PIXELS, (rows, columns, rois), {**attrs, "data_shape": data.shape}
    )
    below = apply(CLIP, (rows,), {"a_min": 0.0, "a_max": float(height - 1)}) - row
    right = apply(CLIP, (columns,), {"a_min": 0.0, "a_max": float(width - 1)}) - column
    regions, classes, count = rows.shape
    dim = attrs["output_dim"]
    total = None
    flat = reshape(data, (1, 1, math.prod(data.shape)))
    for i, index in enumerate(corners):
        weight = share * (below if i // 2 else below * -1.0 + 1.0)
        weight = weight * (right if i % 2 else right * -1.0 + 1.0)
        values = gather_points(flat, reshape(index, (1, regions * dim * count)))
        split = reshape(values, (regions, classes, dim // classes, count))
        term = split * reshape(weight, (regions, classes, 1, count))
        total = term if total is None else total + term
    size = attrs["pooled_size"]
    per_part = (regions, dim, size * size, attrs["sample_per_part"] ** 2)
    return (reshape(sum_(reshape(total, per_part), axis=(3,)), (regions, dim, size, size)),)


_rule = composite_gradient(_composite)


def _gradient(g: tuple[V | None, ...], *inputs: V, **attrs: Any) -> tuple[Any, ...]:
    if g[0] is None:
        return (None,) * len(inputs)
    return _rule((g[0],), *inputs, **attrs)


DEFORMABLE_PSROI_POOLING = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Apply deformable position-sensitive ROI pooling: each cell of the grid is shifted\n"
            "by an offset.\n\n"
            "trans holds offsets along x and y, as fractions of the region's size times\n"
            "trans_std. Each cell is the mean of sample_per_part bilinear samples along each\n"
            "axis; samples outside the image are not counted. part_size 0 means pooled_size;\n"
            "with no_trans there is no trans.\n\n"
            "Shapes: data (N, output_dim * group_size**2, H, W), rois (R, 5) with rows (image,\n"
            "xmin, ymin, xmax, ymax), trans (R, 2 * classes, part_size, part_size), output (R,\n"
            "output_dim, pooled_size, pooled_size)."
        ),
        inputs=("data", "rois", "trans"),
        active_inputs=_active_inputs,
        schema=_SCHEMA,
        outputs=2,
        visible=1,
        output_names=("output", "top_count"),
        execution=Execution(heavy=True),
    )
)
