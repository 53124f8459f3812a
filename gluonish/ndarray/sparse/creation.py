"""Creation of sparse arrays: csr_matrix, row_sparse_array, array, zeros, empty."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context, current_context
from gluonish.core.dtype import FLOAT32, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.array_record import SparseRecord, sparse_problem
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from gluonish.ndarray.sparse.storage import compressed, convert, empty_sparse, with_rows

__all__ = ["array", "csr_matrix", "empty", "from_record", "row_sparse_array", "zeros"]

Extents = Sequence[int]


def csr_matrix(
    arg1: Any, shape: Extents | None = None, ctx: Context | None = None, dtype: Any = None
) -> CSRNDArray:
    """Create a CSR matrix.

    Args:
        arg1: A matrix as NDArray of stype default or csr, NumPy array, nested lists or SciPy
            matrix; or ``(M, N)``, for a matrix of zeros; or ``(data, indices, indptr)``; or
            ``(data, (row, column))``, in any order, with duplicates summed.
        shape: (M, N); inferred from the indices by default.
        ctx: Device; the current context by default.
        dtype: Element type; by default that of the NumPy array or NDArray, else float32.

    Raises:
        ArgumentError: The arrays do not form a matrix of this shape.
        ArgumentTypeError: ``arg1`` is a row-sparse array.
    """
    if isinstance(arg1, tuple):
        return _csr_from_parts(arg1, shape, ctx, dtype)
    if _is_scipy_csr(arg1):
        source = arg1.tocsr()
        rows = np.repeat(np.arange(source.shape[0], dtype=np.int64), np.diff(source.indptr))
        parts: tuple[Any, ...] = (source.data, source.indices, source.indptr)
        if not (np.diff(rows * max(1, source.shape[1]) + source.indices) > 0).all():
            parts = (source.data, (rows, source.indices))  # not sorted, or with duplicates
        return _csr_from_parts(parts, shape or source.shape, ctx, dtype)
    made = _converted(arg1, "csr", shape, ctx, dtype)
    assert isinstance(made, CSRNDArray)
    return made


def row_sparse_array(
    arg1: Any, shape: Extents | None = None, ctx: Context | None = None, dtype: Any = None
) -> RowSparseNDArray:
    """Create a row-sparse array.

    Args:
        arg1: An NDArray of stype default or row_sparse, NumPy array or nested lists; or a shape,
            for an array of zeros; or ``(data, indices)``, rows and their indices.
        shape: Shape of the array; by default the number of rows is inferred from the indices.
        ctx: Device; the current context by default.
        dtype: Element type; by default that of the NumPy array or NDArray, else float32.

    Raises:
        ArgumentError: The arrays do not form an array of this shape.
        ArgumentTypeError: ``arg1`` is a csr matrix.
    """
    made: NDArray
    if isinstance(arg1, tuple):
        if _is_shape(arg1):
            _check_shape("row_sparse_array", arg1, shape)
            made = empty_sparse(arg1, "row_sparse", ctx or current_context(), dtype or FLOAT32)
        else:
            made = _rows_from_parts(arg1, shape, ctx, dtype)
    else:
        made = _converted(arg1, "row_sparse", shape, ctx, dtype)
    assert isinstance(made, RowSparseNDArray)
    return made


def _is_shape(arg1: tuple[Any, ...]) -> bool:
    """Whether a tuple is a shape: two or more integers."""
    return len(arg1) > 1 and all(isinstance(n, int | np.integer) for n in arg1)


def _check_shape(what: str, arg1: tuple[Any, ...], shape: Extents | None) -> None:
    """Raise ArgumentError if the shape passed as ``shape`` differs from the one in ``arg1``."""
    if shape is not None and tuple(shape) != arg1:
        raise ArgumentError(f"{what}: expected the shape {arg1} once, got shape={shape}, too")


def _is_scipy_csr(value: Any) -> bool:
    """Whether a value is a sparse matrix of SciPy, which need not be installed."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def _host(values: Any, dtype: Any) -> Any:
    """Convert values to a NumPy array, by default of their dtype, or float32 for lists."""
    if isinstance(values, NDArray):
        values = values.asnumpy()
    dtype = normalize_dtype(getattr(values, "dtype", FLOAT32) if dtype is None else dtype)
    return np.asarray(values).astype(dtype)


def _indices(values: Any) -> Any:
    indices = values.asnumpy() if isinstance(values, NDArray) else np.asarray(values)
    return indices.astype(np.int64).reshape(-1)


def _csr_from_parts(
    given: tuple[Any, ...], shape: Extents | None, ctx: Context | None, dtype: Any
) -> CSRNDArray:
    context = ctx or current_context()
    if len(given) == 2 and _is_shape(given):
        _check_shape("csr_matrix", given, shape)
        empty = empty_sparse(given, "csr", context, dtype or FLOAT32)
        assert isinstance(empty, CSRNDArray)
        return empty
    if len(given) == 2:
        return _csr_from_coordinates(given, shape, context, dtype)
    if len(given) != 3:
        raise ArgumentError(
            "csr_matrix: expected (M, N), (data, indices, indptr) or (data, (row, column)), got "
            f"a tuple of {len(given)}"
        )
    values, columns, pointers = _host(given[0], dtype), _indices(given[1]), _indices(given[2])
    if shape is None:
        shape = (len(pointers) - 1, int(columns.max()) + 1 if columns.size else 0)
    _check("csr_matrix", "csr", shape, values, (pointers, columns))
    return compressed(from_host(values, context, values.dtype), columns, pointers, shape)


def _csr_from_coordinates(
    given: tuple[Any, ...], shape: Extents | None, context: Context, dtype: Any
) -> CSRNDArray:
    if not isinstance(given[1], tuple | list) or len(given[1]) != 2:
        raise ArgumentError(f"csr_matrix: expected (data, (row, column)), got (data, {given[1]!r})")
    values = _host(given[0], dtype).reshape(-1)
    rows, columns = map(_indices, given[1])
    if not len(values) == len(rows) == len(columns):
        raise ArgumentError(
            f"csr_matrix: expected as many rows and columns as the {len(values)} elements, got "
            f"{len(rows)} and {len(columns)}"
        )
    if shape is None:
        shape = tuple(int(n.max()) + 1 if n.size else 0 for n in (rows, columns))
    flat, positions = np.unique(rows * max(1, shape[1]) + columns, return_inverse=True)
    summed = np.zeros(len(flat), values.dtype)
    np.add.at(summed, positions.reshape(-1), values)
    pointers = np.searchsorted(flat // max(1, shape[1]), np.arange(shape[0] + 1))
    unsorted = (np.sort(rows).searchsorted(np.arange(shape[0] + 1)), columns)
    _check("csr_matrix", "csr", shape, values, unsorted)
    own = from_host(summed, context, values.dtype)
    return compressed(own, flat % max(1, shape[1]), pointers, shape)


def _rows_from_parts(
    given: tuple[Any, ...], shape: Extents | None, ctx: Context | None, dtype: Any
) -> RowSparseNDArray:
    if len(given) != 2:
        raise ArgumentError(
            f"row_sparse_array: expected a shape or (data, indices), got a tuple of {len(given)}"
        )
    values, rows = _host(given[0], dtype), _indices(given[1])
    if shape is None:
        shape = (int(rows.max()) + 1 if rows.size else 0, *values.shape[1:])
    _check("row_sparse_array", "row_sparse", shape, values, (rows,))
    order = np.argsort(rows, kind="stable")
    rows, values = rows[order], values[order]
    if (rows[1:] == rows[:-1]).any():
        raise ArgumentError(f"row_sparse_array: expected each row once, got indices {rows}")
    return with_rows(from_host(values, ctx, values.dtype), rows, shape)


def _check(what: str, stype: str, shape: Extents, values: Any, aux: tuple[Any, ...]) -> None:
    problem = sparse_problem(stype, tuple(shape), values, aux)
    if problem:
        raise ArgumentError(
            f"{what}: expected arrays that form an array of shape {tuple(shape)}, got {problem}"
        )


def _converted(
    source: Any, stype: str, shape: Extents | None, ctx: Context | None, dtype: Any
) -> NDArray:
    """Return a sparse copy of a dense array or of an array of the same storage type."""
    if isinstance(source, BaseSparseNDArray):
        if source.stype != stype:
            raise ArgumentTypeError(
                f"{stype}: expected a dense or {stype} array, got {type(source).__name__}"
            )
        made: NDArray = source.copyto(ctx or source.context)
        if dtype is not None:
            made = made.astype(dtype)
    elif isinstance(source, NDArray):
        dense = source.detach() if dtype is None else source.detach().astype(dtype)
        made = convert(dense.as_in_context(ctx or source.context), stype)
    else:
        values = _host(source, dtype)
        made = convert(from_host(values, ctx, values.dtype), stype)
    if shape is not None and tuple(shape) != made.shape:
        raise ArgumentError(f"{stype}: expected an array of shape {shape}, got {made.shape}")
    return made


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> BaseSparseNDArray:
    """Return a copy of a sparse array.

    Args:
        source_array: A sparse NDArray or a SciPy matrix.
        ctx: Device; that of the source, or the current context, by default.
        dtype: Element type; that of the source by default.

    Raises:
        ArgumentTypeError: The source is dense; use ``tostype``, or `csr_matrix`.
    """
    if isinstance(source_array, BaseSparseNDArray):
        made = _converted(source_array, source_array.stype, None, ctx, dtype)
        assert isinstance(made, BaseSparseNDArray)
        return made
    if _is_scipy_csr(source_array):
        return csr_matrix(source_array, ctx=ctx, dtype=dtype)
    raise ArgumentTypeError(
        f"array: expected a sparse array, got {type(source_array).__name__}; use tostype, "
        "csr_matrix or row_sparse_array to make one, or nd.array"
    )


def zeros(
    stype: str,
    shape: int | Extents,
    ctx: Context | None = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NDArray:
    """Return an array of zeros; a sparse one stores nothing.

    Args:
        stype: ``"row_sparse"``, ``"csr"`` or ``"default"``.
        shape: Extents.
        ctx: Device; the current context by default.
        dtype: Element type, float32 by default.
        **kwargs: Ignored.

    Raises:
        ArgumentError: The storage type is unknown, or a csr array is not a matrix.
    """
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(not isinstance(n, int | np.integer) or n < 0 for n in extents):
        raise ArgumentError(f"zeros: expected sizes of at least 0, got shape {shape!r}")
    context, kind = ctx or current_context(), dtype or FLOAT32
    if stype == "default":
        return from_host(np.zeros(extents), context, kind)
    return empty_sparse(extents, stype, context, kind)


def empty(
    stype: str, shape: int | Extents, ctx: Context | None = None, dtype: Any = None
) -> NDArray:
    """Return an array of zeros, to be filled later; arguments and errors as for `zeros`."""
    return zeros(stype, shape, ctx, dtype)


def from_record(record: SparseRecord, context: Context | None = None) -> BaseSparseNDArray:
    """Return the sparse array that a record of a file describes, on a device."""
    values = from_host(record.values, context, record.values.dtype)
    if record.stype == "row_sparse":
        return with_rows(values, record.aux[0], record.shape)
    pointers, columns = record.aux
    return compressed(values, columns, pointers, record.shape)


document_arguments(globals(), __all__)
