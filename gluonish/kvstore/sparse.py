"""Sums and rows of sparse arrays, and copies of any storage type, for stores."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentTypeError
from gluonish.kvstore.device_sums import new_array, send, sum_arrays
from gluonish.ndarray import NDArray
from gluonish.ndarray.sparse import RowSparseNDArray, row_sparse_array
from gluonish.ndarray.sparse.arithmetic import add_rows
from gluonish.ndarray.sparse.selection import retain_rows


def copied(value: NDArray, context: Context) -> NDArray:
    """Return a copy on a device, of the same storage type."""
    if value.stype != "default":
        sparse: NDArray = value.detach().copyto(context)
        return sparse
    dense = new_array(value, context)
    send(value, dense)
    return dense


def copy_over(
    source: NDArray, target: NDArray, priority: int = 0, *, refreshes: bool = False
) -> None:
    """Copy values into another array, across devices, dtypes and storage types.

    Args:
        source: Array to copy from.
        target: Array to copy to; it keeps its storage type.
        priority: Priority of dense copies; higher priority runs first.
        refreshes: As in `send`.
    """
    if source.stype == target.stype == "default":
        send(source, target, priority, refreshes=refreshes)
        return
    source = source.detach()
    if source.stype not in ("default", target.stype):
        source = source.tostype("default")
    source.copyto(target)


def sum_sparse(values: Sequence[NDArray], context: Context) -> NDArray:
    """Return the sum of dense and sparse arrays on a device, in the order of the list.

    The sum is row-sparse if all arrays are, else dense.
    """
    local = [value.detach().as_in_context(context) for value in values]
    rows = [value for value in local if isinstance(value, RowSparseNDArray)]
    if len(rows) == len(local):
        return add_rows(rows)
    return sum_arrays([value.tostype("default") for value in local], context, 0)


def pull_rows(stored: NDArray, target: NDArray, row_ids: NDArray) -> None:
    """Replace a row-sparse array by the requested rows of a stored array.

    Args:
        stored: The stored array.
        target: The row-sparse array.
        row_ids: Indices of the rows, an NDArray of any shape.

    Raises:
        ArgumentTypeError: ``target`` is not row-sparse, or ``row_ids`` is not an array.
    """
    if not isinstance(target, RowSparseNDArray):
        raise ArgumentTypeError(
            f"row_sparse_pull: expected row_sparse arrays in out, got a {target.stype} one"
        )
    if not isinstance(row_ids, NDArray):
        raise ArgumentTypeError(
            f"row_sparse_pull: expected row_ids to be NDArrays, got {type(row_ids).__name__}"
        )
    retain_rows(stored.detach(), row_ids.asnumpy()).copyto(target)


def rows_of(array: NDArray) -> tuple[Any, Any]:
    """Return the row indices and the rows of a row-sparse array as NumPy arrays."""
    sparse: Any = array
    return sparse.indices.asnumpy(), sparse.data.asnumpy()


def sum_of_rows(rows: Sequence[tuple[Any, Any]], like: NDArray) -> NDArray:
    """Return the sum of rows from several processes, in the order of the processes.

    Args:
        rows: For each process the row indices and the rows, from `rows_of`.
        like: Array with the shape, dtype and device of the result.
    """
    arrays = [
        row_sparse_array((data, indices), shape=like.shape, ctx=like.context, dtype=like.dtype)
        for indices, data in rows
    ]
    return add_rows(arrays)
