"""Kernels on CSR matrices: dense form, products, sums of columns or rows.

A CSR matrix consists of values (NNZ,), column indices (NNZ,) and row pointers (rows + 1,). The
column indices of a row may be unordered, and repeat: then the values are summed.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.scatter import add_at, scatter_accumulator

_INPUTS = ("values", "columns", "pointers")


def row_numbers(xp: ModuleType, pointers: Any, count: int) -> Any:
    """Return the row of each element, (NNZ,)."""
    return xp.searchsorted(pointers, xp.arange(count), side="right") - 1


def _check(name: str, values: Spec, columns: Spec, pointers: Spec) -> None:
    if len(values.shape) != 1 or columns.shape != values.shape or len(pointers.shape) != 1:
        raise OperatorError(
            f"{name}: expected values and columns (NNZ,) and pointers (rows + 1,), "
            f"got {values.shape}, {columns.shape} and {pointers.shape}"
        )


def _dense_infer(values: Spec, columns: Spec, pointers: Spec, *, shape: Shape) -> tuple[Spec]:
    _check("_sparse_csr_to_dense", values, columns, pointers)
    return (Spec(shape, values.dtype),)


def _dense_kernel(
    xp: ModuleType, out: Any, values: Any, columns: Any, pointers: Any, *, shape: Shape
) -> None:
    wide = scatter_accumulator(values.dtype)
    total = out if out.dtype == wide else xp.empty(shape, dtype=wide)
    total[...] = 0
    rows = row_numbers(xp, pointers, len(values))
    add_at(xp, total, (rows, columns), values.astype(wide))
    if total is not out:
        out[...] = total


CSR_TO_DENSE = register(
    Operator(
        "_sparse_csr_to_dense",
        _dense_infer,
        _dense_kernel,
        None,
        doc="Convert a CSR matrix to a dense matrix of shape (rows, columns).",
        inputs=_INPUTS,
        schema=Schema(shape=shape_attr()),
    )
)


def _dot_infer(
    values: Spec, columns: Spec, pointers: Spec, rhs: Spec, *, transpose: bool, rows: int
) -> tuple[Spec]:
    _check("_sparse_csr_dot", values, columns, pointers)
    if values.dtype != rhs.dtype:
        raise OperatorError(
            f"dot: expected arrays of equal dtype, got {values.dtype.name} and {rhs.dtype.name}"
        )
    return (Spec((rows, *rhs.shape[1:]), rhs.dtype),)


def _dot_kernel(
    xp: ModuleType,
    out: Any,
    values: Any,
    columns: Any,
    pointers: Any,
    rhs: Any,
    *,
    transpose: bool,
    rows: int,
) -> None:
    wide = scatter_accumulator(rhs.dtype)
    numbers = row_numbers(xp, pointers, len(values))
    sources, targets = (numbers, columns) if transpose else (columns, numbers)
    products = rhs[sources].astype(wide, copy=False)
    products *= values.astype(wide, copy=False).reshape(-1, *[1] * (rhs.ndim - 1))
    if xp is np and not transpose:
        _sum_runs(out, products, pointers)
        return
    total = xp.zeros(out.shape, dtype=wide)
    add_at(xp, total, targets, products)
    out[...] = total


def _sum_runs(out: Any, products: Any, pointers: Any) -> None:
    """Fill each row of out with the sum of the products between two pointers."""
    out[...] = 0
    filled = np.flatnonzero(pointers[1:] > pointers[:-1])
    if filled.size:
        out[filled] = np.add.reduceat(products, pointers[filled], axis=0)


CSR_DOT = register(
    Operator(
        "_sparse_csr_dot",
        _dot_infer,
        _dot_kernel,
        None,
        doc=(
            "Multiply a CSR matrix, or its transpose, by a dense array.\n\n"
            "Shapes: rhs (columns, ...) or, with transpose, (rows of the matrix, ...); output\n"
            "(rows, ...). With transpose the column indices are the rows of the output."
        ),
        inputs=(*_INPUTS, "rhs"),
        schema=Schema(transpose=boolean(False), rows=integer()),
        execution=Execution(heavy=True),
    )
)


def _sums_infer(
    values: Spec, columns: Spec, pointers: Spec, *, axis: int, count: int
) -> tuple[Spec]:
    _check("_sparse_csr_sums", values, columns, pointers)
    return (Spec((count,), values.dtype),)


def _sums_kernel(
    xp: ModuleType, out: Any, values: Any, columns: Any, pointers: Any, *, axis: int, count: int
) -> None:
    wide = scatter_accumulator(values.dtype)
    total = xp.zeros((count,), dtype=wide)
    positions = columns if axis == 0 else row_numbers(xp, pointers, len(values))
    add_at(xp, total, positions, values.astype(wide))
    out[...] = total


CSR_COLUMN_SUMS = register(
    Operator(
        "_sparse_csr_sums",
        _sums_infer,
        _sums_kernel,
        None,
        doc=(
            "Sum a CSR matrix over an axis: (columns,) over axis 0, (rows,) over axis 1; count\n"
            "is the size of the output."
        ),
        inputs=_INPUTS,
        schema=Schema(axis=integer(), count=integer()),
    )
)
