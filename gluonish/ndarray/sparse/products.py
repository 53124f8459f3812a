"""``dot`` with sparse matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.array import CSRNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import convert, int_array, no_rows, to_dense, with_rows
from gluonish.ops.linalg.matmul import DOT, matmul
from gluonish.ops.registry import Attrs, Operator, V
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.sparse.cast_storage import cast_storage
from gluonish.ops.sparse.compressed import CSR_DOT


def _of_left(g: Any, rhs: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if transpose_a:
        return matmul(rhs, g, transpose_a=transpose_b, transpose_b=True)
    return matmul(g, rhs, transpose_b=not transpose_b)


def _of_right(g: Any, lhs: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if transpose_b:
        return matmul(g, lhs, transpose_a=True, transpose_b=transpose_a)
    return matmul(lhs, g, transpose_a=not transpose_a)


def _gradient(
    g: V, lhs: V, rhs: V, *, transpose_a: bool, transpose_b: bool, forward_stype: str | None
) -> tuple[Any, Any]:
    """Gradients of `dot` without a reshape, which sparse arrays do not support."""
    if len(rhs.shape) == 2:
        return (
            lambda: _of_left(g, rhs, transpose_a, transpose_b),
            lambda: _of_right(g, lhs, transpose_a, transpose_b),
        )
    column = reshape(cast_storage(rhs, "default"), (rhs.shape[0], 1))
    head = reshape(g, (g.shape[0], 1))

    def of_vector() -> Any:
        found = _of_right(head, lhs, transpose_a, transpose_b=False)
        return reshape(cast_storage(found, "default"), rhs.shape)

    return lambda: _of_left(head, column, transpose_a, False), of_vector


SPARSE_DOT = Operator(
    "dot",
    DOT.infer,
    DOT.kernel,
    _gradient,
    doc=DOT.doc,
    inputs=DOT.inputs,
    schema=DOT.schema,
)


@implement("dot", "cd cr", recorded=SPARSE_DOT)
def _compressed_product(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    lhs, rhs = inputs
    assert isinstance(lhs, CSRNDArray)
    if rhs.ndim > 2:
        return NotImplemented
    dense = to_dense(rhs)
    if attrs["transpose_b"]:
        dense = dense.T
    stype = attrs["forward_stype"]
    if stype is None and attrs["transpose_b"]:
        stype = "default"
    if not attrs["transpose_a"]:
        return convert(_csr_dot(lhs, dense, lhs._storage.aux[1], lhs.shape[0]), stype or "default")
    if stype == "default" or dense.ndim == 1:
        return _csr_dot(lhs, dense, lhs._storage.aux[1], lhs.shape[1], transpose=True)
    rows, positions = _distinct(lhs._storage.aux[1].asnumpy(), lhs.shape[1])
    shape = (lhs.shape[1], *dense.shape[1:])
    if not len(rows):
        return convert(with_rows(no_rows(dense), rows, shape), stype or "row_sparse")
    values = _csr_dot(lhs, dense, int_array(positions, lhs), len(rows), transpose=True)
    product = with_rows(values, rows, shape)
    return product if stype in (None, "row_sparse") else convert(to_dense(product), stype)


def _distinct(columns: Any, extent: int) -> tuple[Any, Any]:
    """Return the distinct columns, ascending, and each element's index among them."""
    if extent > 4 * len(columns):
        rows, positions = np.unique(columns, return_inverse=True)
        return rows, positions.reshape(-1)
    present = np.zeros(extent, np.bool_)
    present[columns] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[columns]


def _csr_dot(
    lhs: CSRNDArray, rhs: NDArray, columns: NDArray, rows: int, *, transpose: bool = False
) -> NDArray:
    parts = lhs._storage
    inputs = (parts.values, columns, parts.aux[0], rhs)
    product: NDArray = invoke(CSR_DOT, inputs, {"transpose": transpose, "rows": rows})
    return product


@implement("dot", "dc", recorded=SPARSE_DOT)
def _dense_product(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    lhs, rhs = inputs
    stype = attrs["forward_stype"] or ("default" if attrs["transpose_a"] else "csr")
    if lhs.ndim != 2:
        return NotImplemented
    assert isinstance(rhs, CSRNDArray)
    # x S = (S' x')'
    columns = lhs if attrs["transpose_a"] else lhs.T
    transpose = not attrs["transpose_b"]
    extent = rhs.shape[1] if transpose else rhs.shape[0]
    product = _csr_dot(rhs, columns, rhs._storage.aux[1], extent, transpose=transpose)
    return convert(product.T, stype)


@implement("dot", "dr rd rr rc cc", recorded=SPARSE_DOT)
def _other_product(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    if any(x.ndim > 2 for x in inputs):
        return NotImplemented
    product = invoke(op, [to_dense(x) for x in inputs], attrs)
    return convert(product, attrs["forward_stype"] or "default")
