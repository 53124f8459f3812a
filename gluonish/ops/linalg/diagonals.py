"""Diagonals, packed triangles, and the trace.

A packed lower triangle holds its rows in order, a packed upper triangle its columns. A positive
offset selects a diagonal above the main one and the triangle above it, a negative offset the same
below.

diag: extract a diagonal of a matrix, or build a diagonal matrix.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.linalg.matrices import check_real, check_square
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import normalize_axis

# Largest offset, in case the values need fewer rows.
_MAX_OFFSET = 1024

Indices = Callable[..., tuple[Any, Any]]  # (xp, rows, **attrs): row and column of each value


def _diagonal(xp: ModuleType, rows: int, *, offset: int) -> tuple[Any, Any]:
    index = xp.arange(max(0, rows - abs(offset)))
    return index + max(0, -offset), index + max(0, offset)


def _triangle(xp: ModuleType, rows: int, *, offset: int, lower: bool) -> tuple[Any, Any]:
    size = max(0, rows - abs(offset))
    outer, inner = xp.tril_indices(size)
    if offset < 0 or (lower and offset == 0):
        return outer - offset, inner
    return inner, outer + offset


def _diagonal_length(size: int) -> int:
    return size


def _triangle_length(size: int) -> int:
    return size * (size + 1) // 2


def _triangle_size(length: int) -> int:
    return (math.isqrt(8 * length + 1) - 1) // 2


def _pair(
    extract_name: str,
    make_name: str,
    indices: Indices,
    length: Callable[[int], int],
    size: Callable[[int], int],
    docs: tuple[str, str],
    **attributes: Attribute,
) -> tuple[Operator, Operator]:
    """Register an operator that extracts values from matrices, and its adjoint."""
    schema = Schema(offset=integer(0), **attributes)

    def extract_infer(a: Spec, *, offset: int, **attrs: Any) -> tuple[Spec]:
        check_square(extract_name, a)
        check_real(extract_name, a)
        rows = a.shape[-1]
        if abs(offset) >= max(rows, 1):
            raise OperatorError(
                f"{extract_name}: expected offset between {1 - rows} and {rows - 1} for A "
                f"{a.shape}, got {offset}"
            )
        return (Spec((*a.shape[:-2], length(rows - abs(offset))), a.dtype),)

    def extract_kernel(xp: ModuleType, out: Any, a: Any, **attrs: Any) -> None:
        rows, columns = indices(xp, a.shape[-1], **attrs)
        out[...] = a[..., rows, columns]

    def extract_gradient(g: V, a: V, **attrs: Any) -> tuple[Any]:
        return (apply(make, (g,), attrs),)

    def make_infer(a: Spec, *, offset: int, **attrs: Any) -> tuple[Spec]:
        check_real(make_name, a)
        if not a.shape:
            raise OperatorError(f"{make_name}: expected A of at least 1 axis, got ()")
        rows = size(a.shape[-1])
        if length(rows) != a.shape[-1]:
            raise OperatorError(
                f"{make_name}: expected a last axis of n (n + 1) / 2 values, got {a.shape}"
            )
        if abs(offset) > max(_MAX_OFFSET, rows):
            raise OperatorError(
                f"{make_name}: expected offset of at most {max(_MAX_OFFSET, rows)} for A "
                f"{a.shape}, got {offset}"
            )
        rows += abs(offset)
        return (Spec((*a.shape[:-1], rows, rows), a.dtype),)

    def make_kernel(xp: ModuleType, out: Any, a: Any, **attrs: Any) -> None:
        rows, columns = indices(xp, out.shape[-1], **attrs)
        out.fill(0)
        out[..., rows, columns] = a

    def make_gradient(g: V, a: V, **attrs: Any) -> tuple[Any]:
        if 0 in a.shape:
            return (None,)  # the matrices hold no values
        return (apply(extract, (g,), attrs),)

    extract = register(
        Operator(
            extract_name,
            extract_infer,
            extract_kernel,
            extract_gradient,
            doc=docs[0],
            inputs=("A",),
            schema=schema,
            aliases=(extract_name[1:],),
        )
    )
    make = register(
        Operator(
            make_name,
            make_infer,
            make_kernel,
            make_gradient,
            doc=docs[1],
            inputs=("A",),
            schema=schema,
            aliases=(make_name[1:],),
        )
    )
    return extract, make


LINALG_EXTRACTDIAG, LINALG_MAKEDIAG = _pair(
    "_linalg_extractdiag",
    "_linalg_makediag",
    _diagonal,
    _diagonal_length,
    _diagonal_length,
    (
        (
            "Extract the diagonal at offset of every square matrix, as vectors.\n\n"
            "Shapes: A (..., n, n), output (..., n - |offset|)."
        ),
        (
            "Build square matrices with vectors on the diagonal at offset, and zeros elsewhere.\n\n"
            "Shapes: A (..., n), output (..., n + |offset|, n + |offset|)."
        ),
    ),
)
LINALG_EXTRACTTRIAN, LINALG_MAKETRIAN = _pair(
    "_linalg_extracttrian",
    "_linalg_maketrian",
    _triangle,
    _triangle_length,
    _triangle_size,
    (
        "Pack a triangle of every square matrix into a vector: the rows of a lower\n"
        "triangle, the columns of an upper one.\n\n"
        "lower is used only if offset is 0.\n\n"
        "Shapes: A (..., n, n), output (..., k * (k + 1) / 2), where k is n - |offset|.",
        (
            "Unpack triangles into square matrices, with zeros elsewhere: the inverse of\n"
            "extracttrian.\n\n"
            "Shapes: A (..., k * (k + 1) / 2), output (..., k + |offset|, k + |offset|)."
        ),
    ),
    lower=boolean(True),
)


def extract_diagonal(a: Any) -> Any:
    """Return the main diagonal of every square matrix."""
    return apply(LINALG_EXTRACTDIAG, (a,), {"offset": 0})


def make_diagonal(a: Any) -> Any:
    """Return diagonal matrices."""
    return apply(LINALG_MAKEDIAG, (a,), {"offset": 0})


def _trace_infer(data: Spec, *, offset: int, axis1: int, axis2: int) -> tuple[Spec]:
    first, second = (normalize_axis("_np_trace", axis, len(data.shape)) for axis in (axis1, axis2))
    if first == second:
        raise OperatorError(f"_np_trace: expected two different axes, got {axis1} and {axis2}")
    if data.dtype.kind == "b":
        raise OperatorError("_np_trace: expected numbers, got bool; cast with astype")
    rest = tuple(n for i, n in enumerate(data.shape) if i not in (first, second))
    return (Spec(rest, data.dtype),)


def _diagonal_view(xp: ModuleType, x: Any, offset: int, axis1: int, axis2: int) -> tuple[Any, ...]:
    """Return ``x`` with the two axes last, and the rows and columns of a diagonal."""
    matrices = xp.moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    row, column = max(0, -offset), max(0, offset)
    index = xp.arange(max(0, min(rows - row, columns - column)))
    return matrices, index + row, index + column


def _trace_kernel(
    xp: ModuleType, out: Any, data: Any, *, offset: int, axis1: int, axis2: int
) -> None:
    matrices, rows, columns = _diagonal_view(xp, data, offset, axis1, axis2)
    diagonal = widen(matrices[..., rows, columns])
    out[...] = xp.add.reduce(diagonal, axis=-1, dtype=diagonal.dtype)


def _trace_gradient(g: V, data: V, **attrs: int) -> tuple[Any]:
    return (apply(_TRACE_SPREAD, (g,), {"shape": data.shape, **attrs}),)


NP_TRACE = register(
    Operator(
        "_np_trace",
        _trace_infer,
        _trace_kernel,
        _trace_gradient,
        doc=(
            "Sum the diagonal at offset over the axes axis1 and axis2.\n\n"
            "Shapes: data (..., rows, columns) with rows along axis1 and columns along axis2,\n"
            "output (...)."
        ),
        schema=Schema(offset=integer(0), axis1=integer(0), axis2=integer(1)),
    )
)


def _spread_infer(data: Spec, *, shape: Shape, offset: int, axis1: int, axis2: int) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _spread_kernel(
    xp: ModuleType, out: Any, data: Any, *, shape: Shape, offset: int, axis1: int, axis2: int
) -> None:
    out.fill(0)
    matrices, rows, columns = _diagonal_view(xp, out, offset, axis1, axis2)
    matrices[..., rows, columns] = data[..., None]


def _spread_gradient(g: V, data: V, *, shape: Shape, **attrs: int) -> tuple[Any]:
    return (apply(NP_TRACE, (g,), attrs),)


_TRACE_SPREAD = register(
    Operator(
        "_backward_trace",
        _spread_infer,
        _spread_kernel,
        _spread_gradient,
        doc="Return zeros of a shape, with one number along a diagonal.",
        schema=Schema(shape=shape_attr(), offset=integer(0), axis1=integer(0), axis2=integer(1)),
    )
)


_DIAG_MAX_OFFSET = 1 << 16  # of the diagonal of a vector; beyond, the matrix does not fit in memory

_AXES = {"k": integer(0), "axis1": integer(0), "axis2": integer(1)}


def _length(shape: Shape, k: int, axis1: int, axis2: int) -> int:
    rows, columns = shape[axis1], shape[axis2]
    return min(rows, columns - k) if k >= 0 else min(rows + k, columns)


def _infer(data: Spec, *, k: int, axis1: int, axis2: int) -> tuple[Spec]:
    rank = len(data.shape)
    if not data.shape:
        raise OperatorError("diag: expected data of at least 1 axis, got ()")
    if rank == 1:
        if abs(k) > _DIAG_MAX_OFFSET:
            raise OperatorError(f"diag: expected abs(k) of at most {_DIAG_MAX_OFFSET}, got {k}")
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
