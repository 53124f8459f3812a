"""gather_nd and scatter_nd: gather and scatter elements or slices by coordinates.

_scatter_set_nd: set elements of an array by coordinates.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.host import add_at, scatter_accumulator


def _points(xp: ModuleType, name: str, indices: Any, shape: Shape) -> tuple[Any, ...]:
    """Return the coordinates of each axis as int64.

    Raises:
        OperatorIndexError: A coordinate is out of range.
    """
    points = tuple(indices.astype(xp.int64))
    if not indices.size:
        return points
    for axis, (point, extent) in enumerate(zip(points, shape, strict=False)):
        low, high = int(point.min()), int(point.max())
        if not -extent <= low <= high < extent:
            raise OperatorIndexError(
                f"{name}: expected coordinates in [{-extent}, {extent}) along axis {axis}, "
                f"got coordinates from {low} to {high}"
            )
    return points


def flat_points(xp: ModuleType, name: str, indices: Any, shape: Shape) -> Any:
    """Return flat indices into the first M axes of ``shape`` from coordinates (M, ...).

    Raises:
        OperatorIndexError: A coordinate is out of range.
    """
    total = xp.zeros(indices.shape[1:], dtype=xp.int64)
    for point, extent in zip(_points(xp, name, indices, shape), shape, strict=False):
        total = total * extent + xp.where(point < 0, point + extent, point)
    return total


def _result_shape(name: str, shape: Shape, indices: Shape) -> Shape:
    if not indices or not 0 < indices[0] <= len(shape):
        raise OperatorError(
            f"{name}: expected indices (M, ...) with M from 1 to {len(shape)}, the axes of "
            f"{shape}, got {indices}"
        )
    return indices[1:] + shape[indices[0] :]


def _infer(data: Spec, indices: Spec) -> tuple[Spec]:
    return (Spec(_result_shape("gather_nd", data.shape, indices.shape), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, indices: Any) -> None:
    out[...] = data[_points(xp, "gather_nd", indices, data.shape)]


def _gradient(g: V, data: V, indices: V) -> tuple[Any, None]:
    return apply(SCATTER_ADD_ND, (g, indices), {"shape": data.shape}), None


GATHER_ND = register(
    Operator(
        "gather_nd",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Gather elements of data at points: column j of indices holds the M coordinates of\n"
            "point j.\n\n"
            "If M is less than the number of axes, each point selects a slice. Negative\n"
            "coordinates count from the end; coordinates out of range are an error.\n\n"
            "Shapes: data any, indices (M, ...) with M up to data's number of axes, output\n"
            "(*indices.shape[1:], *data.shape[M:])."
        ),
        inputs=("data", "indices"),
        aliases=("_npi_gather_nd", "_npx_gather_nd"),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)


def gather_nd(data: Any, indices: Any) -> Any:
    """Gather elements or slices of ``data`` at the coordinates in ``indices``."""
    return apply(GATHER_ND, (data, indices), {})


def _put(xp: ModuleType, out: Any, data: Any, indices: Any, *, shape: Shape) -> None:
    out.fill(0)
    out[_points(xp, "scatter_nd", indices, shape)] = data


def _add(xp: ModuleType, out: Any, data: Any, indices: Any, *, shape: Shape) -> None:
    total = xp.zeros(shape, dtype=scatter_accumulator(out.dtype))
    add_at(xp, total, _points(xp, "_backward_gather_nd", indices, shape), data.astype(total.dtype))
    out[...] = total.astype(out.dtype)


def _scatter(name: str, kernel: Callable[..., None], doc: str) -> Operator:
    def infer(data: Spec, indices: Spec, *, shape: Shape) -> tuple[Spec]:
        spec = checked_spec(name, shape, data.dtype)
        expected = _result_shape(name, shape, indices.shape)
        if data.shape != expected:
            raise OperatorError(f"{name}: expected data of shape {expected}, got {data.shape}")
        return (spec,)

    def gradient(g: V, data: V, indices: V, *, shape: Shape) -> tuple[Any, None]:
        return gather_nd(g, indices), None

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=doc,
            inputs=("data", "indices"),
            schema=Schema(shape=shape_attr()),
            shapes=ShapeFacts(complete=dtype_rule(0)),
        )
    )


SCATTER_ND = _scatter(
    "scatter_nd",
    _put,
    (
        "Write data to zeros of a shape at the points in indices; the last of equal points\n"
        "wins.\n\n"
        "Shapes: indices (M, ...), data (..., *shape[M:]), output shape."
    ),
)
SCATTER_ADD_ND = _scatter(
    "_backward_gather_nd",
    _add,
    (
        "Add data to zeros of a shape at the points in indices.\n\n"
        "Shapes: indices (M, ...), data (..., *shape[M:]), output shape."
    ),
)


def _set_infer(lhs: Spec, rhs: Spec, indices: Spec, *, shape: Shape) -> tuple[Spec]:
    name = "_scatter_set_nd"
    check_same_dtype(name, lhs, rhs)
    axes = indices.shape[0] if indices.shape else 0
    if lhs.shape != shape or not 0 < axes <= len(shape):
        raise OperatorError(
            f"{name}: expected lhs {shape} and indices (1 to {len(shape)}, ...), got {lhs.shape} "
            f"and {indices.shape}"
        )
    expected = indices.shape[1:] + shape[axes:]
    if rhs.shape != expected:
        raise OperatorError(f"{name}: expected rhs of shape {expected}, got {rhs.shape}")
    return (lhs,)


def _set_kernel(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, indices: Any, *, shape: Shape
) -> None:
    points = tuple(indices.astype(xp.int64))
    for point, extent in zip(points, shape, strict=False):
        if point.size and not -extent <= int(point.min()) <= int(point.max()) < extent:
            raise OperatorError(
                f"_scatter_set_nd: expected coordinates within {shape}, got coordinates from "
                f"{int(point.min())} to {int(point.max())}"
            )
    out[...] = lhs
    out[points] = rhs


def _set_gradient(g: V, lhs: V, rhs: V, indices: V, *, shape: Shape) -> tuple[Any, Any, None]:
    return (
        lambda: apply(SCATTER_SET_ND, (g, zeros_like(rhs), indices), {"shape": shape}),
        lambda: gather_nd(g, indices),
        None,
    )


SCATTER_SET_ND = register(
    Operator(
        "_scatter_set_nd",
        _set_infer,
        _set_kernel,
        _set_gradient,
        doc=(
            "Set the points of lhs at indices to rhs; the last of equal points wins.\n\n"
            "Shapes: lhs and output shape, indices (M, ...), whose columns hold M coordinates,\n"
            "rhs (*indices.shape[1:], *shape[M:])."
        ),
        inputs=("lhs", "rhs", "indices"),
        schema=Schema(shape=shape_attr()),
        aliases=("_npi_scatter_set_nd",),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
    )
)
