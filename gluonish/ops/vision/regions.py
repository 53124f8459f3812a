"""Regions of interest: rows (image, ...), what an operator makes of them, and where they lie.

Reference kernels go through the regions one by one, and read their corners on the host.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, shape
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.precision import accumulator
from gluonish.ops.vision.extents import check_floating, check_rank

Matrix = np.ndarray[Any, Any]


def check_regions(operator: str, data: Spec, rois: Spec, columns: int = 5) -> None:
    """Refuse images that are not (N, C, H, W), or regions that are not (R, columns).

    Raises:
        OperatorError: naming the array.
    """
    check_floating(operator, data, rois)
    check_rank(operator, "data", data, "N C H W")
    if len(rois.shape) != 2 or rois.shape[1] != columns:
        raise OperatorError(f"{operator}: expected rois (R, {columns}), got {rois.shape}")


def image_number(roi: Matrix, batch: int) -> int | None:
    """Return the image that a region is of; None for one that is not there."""
    return int(roi[0]) if 0 <= roi[0] < batch else None


def round_away(x: Any) -> Any:
    """Return the nearest whole numbers, halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


class RegionMap(NamedTuple):
    """What a region takes from its image: a matrix for each axis.

    Attributes:
        rows: (rows of the result, rows of the image).
        columns: The same of columns.
        groups: Along each axis, the number of the channel group that each part of the result reads,
            and how many there are; None where each channel gives a channel.
    """

    rows: Matrix
    columns: Matrix
    groups: tuple[tuple[Matrix, int], tuple[Matrix, int]] | None = None


Maps = Callable[..., RegionMap]  # of a region, image extents and attributes


def _span(matrix: Matrix) -> slice:
    """Return where a matrix has columns that are not 0."""
    (used,) = np.nonzero(matrix.any(axis=0))
    return slice(int(used[0]), int(used[-1]) + 1) if used.size else slice(0, 0)


def _parts(xp: ModuleType, found: RegionMap, dtype: Any) -> tuple[slice, slice, Any, Any]:
    """Return the part of the image that a map reads, and the matrices for it."""
    tall, wide = _span(found.rows), _span(found.columns)
    rows = xp.asarray(np.ascontiguousarray(found.rows[:, tall], dtype))
    columns = xp.asarray(np.ascontiguousarray(found.columns[:, wide], dtype))
    return tall, wide, rows, columns


def map_regions(xp: ModuleType, out: Any, data: Any, rois: Any, maps: Maps, **attrs: Any) -> None:
    """Fill ``out`` (R, C', P, Q) with ``rows @ image @ columns.T`` of every region.

    Args:
        out: The result; 0 for regions of images that are not there.
        data: Images (N, C, H, W).
        rois: Regions, with the number of the image first.
        maps: ``maps(roi, extents, **attrs)`` gives what a region takes.
    """
    out.fill(0)
    for result, roi in zip(out, widened_on_host(xp, rois), strict=True):
        image = image_number(roi, len(data))
        if image is None:
            continue
        found = maps(roi, data.shape[2:], **attrs)
        dtype = accumulator(data.dtype)
        tall, wide, rows, columns = _parts(xp, found, dtype)
        part = data[image][:, tall, wide].astype(dtype)
        if found.groups is None:
            result[...] = xp.matmul(xp.matmul(rows, part), columns.T)
        else:
            (down, tops), (across, sides) = found.groups
            grouped = part.reshape(result.shape[0], tops, sides, *part.shape[1:])
            chosen = grouped[:, down[:, None], across]
            along = xp.einsum("cpqhw,ph->cpqw", chosen, rows)
            result[...] = xp.einsum("cpqw,qw->cpq", along, columns)


def _add_regions(
    xp: ModuleType, total: Any, grad: Any, rois: Any, maps: Maps, **attrs: Any
) -> None:
    """Add to images what the gradient (R, C', P, Q) of their regions gives them."""
    for part, roi in zip(grad, widened_on_host(xp, rois), strict=True):
        image = image_number(roi, len(total))
        if image is None:
            continue
        found = maps(roi, total.shape[2:], **attrs)
        tall, wide, rows, columns = _parts(xp, found, total.dtype)
        g = part.astype(total.dtype)
        if found.groups is None:
            total[image][:, tall, wide] += xp.matmul(xp.matmul(rows.T, g), columns)
        else:
            (down, tops), (across, sides) = found.groups
            grouped = total[image].reshape(g.shape[0], tops, sides, *total.shape[2:])
            for p, i in enumerate(down):
                for q, j in enumerate(across):
                    outer = rows[p][:, None] * columns[q]
                    grouped[:, i, j, tall, wide] += g[:, p, q, None, None] * outer


def region_adjoint(
    forward: Callable[[], Operator], name: str, maps: Maps, schema: Schema
) -> tuple[Operator, Any]:
    """Register the adjoint of an operator that `map_regions` computes.

    Args:
        forward: Gives the operator.
        name: Of the adjoint.
        maps: As for `map_regions`.

    Returns:
        The adjoint, and the gradient rule of the operator.
    """

    def infer(grad: Spec, rois: Spec, **attrs: Any) -> tuple[Spec]:
        return (Spec(attrs["data_shape"], grad.dtype),)

    def kernel(xp: ModuleType, out: Any, grad: Any, rois: Any, **attrs: Any) -> None:
        plain = {key: value for key, value in attrs.items() if key != "data_shape"}
        total = xp.zeros(out.shape, accumulator(out.dtype))
        _add_regions(xp, total, grad, rois, maps, **plain)
        out[...] = total

    def gradient(g: V, grad: V, rois: V, **attrs: Any) -> tuple[Any, None]:
        plain = {key: value for key, value in attrs.items() if key != "data_shape"}
        return (lambda: apply(forward(), (g, rois), plain)), None

    adjoint = register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc="Gradient of the images that regions were pooled from.",
            inputs=("grad", "rois"),
            schema=Schema(**schema.attributes, data_shape=shape()),
            execution=Execution(heavy=True),
        )
    )

    def rule(g: V, data: V, rois: V, **attrs: Any) -> tuple[Any, None]:
        return (lambda: apply(adjoint, (g, rois), {**attrs, "data_shape": data.shape})), None

    return adjoint, rule
