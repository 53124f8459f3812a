"""Sums and norms of sparse arrays over their stored values; the results are dense."""

from collections.abc import Sequence
from typing import Any

from gluonish.ndarray.eager import invoke
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import empty_sparse, scatter_rows
from gluonish.ops.reductions.reduction import reduced_axes, sum_
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.sparse.compressed import CSR_COLUMN_SUMS


@implement("sum mean", "c")
def _sum(op: Operator, inputs: Sequence[CSRNDArray], attrs: Attrs) -> Any:
    (x,) = inputs
    axes = reduced_axes(op.name, 2, attrs["axis"], attrs["exclude"])
    if not axes or not x.size:
        return NotImplemented
    parts = x._storage
    if len(axes) == 2:
        total = sum_(parts.values)
        shape: tuple[int, ...] = (1,)
    else:
        count = x.shape[1 - axes[0]]
        pointers, columns = parts.aux
        inner = {"axis": axes[0], "count": count}
        total = invoke(CSR_COLUMN_SUMS, (parts.values, columns, pointers), inner)
        shape = (count,)
    if attrs["keepdims"]:
        shape = tuple(1 if i in axes else extent for i, extent in enumerate(x.shape))
    if op.name == "mean":
        total = total / float(x.size // total.size)
    return reshape(total, shape)


@implement("norm", "r c")
def _norm(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    (x,) = inputs
    if attrs["axis"] or not x._storage.values.size:
        return NotImplemented
    found = invoke(op, (x._storage.values,), {**attrs, "keepdims": False})
    return reshape(found, (1,) * (x.ndim if attrs["keepdims"] else 1))


@implement("_square_sum", "r")
def _square_sum(op: Operator, inputs: Sequence[RowSparseNDArray], attrs: Attrs) -> Any:
    (x,) = inputs
    axes = reduced_axes(op.name, x.ndim, attrs["axis"], attrs["exclude"])
    if x.ndim != 2 or axes not in ((0,), (1,)):
        return NotImplemented
    if not x._storage.values.size:
        if axes == (0,) or not attrs["keepdims"]:
            return NotImplemented
        return empty_sparse((x.shape[0], 1), "row_sparse", x.context, x.dtype)
    values = invoke(op, (x._storage.values,), {**attrs, "axis": axes, "exclude": False})
    if axes == (0,):
        return values
    rows = x._storage.aux[0]
    if attrs["keepdims"]:
        return RowSparseNDArray(values, (rows,), (x.shape[0], 1))
    return scatter_rows(values, rows, (x.shape[0],))
