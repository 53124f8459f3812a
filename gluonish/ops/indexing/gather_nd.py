"""gather_nd and scatter_nd: elements or slices at points given by their coordinates."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.scatter import add_at, scatter_accumulator


def _points(xp: ModuleType, name: str, indices: Any, whole: Shape) -> tuple[Any, ...]:
    """Return coordinates axis by axis, as int64.

    Raises:
        OperatorIndexError: One lies outside.
    """
    points = tuple(indices.astype(xp.int64))
    if not indices.size:
        return points
    for axis, (point, extent) in enumerate(zip(points, whole, strict=False)):
        low, high = int(point.min()), int(point.max())
        if not -extent <= low <= high < extent:
            raise OperatorIndexError(
                f"{name}: expected coordinates in [{-extent}, {extent}) along axis {axis}, "
                f"got some from {low} to {high}"
            )
    return points


def flat_points(xp: ModuleType, name: str, indices: Any, whole: Shape) -> Any:
    """Return the numbers of points among all of the axes that their coordinates name.

    Args:
        indices: (M, ...), coordinates axis by axis.
        whole: Extents; the points lie along the first M.

    Raises:
        OperatorIndexError: One lies outside.
    """
    total = xp.zeros(indices.shape[1:], dtype=xp.int64)
    for point, extent in zip(_points(xp, name, indices, whole), whole, strict=False):
        total = total * extent + xp.where(point < 0, point + extent, point)
    return total


def _result_shape(name: str, whole: Shape, indices: Shape) -> Shape:
    if not indices or not 0 < indices[0] <= len(whole):
        raise OperatorError(
            f"{name}: expected indices (M, ...) with M from 1 to {len(whole)}, the axes of "
            f"{whole}, "
            f"got {indices}"
        )
    return indices[1:] + whole[indices[0] :]


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
            "Elements of data at points: column j of indices holds the M coordinates of point\n"
            "j.\n\n"
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
    """Return elements or slices of ``data`` at the points whose coordinates are in ``indices``."""
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
        wanted = _result_shape(name, shape, indices.shape)
        if data.shape != wanted:
            raise OperatorError(f"{name}: expected data of shape {wanted}, got {data.shape}")
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
        "Zeros of a shape, with data written at the points in indices; of equal points the\n"
        "last one counts.\n\n"
        "Shapes: indices (M, ...), data (..., *shape[M:]), output shape."
    ),
)
SCATTER_ADD_ND = _scatter(
    "_backward_gather_nd",
    _add,
    (
        "Zeros of a shape, with data added at the points in indices.\n\n"
        "Shapes: indices (M, ...), data (..., *shape[M:]), output shape."
    ),
)
