"""diag: extract a diagonal of a matrix, or build a diagonal matrix."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.shape_rules import normalize_axis

_MAX_OFFSET = 1 << 16  # of the diagonal of a vector; beyond, the matrix does not fit in memory

_AXES = {"k": integer(0), "axis1": integer(0), "axis2": integer(1)}


def _length(shape: Shape, k: int, axis1: int, axis2: int) -> int:
    rows, columns = shape[axis1], shape[axis2]
    return min(rows, columns - k) if k >= 0 else min(rows + k, columns)


def _infer(data: Spec, *, k: int, axis1: int, axis2: int) -> tuple[Spec]:
    rank = len(data.shape)
    if not data.shape:
        raise OperatorError("diag: expected data of at least 1 axis, got ()")
    if rank == 1:
        if abs(k) > _MAX_OFFSET:
            raise OperatorError(f"diag: expected abs(k) of at most {_MAX_OFFSET}, got {k}")
        extent = data.shape[0] + abs(k)
        return (Spec((extent, extent), data.dtype),)
    axis1, axis2 = (normalize_axis("diag", axis, rank) for axis in (axis1, axis2))
    if axis1 == axis2:
        raise OperatorError(f"diag: expected two different axes, got {axis1} twice")
    length = _length(data.shape, k, axis1, axis2)
    if length <= 0:
        raise OperatorError(
            f"diag: expected k of a diagonal in axes {axis1} and {axis2} of {data.shape}, got {k}"
        )
    rest = (n for i, n in enumerate(data.shape) if i not in (axis1, axis2))
    return (Spec((*rest, length), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, k: int, axis1: int, axis2: int) -> None:
    if data.ndim == 1:
        _put_kernel(xp, out, data, shape=out.shape, k=k, axis1=0, axis2=1)
    else:
        out[...] = xp.diagonal(data, k, axis1, axis2)


def _gradient(g: V, data: V, *, k: int, axis1: int, axis2: int) -> tuple[Any]:
    if len(data.shape) == 1:
        return (apply(DIAG, (g,), {"k": k, "axis1": 0, "axis2": 1}),)
    attrs = {"shape": data.shape, "k": k, "axis1": axis1, "axis2": axis2}
    return (apply(_PUT, (g,), attrs),)


DIAG = register(
    Operator(
        "diag",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Extract diagonal k of the matrices in axes axis1 and axis2, as the last axis.\n\n"
            "Data (n,) gives the matrix (n + |k|, n + |k|) of zeros with data on diagonal k.\n\n"
            "Shapes: data (n,), output (n + |k|, n + |k|); data (..., rows, columns), output\n"
            "(..., length of the diagonal)."
        ),
        schema=Schema(**_AXES),
    )
)


def _put_kernel(
    xp: ModuleType, out: Any, data: Any, *, shape: Shape, k: int, axis1: int, axis2: int
) -> None:
    out.fill(0)
    matrices = xp.moveaxis(out, (axis1, axis2), (-2, -1))
    index = xp.arange(data.shape[-1])
    matrices[..., index + max(0, -k), index + max(0, k)] = data


def _put_gradient(g: V, data: V, *, shape: Shape, k: int, axis1: int, axis2: int) -> tuple[Any]:
    return (apply(DIAG, (g,), {"k": k, "axis1": axis1, "axis2": axis2}),)


_PUT = register(
    Operator(
        "_diag_put",
        lambda data, *, shape, **_: (Spec(shape, data.dtype),),
        _put_kernel,
        _put_gradient,
        doc="Write data to a diagonal of zeros, in axes axis1 and axis2.",
        schema=Schema(shape=shape_attr(), **_AXES),
    )
)
