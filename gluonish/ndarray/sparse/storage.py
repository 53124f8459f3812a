"""Conversion between storage types."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import INT64
from gluonish.core.errors import ArgumentError
from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from gluonish.ops.elementwise.binary import NOT_EQUAL
from gluonish.ops.indexing.take import take
from gluonish.ops.reductions.reduction import MAX
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.sparse.cast_storage import ROWS_TO_DENSE
from gluonish.ops.sparse.compressed import CSR_TO_DENSE

STYPES = ("default", "row_sparse", "csr")


def int_array(values: Any, like: NDArray | Context) -> NDArray:
    """Copy integers from the host to an int64 array on a device."""
    context = like.context if isinstance(like, NDArray) else like
    return from_host(np.asarray(values), context, INT64)


def with_rows(values: NDArray, rows: Any, shape: Sequence[int]) -> RowSparseNDArray:
    """Build a row-sparse array from stored rows, and from row indices on the host."""
    return RowSparseNDArray(values, (int_array(rows, values),), tuple(shape))


def compressed(values: NDArray, columns: Any, pointers: Any, shape: Sequence[int]) -> CSRNDArray:
    """Build a CSR matrix from stored elements, and from columns and row pointers on the host."""
    aux = (int_array(pointers, values), int_array(columns, values))
    return CSRNDArray(values, aux, tuple(shape))


def element_rows(x: CSRNDArray) -> Any:
    """Return the row of each stored element of a CSR matrix, on the host."""
    pointers = x._storage.aux[0].asnumpy()
    return np.repeat(np.arange(x.shape[0]), np.diff(pointers))


def union(a: Any, b: Any) -> Any:
    """Return the union of two ascending NumPy arrays of distinct integers, ascending."""
    both = np.concatenate([a, b])
    both.sort(kind="stable")  # merges sorted runs
    return both[np.concatenate([both[:1] == both[:1], both[1:] != both[:-1]])]


def no_rows(like: NDArray) -> NDArray:
    """Return an array of 0 rows (or elements) with the row shape, dtype and device of another."""
    return from_host(np.zeros((0, *like.shape[1:])), like.context, like.dtype)


def scatter_rows(values: NDArray, rows: NDArray, shape: Sequence[int]) -> NDArray:
    """Return an array of zeros with rows (or elements) at the indices ``rows``."""
    placed: NDArray = invoke(ROWS_TO_DENSE, (values, rows), {"shape": tuple(shape)})
    return placed


def empty_sparse(
    shape: Sequence[int], stype: str, context: Context, dtype: Any
) -> BaseSparseNDArray:
    """Return a sparse array without stored elements.

    Raises:
        ArgumentError: A csr array is not a matrix, or the storage type is unknown.
    """
    _check_stype("zeros", stype, shape)
    if stype == "row_sparse":
        values = from_host(np.zeros((0, *shape[1:])), context, dtype)
        return with_rows(values, np.zeros(0), shape)
    pointers = np.zeros(shape[0] + 1)
    return compressed(from_host(np.zeros(0), context, dtype), np.zeros(0), pointers, shape)


def _check_stype(what: str, stype: str, shape: Sequence[int]) -> None:
    if stype not in STYPES:
        raise ArgumentError(f"{what}: expected stype in {STYPES}, got {stype!r}")
    if stype == "csr" and len(shape) != 2:
        raise ArgumentError(f"{what}: expected an array of 2 axes for csr, got shape {shape}")
    if stype == "row_sparse" and not shape:
        raise ArgumentError(f"{what}: expected an array with axes for row_sparse, got a scalar")


def to_dense(x: NDArray) -> NDArray:
    """Convert an array to dense storage; return a dense array unchanged."""
    if not isinstance(x, BaseSparseNDArray):
        return x
    parts = x._storage
    if isinstance(x, RowSparseNDArray):
        return scatter_rows(parts.values, parts.aux[0], x.shape)
    pointers, columns = parts.aux
    inputs = (parts.values, columns, pointers)
    dense: NDArray = invoke(CSR_TO_DENSE, inputs, {"shape": x.shape})
    return dense


def _to_row_sparse(x: NDArray) -> RowSparseNDArray:
    rows: Any = np.zeros(0)
    if x.size:
        differs = NOT_EQUAL(reshape(x, (x.shape[0], x.size // x.shape[0])), 0.0)
        attrs = {"axis": (1,), "keepdims": False, "exclude": False}
        rows = np.flatnonzero(invoke(MAX, (differs,), attrs).asnumpy())
    if not len(rows):
        return with_rows(no_rows(x), rows, x.shape)
    return with_rows(take(x, int_array(rows, x)), rows, x.shape)


def _to_csr(x: NDArray) -> CSRNDArray:
    rows, columns = np.nonzero(NOT_EQUAL(x, 0.0).asnumpy()) if x.size else (np.zeros(0, int),) * 2
    pointers = np.searchsorted(rows, np.arange(x.shape[0] + 1))
    if not len(rows):
        empty = from_host(np.zeros(0), x.context, x.dtype)
        return compressed(empty, columns, pointers, x.shape)
    positions = int_array(rows * x.shape[1] + columns, x)
    return compressed(take(reshape(x, (x.size,)), positions), columns, pointers, x.shape)


def convert(x: NDArray, stype: str) -> NDArray:
    """Convert an array to a storage type; return it unchanged if it already has that type.

    Raises:
        ArgumentError: A csr array is not a matrix, or the storage type is unknown.
    """
    if x.stype == stype:
        return x
    _check_stype("cast_storage", stype, x.shape)
    dense = to_dense(x)
    if stype == "default":
        return dense
    return _to_row_sparse(dense) if stype == "row_sparse" else _to_csr(dense)
