"""Random arrays of every storage type, with a density and a distribution of their elements."""

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
        shape: Its shape.
        stype: ``"default"``, ``"row_sparse"`` or ``"csr"``; what follows is for the sparse ones,
            except ``dtype`` and ``ctx``.
        density: Fraction of elements (csr) or rows (row_sparse) that are stored; random by default.
        dtype: Element type, float32 by default.
        modifier_func: From each stored value to the one that takes its place.
        shuffle_csr_indices: Whether the columns of a row stand in random order.
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
    """Return a random sparse array and its parts.

    Args:
        shape: Its shape; two axes for csr.
        stype: ``"row_sparse"`` or ``"csr"``.
        density: Fraction of elements (csr) or rows (row_sparse) that are stored; random by default.
        dtype: Element type, float32 by default.
        distribution: ``"uniform"``, or for csr ``"powerlaw"``: each row has twice as many
            elements as the one above it, until they are used up; every row has one at least.
        data_init: The value of all stored elements; random by default.
        rsp_indices: The rows that a row-sparse array stores.
        modifier_func: From each stored value to the one that takes its place.
        shuffle_csr_indices: Whether the columns of a row stand in random order.
        ctx: Device; `default_context` by default.

    Returns:
        The array; and NumPy arrays (data, indices) of a row-sparse one, or NDArrays (indptr,
        indices, data) of a csr matrix.

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
    share = float(rand()) if density is None else density
    if not 0 <= share <= 1:
        raise ArgumentError(f"rand_sparse_ndarray: expected density in [0, 1], got {density}")
    kind, context = normalize_dtype(dtype or default_dtype()), ctx or default_context()
    if stype == "row_sparse":
        return _row_sparse(shape, share, kind, data_init, rsp_indices, modifier_func, context)
    if len(shape) != 2:
        raise ArgumentError(f"rand_sparse_ndarray: expected two axes for csr, got shape {shape}")
    stored = _power_law(shape, share) if chosen == "powerlaw" else _uniform(shape, share)
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
    """Return which elements are stored: one in each row, then more from the left, row by row.

    Raises:
        ArgumentError: There are too few elements for the second row, or too many for all.
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
    """Put the elements of each row into random order, in place; the matrix is the same.

    Columns in ascending order are no duty of a csr matrix, and this is how to test without it.

    Args:
        csr: A CSRNDArray or a SciPy matrix.
    """
    indptr, indices, data = (_host(part) for part in (csr.indptr, csr.indices, csr.data))
    for start, stop in itertools.pairwise(indptr):
        order = start + permutation(stop - start)
        indices[start:stop], data[start:stop] = indices[order], data[order]
    if isinstance(csr, CSRNDArray):
        parts = (data, indices, indptr)
        csr_matrix(parts, csr.shape, csr.context, data.dtype).copyto(csr)
    else:
        csr.indices[:], csr.data[:] = indices, data


def _host(part: Any) -> Array:
    return part.asnumpy() if isinstance(part, NDArray) else np.array(part)


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
    """Return a random sparse array, as `rand_sparse_ndarray` makes it.

    Args:
        shape: Its shape; two axes for csr.
        stype: ``"row_sparse"`` or ``"csr"``.
        data_init: The value of all stored elements; random by default.
        rsp_indices: The rows that a row-sparse array stores; ``density`` decides by default.
        dtype: Element type, float32 by default.
        modifier_func: From each stored value to the one that takes its place.
        density: Fraction of elements (csr) or rows (row_sparse) that are stored.
        shuffle_csr_indices: Whether the columns of a row stand in random order.

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
    """Return a random sparse array whose stored rows are ``rsp_indices`` and no others.

    Args:
        shape: Its shape; two axes for csr.
        stype: ``"row_sparse"`` or ``"csr"``.
        density: Fraction of stored elements of a csr matrix; a row-sparse array has none beyond
            ``rsp_indices``.
        data_init: The value of all stored elements; random by default.
        rsp_indices: The rows that a row-sparse array stores; none by default.
        dtype: Element type, float32 by default.
        modifier_func: From each stored value to the one that takes its place.
        shuffle_csr_indices: Whether the columns of a row stand in random order.

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
