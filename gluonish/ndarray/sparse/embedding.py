"""The row-sparse gradient of Embedding's weight, which stores the rows that were looked up."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.array import RowSparseNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import empty_sparse, int_array, to_dense, with_rows
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.shape.reshape import reshape


def embedding_gradient(grad: NDArray, data: NDArray, attrs: Attrs) -> RowSparseNDArray:
    """Return the sum of the rows of ``grad``, (*data.shape, output_dim), by index in ``data``.

    Rows are added in the order of ``data``, as in the dense gradient.
    """
    count, width = attrs["input_dim"], attrs["output_dim"]
    indices = data.asnumpy().astype(np.int64).clip(0, count - 1).reshape(-1)
    rows, positions = np.unique(indices, return_inverse=True)
    if not len(rows):
        empty = empty_sparse((count, width), "row_sparse", grad.context, grad.dtype)
        assert isinstance(empty, RowSparseNDArray)
        return empty
    heads = reshape(to_dense(grad), (len(indices), width))
    inner = {**attrs, "input_dim": len(rows), "sparse_grad": False}
    values = invoke(EMBEDDING_BACKWARD, (heads, int_array(positions, grad)), inner)
    return with_rows(values, rows, (count, width))


@implement("_embedding_backward", "dd rd")
def _backward(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    if not attrs["sparse_grad"]:
        return NotImplemented
    grad, data = inputs
    return embedding_gradient(grad, data, attrs)
