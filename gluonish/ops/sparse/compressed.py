"""Kernels on CSR matrices: dense form, products, sums of columns or rows.

A CSR matrix consists of values (NNZ,), column indices (NNZ,) and row pointers (rows + 1,). The
column indices of a row may be unordered, and repeat: then the values are summed.

_square_sum: the sum of squares over axes.

The operators of ``nd.sparse`` and ``sym.sparse``, by their names there.
"""

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.reductions.reduction import SUM, reduced_axes
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.host import add_at, scatter_accumulator

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


Axes = tuple[int, ...]


def _infer(data: Spec, **attrs: Any) -> tuple[Spec, ...]:
    reduced_axes("_square_sum", len(data.shape), attrs["axis"], attrs["exclude"])
    return SUM.infer(data, **attrs)


def _kernel(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    SUM.kernel(xp, out, xp.multiply(data, data), **attrs)


def _gradient(
    g: V, data: V, *, axis: Axes | None, keepdims: bool, exclude: bool
) -> tuple[Any, ...]:
    axes = reduced_axes("_square_sum", len(data.shape), axis, exclude)
    reduced = tuple(1 if i in axes else extent for i, extent in enumerate(data.shape))
    return (broadcast_to(reshape(g, reduced), data.shape) * data * 2.0,)


SQUARE_SUM = register(
    Operator(
        "_square_sum",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Sum the squares of data over axes; the arguments are as in sum.\n\n"
            "For a row-sparse matrix over axis 1 with keepdims the result is row-sparse.\n\n"
            "Shapes: data any, output data's without the axes in axis, or with size 1 there\n"
            "(keepdims)."
        ),
        schema=Schema(axis=optional(shape_attr()), keepdims=boolean(False), exclude=boolean(False)),
    )
)


_SAME = """
    ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput
    MAERegressionOutput abs adam_update add_n arccos arccosh arcsin arcsinh arctan arctanh
    broadcast_add broadcast_div broadcast_minus broadcast_mul broadcast_plus broadcast_sub
    cast_storage cbrt ceil clip concat cos cosh degrees dot elemwise_add elemwise_div elemwise_mul
    elemwise_sub exp expm1 fix floor ftrl_update gamma gammaln log log10 log1p log2 make_loss mean
    negative norm radians relu rint round rsqrt sgd_mom_update sgd_update sigmoid sign sin sinh
    slice sqrt square stop_gradient sum tan tanh trunc where zeros_like
"""

OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in _SAME.split()},
        "adagrad_update": "_sparse_adagrad_update",
        "retain": "_sparse_retain",
    }
)
