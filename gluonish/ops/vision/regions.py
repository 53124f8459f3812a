"""Regions of interest, as rows (image, ...), and linear pooling over them.

Reference kernels loop over the regions, and read their corners on the host.

Also checks the inputs of vision and detection operators: rank, floating dtype, pairs.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.precision import accumulator


def check_rank(operator: str, name: str, spec: Spec, axes: str) -> None:
    """Raise OperatorError for an array whose axes are not ``axes``, such as ``"N C H W"``."""
    if len(spec.shape) != len(axes.split()):
        raise OperatorError(
            f"{operator}: expected {name} ({', '.join(axes.split())}), got {spec.shape}"
        )


def check_floating(operator: str, *specs: Spec) -> None:
    """Raise OperatorError for arrays that do not all have the same floating dtype."""
    first = specs[0].dtype
    if not is_floating(first) or any(spec.dtype != first for spec in specs):
        names = ", ".join(spec.dtype.name for spec in specs)
        raise OperatorError(f"{operator}: expected arrays of equal floating dtype, got {names}")


def check_pair(operator: str, name: str, values: Shape, low: int = 1) -> None:
    """Raise OperatorError for a tuple that is not two numbers of at least ``low``."""
    if len(values) != 2 or min(values) < low:
        raise OperatorError(
            f"{operator}: expected {name} to be 2 ints of at least {low}, got {values}"
        )


Matrix = np.ndarray[Any, Any]


def check_regions(operator: str, data: Spec, rois: Spec, columns: int = 5) -> None:
    """Raise OperatorError unless data is (N, C, H, W) and rois (R, columns)."""
    check_floating(operator, data, rois)
    check_rank(operator, "data", data, "N C H W")
    if len(rois.shape) != 2 or rois.shape[1] != columns:
        raise OperatorError(f"{operator}: expected rois (R, {columns}), got {rois.shape}")


def image_number(roi: Matrix, batch: int) -> int | None:
    """Return the index of a region's image, None if there is no such image."""
    return int(roi[0]) if 0 <= roi[0] < batch else None


def round_away(x: Any) -> Any:
    """Round to the nearest integer, halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


class RegionMap(NamedTuple):
    """The linear map from an image to a pooled region: a matrix for each axis.

    Attributes:
        rows: Matrix (rows of the result, rows of the image).
        columns: Matrix (columns of the result, columns of the image).
        groups: Along each axis, the channel group of each cell of the result, and the number of
            groups; None if every cell reads its own channel.
    """

    rows: Matrix
    columns: Matrix
    groups: tuple[tuple[Matrix, int], tuple[Matrix, int]] | None = None


Maps = Callable[..., RegionMap]  # (region, image extents, **attributes)


def _span(matrix: Matrix) -> slice:
    """Return the range of the nonzero columns of a matrix."""
    (used,) = np.nonzero(matrix.any(axis=0))
    return slice(int(used[0]), int(used[-1]) + 1) if used.size else slice(0, 0)


def _window(xp: ModuleType, found: RegionMap, dtype: Any) -> tuple[slice, slice, Any, Any]:
    """Return the window of the image that a map reads, and the matrices restricted to it."""
    tall, wide = _span(found.rows), _span(found.columns)
    rows = xp.asarray(np.ascontiguousarray(found.rows[:, tall], dtype))
    columns = xp.asarray(np.ascontiguousarray(found.columns[:, wide], dtype))
    return tall, wide, rows, columns


def map_regions(xp: ModuleType, out: Any, data: Any, rois: Any, maps: Maps, **attrs: Any) -> None:
    """Fill ``out`` (R, C', P, Q) with ``rows @ image @ columns.T`` for every region.

    Args:
        out: The result; 0 for regions of images that do not exist.
        data: Images (N, C, H, W).
        rois: Regions, beginning with the index of the image.
        maps: ``maps(roi, extents, **attrs)`` returns the map of a region.
    """
    out.fill(0)
    for result, roi in zip(out, widened_on_host(xp, rois), strict=True):
        image = image_number(roi, len(data))
        if image is None:
            continue
        found = maps(roi, data.shape[2:], **attrs)
        dtype = accumulator(data.dtype)
        tall, wide, rows, columns = _window(xp, found, dtype)
        pixels = data[image][:, tall, wide].astype(dtype)
        if found.groups is None:
            result[...] = xp.matmul(xp.matmul(rows, pixels), columns.T)
        else:
            (down, tops), (across, sides) = found.groups
            grouped = pixels.reshape(result.shape[0], tops, sides, *pixels.shape[1:])
            chosen = grouped[:, down[:, None], across]
            along = xp.einsum("cpqhw,ph->cpqw", chosen, rows)
            result[...] = xp.einsum("cpqw,qw->cpq", along, columns)


def _add_regions(
    xp: ModuleType, total: Any, grad: Any, rois: Any, maps: Maps, **attrs: Any
) -> None:
    """Add the gradients (R, C', P, Q) of regions to the gradients of their images."""
    for region_grad, roi in zip(grad, widened_on_host(xp, rois), strict=True):
        image = image_number(roi, len(total))
        if image is None:
            continue
        found = maps(roi, total.shape[2:], **attrs)
        tall, wide, rows, columns = _window(xp, found, total.dtype)
        g = region_grad.astype(total.dtype)
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
    """Register the adjoint of an operator computed by `map_regions`.

    Args:
        forward: Returns the operator.
        name: Name of the adjoint.
        maps: As for `map_regions`.

    Returns:
        The adjoint, and the gradient rule of the operator.
    """

    def infer(grad: Spec, rois: Spec, **attrs: Any) -> tuple[Spec]:
        return (Spec(attrs["data_shape"], grad.dtype),)

    def kernel(xp: ModuleType, out: Any, grad: Any, rois: Any, **attrs: Any) -> None:
        forward_attrs = {key: value for key, value in attrs.items() if key != "data_shape"}
        total = xp.zeros(out.shape, accumulator(out.dtype))
        _add_regions(xp, total, grad, rois, maps, **forward_attrs)
        out[...] = total

    def gradient(g: V, grad: V, rois: V, **attrs: Any) -> tuple[Any, None]:
        forward_attrs = {key: value for key, value in attrs.items() if key != "data_shape"}
        return (lambda: apply(forward(), (g, rois), forward_attrs)), None

    adjoint = register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc="Compute the gradient of the images of pooled regions.",
            inputs=("grad", "rois"),
            schema=Schema(**schema.attributes, data_shape=shape()),
            execution=Execution(heavy=True),
        )
    )

    def rule(g: V, data: V, rois: V, **attrs: Any) -> tuple[Any, None]:
        return (lambda: apply(adjoint, (g, rois), {**attrs, "data_shape": data.shape})), None

    return adjoint, rule
