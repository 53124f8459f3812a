"""Random arrays of all storage types, with a density and a distribution of stored elements."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import is_floating, normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.ndarray.creation import array
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray
from gluonish.ndarray.sparse.creation import csr_matrix, row_sparse_array
from gluonish.test_utils.random_arrays import normal, permutation, rand, randint
from gluonish.test_utils.surroundings import default_context
from gluonish.test_utils.tolerances import default_dtype

Array = np.ndarray[Any, Any]
Shape = Sequence[int]
Modifier = Callable[[Any], Any] | None

_DISTRIBUTIONS = {"csr": ("uniform", "powerlaw"), "row_sparse": ("uniform",)}


def rand_ndarray(
    shape: Shape,
    stype: str = "default",
    density: float | None = None,
    dtype: Any = None,
    modifier_func: Modifier = None,
    shuffle_csr_indices: bool = False,
    distribution: str | None = None,
    ctx: Context | None = None,
) -> NDArray:
    """Return an array of random values: standard normal if dense, uniform in [0, 1) if sparse.

    Args:
        shape: Shape of the array.
        stype: ``"default"``, ``"row_sparse"`` or ``"csr"``. The other arguments, except ``dtype``
            and ``ctx``, are for sparse arrays.
        density: Fraction of elements (csr) or rows (row_sparse) that are stored; random by default.
        dtype: Element type, float32 by default.
        modifier_func: Function applied to each stored value.
        shuffle_csr_indices: Whether to shuffle the columns of each row.
        distribution: As in `rand_sparse_ndarray`.
        ctx: Device; `default_context` by default.

    Raises:
        ArgumentError: ``stype`` is unknown; or as for `rand_sparse_ndarray`.
    """
    if stype == "default":
        kind = normalize_dtype(dtype or default_dtype())
        values = np.asarray(normal(size=tuple(shape)))
        return array(values.astype(kind), ctx or default_context(), kind)
    made, _ = rand_sparse_ndarray(
        shape,
        stype,
        density,
        dtype,
        distribution,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
        ctx=ctx,
    )
    return made


def rand_sparse_ndarray(
    shape: Shape,
    stype: str,
    density: float | None = None,
    dtype: Any = None,
    distribution: str | None = None,
    data_init: float | None = None,
    rsp_indices: Any = None,
    modifier_func: Modifier = None,
    shuffle_csr_indices: bool = False,
    ctx: Context | None = None,
) -> tuple[BaseSparseNDArray, tuple[Any, ...]]:
    """Return a random sparse array, and its values and indices.

    Args:
        shape: Shape of the array; two axes for csr.
        stype: ``"row_sparse"`` or ``"csr"``.
        density: Fraction of elements (csr) or rows (row_sparse) that are stored; random by default.
        dtype: Element type, float32 by default.
        distribution: ``"uniform"``, or for csr ``"powerlaw"``: each row has twice as many elements
            as the row above it, until all are used; every row has at least one.
        data_init: The value of all stored elements; random by default.
        rsp_indices: The rows that a row-sparse array stores.
        modifier_func: Function applied to each stored value.
        shuffle_csr_indices: Whether to shuffle the columns of each row.
        ctx: Device; `default_context` by default.

    Returns:
        The array; and NumPy arrays (data, indices) for row_sparse, or NDArrays (indptr, indices,
        data) for csr.

    Raises:
        ArgumentError: The storage type, distribution, density or number of axes is invalid.
    """
    kinds = _DISTRIBUTIONS.get(stype)
    if kinds is None:
        raise ArgumentError(f"rand_sparse_ndarray: expected stype row_sparse or csr, got {stype!r}")
    chosen = "uniform" if distribution is None else distribution
    if chosen not in kinds:
        raise ArgumentError(
            f"rand_sparse_ndarray: expected a distribution among {kinds} for {stype}, got "
            f"{distribution!r}"
        )
    fraction = float(rand()) if density is None else density
    if not 0 <= fraction <= 1:
        raise ArgumentError(f"rand_sparse_ndarray: expected density in [0, 1], got {density}")
    kind, context = normalize_dtype(dtype or default_dtype()), ctx or default_context()
    if stype == "row_sparse":
        return _row_sparse(shape, fraction, kind, data_init, rsp_indices, modifier_func, context)
    if len(shape) != 2:
        raise ArgumentError(f"rand_sparse_ndarray: expected two axes for csr, got shape {shape}")
    stored = _power_law(shape, fraction) if chosen == "powerlaw" else _uniform(shape, fraction)
    return _csr(shape, stored, kind, data_init, modifier_func, shuffle_csr_indices, context)


def _values(shape: Shape, dtype: np.dtype[Any], data_init: float | None, modify: Modifier) -> Array:
    if data_init is not None:
        values = np.full(shape, data_init, dtype)
    elif is_floating(dtype):
        values = np.asarray(rand(*shape)).astype(dtype)
    else:
        values = randint(0, 2, tuple(shape)).astype(dtype)
    if modify is not None:
        values.reshape(-1)[:] = [modify(x) for x in values.reshape(-1)]
    return values


def _row_sparse(
    shape: Shape,
    density: float,
    dtype: np.dtype[Any],
    data_init: float | None,
    rows: Any,
    modify: Modifier,
    ctx: Context,
) -> tuple[BaseSparseNDArray, tuple[Any, ...]]:
    if rows is None:
        indices = np.flatnonzero(rand(shape[0]) < density)
    else:
        indices = np.asarray(rows.asnumpy() if isinstance(rows, NDArray) else rows, np.int64)
    if len(indices) > shape[0]:
        raise ArgumentError(
            f"rand_sparse_ndarray: expected at most {shape[0]} rsp_indices, got {len(indices)}"
        )
    data = _values((len(indices), *shape[1:]), dtype, data_init, modify)
    return row_sparse_array((data, indices), tuple(shape), ctx, dtype), (data, indices)


def _uniform(shape: Shape, density: float) -> Array:
    return rand(*shape) < density


def _power_law(shape: Shape, density: float) -> Array:
    """Return a mask of the elements to store; each row has about twice as many as the row above.

    Raises:
        ArgumentError: There are fewer than two elements per row, or more than all rows can store.
    """
    rows, columns = shape
    total = int(rows * columns * density)
    if total < 2 * rows:
        raise ArgumentError(
            "rand_sparse_ndarray: expected density * rows * columns >= 2 * rows for powerlaw, got "
            f"density {density} of shape {tuple(shape)}"
        )
    lengths = np.ones(rows, np.int64)
    unused = total - rows
    for row in range(rows):
        more = min(2 ** min(row + 1, 62), columns) - 1
        lengths[row] += min(more, unused)
        unused -= min(more, unused)
    if unused > 0:
        raise ArgumentError(
            f"rand_sparse_ndarray: expected a density that powerlaw can reach in shape "
            f"{tuple(shape)}, got {density}; at most {lengths.sum() / (rows * columns):.3g}"
        )
    return np.arange(columns) < lengths[:, None]


def _csr(
    shape: Shape,
    stored: Array,
    dtype: np.dtype[Any],
    data_init: float | None,
    modify: Modifier,
    shuffle: bool,
    ctx: Context,
) -> tuple[BaseSparseNDArray, tuple[Any, ...]]:
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    columns = np.nonzero(stored)[1]
    data = _values((len(columns),), dtype, data_init, modify)
    made = csr_matrix((data, columns, indptr), tuple(shape), ctx, dtype)
    if shuffle:
        shuffle_csr_column_indices(made)
    return made, (made.indptr, made.indices, made.data)


def shuffle_csr_column_indices(csr: Any) -> None:
    """Shuffle the stored elements of each row in place, which does not change the matrix.

    This tests code that must not rely on ascending columns.

    Args:
        csr: A CSRNDArray or a SciPy matrix.
    """
    indptr, indices, data = (_host(x) for x in (csr.indptr, csr.indices, csr.data))
    for start, stop in itertools.pairwise(indptr):
        order = start + permutation(stop - start)
        indices[start:stop], data[start:stop] = indices[order], data[order]
    if isinstance(csr, CSRNDArray):
        shuffled = csr_matrix((data, indices, indptr), csr.shape, csr.context, data.dtype)
        shuffled.copyto(csr)
    else:
        csr.indices[:], csr.data[:] = indices, data


def _host(x: Any) -> Array:
    return x.asnumpy() if isinstance(x, NDArray) else np.array(x)


def create_sparse_array(
    shape: Shape,
    stype: str,
    data_init: float | None = None,
    rsp_indices: Any = None,
    dtype: Any = None,
    modifier_func: Modifier = None,
    density: float = 0.5,
    shuffle_csr_indices: bool = False,
) -> BaseSparseNDArray:
    """Return a random sparse array; see `rand_sparse_ndarray`.

    Args:
        shape: Shape of the array; two axes for csr.
        stype: ``"row_sparse"`` or ``"csr"``.
        data_init: The value of all stored elements; random by default.
        rsp_indices: The rows that a row-sparse array stores; random by default.
        dtype: Element type, float32 by default.
        modifier_func: Function applied to each stored value.
        density: Fraction of elements (csr) or rows (row_sparse) that are stored.
        shuffle_csr_indices: Whether to shuffle the columns of each row.

    Raises:
        ArgumentError: The storage type, density or number of axes is invalid.
    """
    made, _ = rand_sparse_ndarray(
        shape,
        stype,
        density,
        dtype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )
    return made


def create_sparse_array_zd(
    shape: Shape,
    stype: str,
    density: float,
    data_init: float | None = None,
    rsp_indices: Any = None,
    dtype: Any = None,
    modifier_func: Modifier = None,
    shuffle_csr_indices: bool = False,
) -> BaseSparseNDArray:
    """Return a random sparse array that stores only the rows ``rsp_indices``, if row-sparse.

    Args:
        shape: Shape of the array; two axes for csr.
        stype: ``"row_sparse"`` or ``"csr"``.
        density: Fraction of stored elements of a csr matrix; ignored for row_sparse.
        data_init: The value of all stored elements; random by default.
        rsp_indices: The rows that a row-sparse array stores; none by default.
        dtype: Element type, float32 by default.
        modifier_func: Function applied to each stored value.
        shuffle_csr_indices: Whether to shuffle the columns of each row.

    Raises:
        ArgumentError: The storage type, density or number of axes is invalid.
    """
    return create_sparse_array(
        shape,
        stype,
        data_init,
        rsp_indices,
        dtype,
        modifier_func,
        0.0 if stype == "row_sparse" else density,
        shuffle_csr_indices,
    )
