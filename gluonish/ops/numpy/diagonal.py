"""diag, diagflat, diagonal, tril and triu: diagonals and triangles of matrices."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Shape, Spec
from gluonish.ops.numpy.promotion import refuse_bool
from gluonish.ops.numpy.rearrangement import moved_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.shape_rules import normalize_axis

_MOST_EXTENT = 2**15  # of a matrix made from a diagonal


def _length(rows: int, columns: int, offset: int) -> int:
    """Return the length of diagonal ``offset`` of a matrix."""
    return max(0, min(rows + min(0, offset), columns - max(0, offset)))


def _square_shape(name: str, size: int, k: int) -> Shape:
    extent = size + abs(k)
    if extent > _MOST_EXTENT:
        raise OperatorError(
            f"{name}: expected a diagonal that fits a matrix of {_MOST_EXTENT} rows, got {size} "
            f"elements and k {k}"
        )
    return extent, extent


def _put(xp: ModuleType, out: Any, values: Any, k: int) -> None:
    """Fill a square matrix with zeros and ``values`` on diagonal ``k``."""
    out.fill(out.dtype.type(0))
    diagonal = xp.arange(values.shape[0])
    out[diagonal + max(0, -k), diagonal + max(0, k)] = values


def _diag_infer(data: Spec, *, k: int) -> tuple[Spec]:
    if len(data.shape) == 1:
        return (Spec(_square_shape("_np_diag", data.shape[0], k), data.dtype),)
    if len(data.shape) != 2:
        raise OperatorError(f"_np_diag: expected data of one or two axes, got {data.shape}")
    return (Spec((_length(*data.shape, k),), data.dtype),)


def _diag_kernel(xp: ModuleType, out: Any, data: Any, *, k: int) -> None:
    if data.ndim == 1:
        _put(xp, out, data, k)
    elif out.size:
        out[...] = xp.diagonal(data, k)


DIAG = register(
    Operator(
        "_np_diag",
        _diag_infer,
        _diag_kernel,
        moved_gradient("_np_diag", _diag_kernel),
        doc=(
            "Diagonal k of a matrix; for a vector, the matrix with the vector on diagonal k.\n\n"
            "Shapes: data (n,), output (n + |k|, n + |k|); data (rows, columns), output (length\n"
            "of the diagonal,)."
        ),
        schema=Schema(k=integer(0)),
    )
)


def _flat_infer(data: Spec, *, k: int) -> tuple[Spec]:
    return (Spec(_square_shape("_np_diagflat", data.size, k), data.dtype),)


def _flat_kernel(xp: ModuleType, out: Any, data: Any, *, k: int) -> None:
    _put(xp, out, data.reshape(-1), k)


DIAGFLAT = register(
    Operator(
        "_np_diagflat",
        _flat_infer,
        _flat_kernel,
        moved_gradient("_np_diagflat", _flat_kernel),
        doc=(
            "A matrix with all elements of data, in row-major order, on diagonal k.\n\n"
            "Shapes: data any, output (n, n), where n is data's number of elements + |k|."
        ),
        schema=Schema(k=integer(0)),
    )
)


def _diagonal_infer(data: Spec, *, offset: int, axis1: int, axis2: int) -> tuple[Spec]:
    shape = data.shape
    if len(shape) < 2:
        raise OperatorError(f"_np_diagonal: expected data of two or more axes, got {shape}")
    first = normalize_axis("_np_diagonal", axis1, len(shape))
    second = normalize_axis("_np_diagonal", axis2, len(shape))
    if first == second:
        raise OperatorError(f"_np_diagonal: expected two different axes, got {axis1} and {axis2}")
    rest = tuple(n for i, n in enumerate(shape) if i not in (first, second))
    return (Spec((*rest, _length(shape[first], shape[second], offset)), data.dtype),)


def _diagonal_kernel(
    xp: ModuleType, out: Any, data: Any, *, offset: int, axis1: int, axis2: int
) -> None:
    if out.size:
        out[...] = xp.diagonal(data, offset, axis1, axis2)


DIAGONAL = register(
    Operator(
        "_np_diagonal",
        _diagonal_infer,
        _diagonal_kernel,
        moved_gradient("_np_diagonal", _diagonal_kernel),
        doc=(
            "The diagonal at offset of the matrices in axes axis1 and axis2, which becomes the\n"
            "last axis.\n\n"
            "Shapes: data (..., rows, columns) with these in axis1 and axis2, output (...,\n"
            "length of the diagonal)."
        ),
        schema=Schema(offset=integer(0), axis1=integer(0), axis2=integer(1)),
    )
)


def _triangle(word: str, name: str, zeros: str) -> Operator:
    """Register ``_npi_tril`` or ``_npi_triu``."""

    def infer(data: Spec, *, k: int) -> tuple[Spec]:
        refuse_bool(name, data)
        rank = len(data.shape)
        if rank == 0:
            raise OperatorError(f"{name}: expected data of at least one axis, got ()")
        if rank > 1:
            return (data,)
        extent = data.shape[0]
        _square_shape(name, extent, 0)
        return (Spec(data.shape * 2, data.dtype),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, k: int) -> None:
        rows, columns = out.shape[-2:]
        k = max(-rows, min(k, columns))
        offsets = xp.arange(columns) - xp.arange(rows)[:, None]
        inside = offsets <= k if word == "Lower" else offsets >= k
        out[...] = xp.where(inside, data, data.dtype.type(0))

    return register(
        Operator(
            name,
            infer,
            kernel,
            moved_gradient(name, kernel),
            doc=(
                f"{word} triangle of matrices: zeros {zeros} diagonal k. A vector is first\n"
                "broadcast to a square matrix whose rows are copies of it.\n\n"
                "Shapes: data (..., rows, columns) and output the same; data (n,), output (n, n)."
            ),
            schema=Schema(k=integer(0)),
        )
    )


TRIL = _triangle("Lower", "_npi_tril", "above")
TRIU = _triangle("Upper", "_npi_triu", "below")
