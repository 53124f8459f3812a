"""Operators of sparse arrays: what they mean on dense ones, and the sums behind the sparse ones."""

from gluonish.ops.sparse.adagrad import ADAGRAD_UPDATE
from gluonish.ops.sparse.cast_storage import CAST_STORAGE, cast_storage
from gluonish.ops.sparse.compressed import CSR_COLUMN_SUMS, CSR_DOT, CSR_TO_DENSE
from gluonish.ops.sparse.edges import EDGE_ID, GETNNZ
from gluonish.ops.sparse.embedding import SPARSE_EMBEDDING
from gluonish.ops.sparse.retain import RETAIN
from gluonish.ops.sparse.rows import ROWS_TO_DENSE
from gluonish.ops.sparse.scatter_arithmetic import (
    SCATTER_DIVIDE,
    SCATTER_MINUS_SCALAR,
    SCATTER_PLUS_SCALAR,
)
from gluonish.ops.sparse.square_sum import SQUARE_SUM

__all__ = [
    "ADAGRAD_UPDATE",
    "CAST_STORAGE",
    "CSR_COLUMN_SUMS",
    "CSR_DOT",
    "CSR_TO_DENSE",
    "EDGE_ID",
    "GETNNZ",
    "RETAIN",
    "ROWS_TO_DENSE",
    "SCATTER_DIVIDE",
    "SCATTER_MINUS_SCALAR",
    "SCATTER_PLUS_SCALAR",
    "SPARSE_EMBEDDING",
    "SQUARE_SUM",
    "cast_storage",
]
