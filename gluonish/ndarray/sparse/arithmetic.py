"""Arithmetic of two sparse arrays, and of a sparse array and a dense one."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from gluonish.core.spec import Shape
from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.array import CSRNDArray, RowSparseNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import (
    compressed,
    element_rows,
    int_array,
    no_rows,
    scatter_rows,
    union,
    with_rows,
)
from gluonish.ops.elementwise.binary import ADD
from gluonish.ops.indexing.take import take
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.shape.reshape import reshape

_SUMS = "elemwise_add elemwise_sub _grad_add"
_ZERO_AT_ZEROS = "_maximum _minimum _hypot"


def _spread_rows(x: RowSparseNDArray, rows: Any) -> NDArray:
    """Return the values of an array scattered to a superset of its rows."""
    own = x._storage.aux[0].asnumpy()
    if len(own) == len(rows):
        return x._storage.values
    positions = int_array(np.searchsorted(rows, own), x)
    return scatter_rows(x._storage.values, positions, (len(rows), *x.shape[1:]))


def gather_rows(x: NDArray, rows: Any) -> NDArray:
    """Return copies of rows of a dense or row-sparse array, zeros for rows that are not stored.

    ``rows`` are distinct, ascending indices on the host.
    """
    if not isinstance(x, RowSparseNDArray):
        return take(x, int_array(rows, x)) if len(rows) else no_rows(x)
    own = x._storage.aux[0].asnumpy()
    positions = np.searchsorted(own, rows)
    found: Any = (
        np.flatnonzero(own[np.minimum(positions, len(own) - 1)] == rows) if len(own) else []
    )
    shape = (len(rows), *x.shape[1:])
    if not len(found):
        return scatter_rows(no_rows(x), int_array(np.zeros(0), x), shape)
    values = x._storage.values
    taken = take(values, int_array(positions[found], x))
    return taken if len(found) == len(rows) else scatter_rows(taken, int_array(found, x), shape)


def _common_rows(arrays: Sequence[RowSparseNDArray]) -> Any:
    return reduce(union, [x._storage.aux[0].asnumpy() for x in arrays])


@implement(f"{_SUMS} {_ZERO_AT_ZEROS}", "rr")
def _combine_rows(op: Operator, inputs: Sequence[RowSparseNDArray], attrs: Attrs) -> Any:
    a, b = inputs
    rows = _common_rows(inputs)
    values = invoke(op, (_spread_rows(a, rows), _spread_rows(b, rows)), attrs)
    return with_rows(values, rows, a.shape)


@implement("add_n", "r*")
def _sum_rows(op: Operator, inputs: Sequence[RowSparseNDArray], attrs: Attrs) -> Any:
    rows = _common_rows(inputs)
    values = invoke(op, [_spread_rows(x, rows) for x in inputs], attrs)
    return with_rows(values, rows, inputs[0].shape)


def add_rows(arrays: Sequence[RowSparseNDArray]) -> RowSparseNDArray:
    """Return the sum of row-sparse arrays of one shape."""
    total = arrays[0]
    for x in arrays[1:]:
        total = _combine_rows(ADD.elemwise, (total, x), {})
    return total


@implement("elemwise_mul", "rr")
def _multiply_rows(op: Operator, inputs: Sequence[RowSparseNDArray], attrs: Attrs) -> Any:
    a, b = inputs
    rows = np.intersect1d(a._storage.aux[0].asnumpy(), b._storage.aux[0].asnumpy())
    return with_rows(invoke(op, (gather_rows(a, rows), gather_rows(b, rows)), attrs), rows, a.shape)


@implement("elemwise_mul _scatter_elemwise_div", "rd")
def _rows_and_dense(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    sparse, dense = inputs
    assert isinstance(sparse, RowSparseNDArray)
    rows = sparse._storage.aux[0].asnumpy()
    return sparse._with_values(
        invoke(op, (sparse._storage.values, gather_rows(dense, rows)), attrs)
    )


@implement("_scatter_elemwise_div", "rc")
def _divide_rows_by_matrix(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    return _rows_and_dense(op, (inputs[0], inputs[1].tostype("default")), attrs)


@implement("_identity_with_attr_like_rhs", "dr dc rr rc cr cc")
def _in_storage_of_second(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    return inputs[0].tostype("default").tostype(inputs[1].stype)


@implement("_scatter_elemwise_div", "rr")
def _divide_rows(op: Operator, inputs: Sequence[RowSparseNDArray], attrs: Attrs) -> Any:
    return _rows_and_dense(op, inputs, attrs)


@implement("elemwise_mul", "dr dc")
def _dense_and_sparse(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    dense, sparse = inputs
    both = _rows_and_dense if isinstance(sparse, RowSparseNDArray) else _elements_and_dense
    return both(op, (sparse, dense), attrs)


def _flat_places(x: CSRNDArray) -> Any:
    """Return the flat index of each stored element in the dense matrix, on the host."""
    return element_rows(x) * x.shape[1] + x._storage.aux[1].asnumpy()


def _ascending(*positions: Any) -> bool:
    return all(bool((own[1:] > own[:-1]).all()) for own in positions)


def _matrix(values: NDArray, positions: Any, shape: Shape) -> CSRNDArray:
    """Return the matrix with values at ascending flat indices."""
    width = max(1, shape[1])
    pointers = np.searchsorted(positions, np.arange(shape[0] + 1) * width)
    return compressed(values, positions % width, pointers, shape)


@implement(f"{_SUMS} {_ZERO_AT_ZEROS}", "cc")
def _combine_elements(op: Operator, inputs: Sequence[CSRNDArray], attrs: Attrs) -> Any:
    positions = [_flat_places(x) for x in inputs]
    if not _ascending(*positions):
        return NotImplemented
    merged = union(*positions)
    spread = [
        x._storage.values
        if len(own) == len(merged)
        else scatter_rows(
            x._storage.values, int_array(np.searchsorted(merged, own), x), (len(merged),)
        )
        for x, own in zip(inputs, positions, strict=True)
    ]
    values: NDArray = invoke(op, spread, attrs)
    if op is not ADD.elemwise and len(merged):
        # MXNet does not store differences that are 0.
        nonzero = np.flatnonzero(values.asnumpy())
        if len(nonzero) < len(merged):
            merged = merged[nonzero]
            values = _take_or_empty(values, nonzero)
    return _matrix(values, merged, inputs[0].shape)


def _take_or_empty(values: NDArray, indices: Any) -> NDArray:
    """Return the elements at indices, of which there may be none."""
    return take(values, int_array(indices, values)) if len(indices) else no_rows(values)


@implement("elemwise_mul", "cc")
def _multiply_elements(op: Operator, inputs: Sequence[CSRNDArray], attrs: Attrs) -> Any:
    a, b = inputs
    positions = [_flat_places(x) for x in inputs]
    if not _ascending(*positions):
        return NotImplemented
    both = np.intersect1d(*positions)
    in_a, in_b = (np.searchsorted(own, both) for own in positions)
    taken = (_take_or_empty(a._storage.values, in_a), _take_or_empty(b._storage.values, in_b))
    return _matrix(invoke(op, taken, attrs), both, a.shape)


@implement("elemwise_mul broadcast_mul broadcast_div", "cd")
def _elements_and_dense(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    sparse, dense = inputs
    assert isinstance(sparse, CSRNDArray)
    if dense.ndim > 2 or not sparse._storage.values.size:
        return sparse if dense.ndim <= 2 else NotImplemented
    height, width = (1, 1, *dense.shape)[-2:]
    if height not in (1, sparse.shape[0]) or width not in (1, sparse.shape[1]):
        return NotImplemented  # the matrix itself is stretched
    rows = element_rows(sparse) if height > 1 else 0
    columns = sparse._storage.aux[1].asnumpy() if width > 1 else 0
    positions = np.broadcast_to(rows * width + columns, sparse._storage.values.shape)
    other = take(reshape(dense, (dense.size,)), int_array(positions, dense))
    return sparse._with_values(invoke(op, (sparse._storage.values, other), attrs))
