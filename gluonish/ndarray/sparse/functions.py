"""Arithmetic functions of ``nd.sparse``, with sparse results where possible."""

from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.arithmetic import scalar_attrs
from gluonish.ops.registry import apply
from gluonish.ops.support.binary_row import Row


def _combine(row: Row, lhs: Any, rhs: Any) -> Any:
    if isinstance(lhs, NDArray) and isinstance(rhs, NDArray):
        same = lhs.shape == rhs.shape
        return apply(row.elemwise if same else row.broadcast, (lhs, rhs), {})
    if isinstance(lhs, NDArray):
        return apply(row.scalar, (lhs,), scalar_attrs(row, rhs))
    if isinstance(rhs, NDArray):
        return apply(row.rscalar, (rhs,), scalar_attrs(row, lhs))
    raise ArgumentTypeError(
        f"{row.broadcast.name}: expected an array on one side at least, got "
        f"{type(lhs).__name__} and {type(rhs).__name__}"
    )


def add(lhs: Any, rhs: Any) -> Any:
    """Return ``lhs + rhs``: row_sparse or csr if both are, or if a number is 0; else dense.

    Args:
        lhs: Array or number.
        rhs: Array or number; the shapes broadcast.
    """
    return _combine(binary.ADD, lhs, rhs)


def subtract(lhs: Any, rhs: Any) -> Any:
    """Return ``lhs - rhs``: row_sparse or csr if both are, or if ``rhs`` is 0; else dense.

    Args:
        lhs: Array or number.
        rhs: Array or number; the shapes broadcast.
    """
    return _combine(binary.SUBTRACT, lhs, rhs)


def multiply(lhs: Any, rhs: Any) -> Any:
    """Return ``lhs * rhs``: sparse if one side is and the shapes are equal.

    A csr matrix times a row, a column or a number is csr, too.

    Args:
        lhs: Array or number.
        rhs: Array or number; the shapes broadcast.
    """
    return _combine(binary.MULTIPLY, lhs, rhs)


def divide(lhs: Any, rhs: Any) -> Any:
    """Return ``lhs / rhs``: sparse if ``rhs`` is a number, csr for csr over a dense array.

    Args:
        lhs: Array or number.
        rhs: Array or number; the shapes broadcast.
    """
    if isinstance(lhs, NDArray) and isinstance(rhs, NDArray) and lhs.stype == "csr":
        return apply(binary.DIVIDE.broadcast, (lhs, rhs), {})
    return _combine(binary.DIVIDE, lhs, rhs)
