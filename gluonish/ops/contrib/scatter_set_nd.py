"""_scatter_set_nd: set elements of an array by coordinates."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.indexing.gather_nd import gather_nd
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule


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
