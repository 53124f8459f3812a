"""``nd.sparse``: row-sparse arrays and CSR matrices, and their operators."""

from gluonish.ndarray.sparse import elementwise as _elementwise  # noqa: F401  # fills the table
from gluonish.ndarray.sparse import embedding as _embedding  # noqa: F401  # fills the table
from gluonish.ndarray.sparse import methods as _methods  # noqa: F401  # completes the classes
from gluonish.ndarray.sparse import products as _products  # noqa: F401  # fills the table
from gluonish.ndarray.sparse import reductions as _reductions  # noqa: F401  # fills the table
from gluonish.ndarray.sparse import selection as _selection  # noqa: F401  # fills the table
from gluonish.ndarray.sparse import updates as _updates  # noqa: F401  # fills the table
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from gluonish.ndarray.sparse.creation import array, csr_matrix, empty, row_sparse_array, zeros
from gluonish.ndarray.sparse.functions import add, divide, multiply, subtract
from gluonish.ndarray.sparse.namespace import names as __dir__  # noqa: F401  # PEP 562
from gluonish.ndarray.sparse.namespace import operator_function as __getattr__  # noqa: F401

__all__ = [
    "BaseSparseNDArray",
    "CSRNDArray",
    "RowSparseNDArray",
    "add",
    "array",
    "csr_matrix",
    "divide",
    "empty",
    "multiply",
    "row_sparse_array",
    "subtract",
    "zeros",
]
