"""Slices, rows and concatenation of CSR matrices, and retain."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.arithmetic import gather_rows
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import compressed, element_rows, int_array, no_rows, with_rows
from gluonish.ops.indexing.take import integer_indices, take
from gluonish.ops.registry import Attrs, Operator


def retain_rows(x: NDArray, rows: Any) -> RowSparseNDArray:
    """Return a row-sparse array with some rows of a dense or row-sparse one.

    ``rows`` are indices on the host, in any order; duplicates and out-of-range ones are ignored.
    """
    rows = np.unique(np.asarray(rows).astype(np.int64).reshape(-1))
    rows = rows[(rows >= 0) & (rows < x.shape[0])]
    return with_rows(gather_rows(x, rows), rows, x.shape)


@implement("_sparse_retain", "rd")
def _retain(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    data, indices = inputs
    return retain_rows(data, indices.asnumpy())


@implement("Embedding _contrib_SparseEmbedding", "dr")
def _embedding(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    data, weight = inputs
    indices = data.asnumpy().astype(np.int64).clip(0, attrs["input_dim"] - 1)
    rows, positions = np.unique(indices, return_inverse=True)
    if not len(rows):
        return NotImplemented
    taken: NDArray = take(
        gather_rows(weight, rows), int_array(positions.reshape(data.shape), weight)
    )
    return taken


def _elements(x: CSRNDArray, selected: Any, columns: Any, pointers: Any, shape: Any) -> CSRNDArray:
    """Return a matrix of selected stored elements with new columns and row pointers."""
    values = x._storage.values
    if isinstance(selected, slice):
        chosen = values[selected] if selected.stop > selected.start else no_rows(values)
    else:
        chosen = take(values, int_array(selected, values)) if len(selected) else no_rows(values)
    return compressed(chosen, columns, pointers, shape)


def slice_rows(x: CSRNDArray, begin: int, end: int) -> CSRNDArray:
    """Return the rows in [begin, end); both bounds are valid."""
    end = max(begin, end)
    pointers, columns = (array.asnumpy() for array in x._storage.aux)
    first, last = int(pointers[begin]), int(pointers[end])
    shape = (end - begin, x.shape[1])
    own = pointers[begin : end + 1] - first
    return _elements(x, slice(first, last), columns[first:last], own, shape)


@implement("slice", "c")
def _slice(op: Operator, inputs: Sequence[CSRNDArray], attrs: Attrs) -> Any:
    (x,) = inputs
    if any(step not in (None, 1) for step in attrs["step"]):
        return NotImplemented
    bounds = [(0, extent) for extent in x.shape]
    pairs = zip(attrs["begin"], attrs["end"], x.shape, strict=False)
    for axis, (begin, end, extent) in enumerate(pairs):
        start, stop, _ = slice(begin, end).indices(extent)
        bounds[axis] = (start, max(start, stop))
    rows = slice_rows(x, *bounds[0])
    low, high = bounds[1]
    if (low, high) == (0, x.shape[1]):
        return rows
    columns = rows._storage.aux[1].asnumpy()
    inside = np.flatnonzero((columns >= low) & (columns < high))
    pointers = np.searchsorted(element_rows(rows)[inside], np.arange(rows.shape[0] + 1))
    return _elements(rows, inside, columns[inside] - low, pointers, (rows.shape[0], high - low))


@implement("take", "cd")
def _take(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    x, indices = inputs
    assert isinstance(x, CSRNDArray)
    if attrs["axis"] not in (0, -2) or indices.ndim != 1:
        return NotImplemented
    rows = integer_indices(np, "take", indices.asnumpy(), x.shape[0], attrs["mode"])
    pointers, columns = (array.asnumpy() for array in x._storage.aux)
    counts = np.diff(pointers)[rows]
    new = np.concatenate([[0], np.cumsum(counts)])
    taken = np.repeat(pointers[rows] - new[:-1], counts) + np.arange(new[-1])
    return _elements(x, taken, columns[taken], new, (len(rows), x.shape[1]))


@implement("Concat", "c*")
def _concat(op: Operator, inputs: Sequence[CSRNDArray], attrs: Attrs) -> Any:
    if attrs["dim"] not in (0, -2):
        return NotImplemented
    filled = [x._storage.values for x in inputs if x._storage.values.size]
    values = no_rows(inputs[0]._storage.values)
    if filled:
        values = invoke(op, filled, {**attrs, "num_args": len(filled), "dim": 0})
    columns = np.concatenate([x._storage.aux[1].asnumpy() for x in inputs])
    counts = np.concatenate([np.diff(x._storage.aux[0].asnumpy()) for x in inputs])
    pointers = np.concatenate([[0], np.cumsum(counts)])
    return compressed(values, columns, pointers, (len(counts), inputs[0].shape[1]))


@implement("_contrib_getnnz", "c")
def _getnnz(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    (x,) = inputs
    pointers, columns = (array.asnumpy() for array in x._storage.aux)
    if attrs["axis"] is None:
        return int_array([len(columns)], x)
    if attrs["axis"] == 1:
        return int_array(np.diff(pointers), x)
    return int_array(np.bincount(columns, minlength=x.shape[1]), x)
