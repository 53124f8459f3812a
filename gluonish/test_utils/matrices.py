"""Random matrices with known spectra, and reductions."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.test_utils.random_arrays import randn, uniform

Array = np.ndarray[Any, Any]

_LARGEST_EIGENVALUE = 10.0


def new_orthonormal_matrix_2d(n: int) -> Array:
    """Return a random matrix (n, n) with orthonormal rows.

    Args:
        n: Number of rows and columns.
    """
    q, r = np.linalg.qr(randn(n, n))
    return np.asarray(q * np.sign(np.diag(r)))


def new_matrix_with_real_eigvals_2d(n: int) -> Array:
    """Return a random matrix (n, n) whose eigenvalues are real, in (-10, 10).

    Args:
        n: Number of rows and columns.
    """
    # The eigenvalues of a triangular matrix are on its diagonal; a change of basis preserves them.
    triangle = np.triu(uniform(-1.0, 1.0, (n, n)), 1) + np.diag(_eigenvalues(n))
    basis = new_orthonormal_matrix_2d(n)
    return np.asarray(basis @ triangle @ basis.T)


def new_sym_matrix_with_real_eigvals_2d(n: int) -> Array:
    """Return a random symmetric matrix (n, n) with eigenvalues in (-10, 10).

    Args:
        n: Number of rows and columns.
    """
    basis = new_orthonormal_matrix_2d(n)
    made = (basis * _eigenvalues(n)) @ basis.T
    return np.asarray((made + made.T) / 2)


def _eigenvalues(n: int) -> Array:
    return uniform(-_LARGEST_EIGENVALUE, _LARGEST_EIGENVALUE, n)


def new_matrix_with_real_eigvals_nd(shape: Sequence[int]) -> Array:
    """Return a stack of random matrices with real eigenvalues.

    Args:
        shape: (..., n, n).

    Raises:
        ArgumentError: The last two extents differ.
    """
    return _stacked("new_matrix_with_real_eigvals_nd", shape, new_matrix_with_real_eigvals_2d)


def new_sym_matrix_with_real_eigvals_nd(shape: Sequence[int]) -> Array:
    """Return a stack of random symmetric matrices.

    Args:
        shape: (..., n, n).

    Raises:
        ArgumentError: The last two extents differ.
    """
    return _stacked(
        "new_sym_matrix_with_real_eigvals_nd", shape, new_sym_matrix_with_real_eigvals_2d
    )


def _stacked(name: str, shape: Sequence[int], make: Callable[[int], Array]) -> Array:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ArgumentError(f"{name}: expected a shape (..., n, n), got {tuple(shape)}")
    matrices = [make(shape[-1]) for _ in range(math.prod(shape[:-2]))]
    return np.asarray(matrices, np.float64).reshape(shape)


def np_reduce(
    dat: Array,
    axis: int | Sequence[int] | None,
    keepdims: bool,
    numpy_reduce_func: Callable[..., Any],
) -> Any:
    """Reduce an array along several axes with a function that reduces one axis.

    Args:
        dat: The NumPy array.
        axis: The axis, a tuple of axes, or None for all.
        keepdims: Whether to keep the reduced axes, with size 1.
        numpy_reduce_func: Function such as ``np.sum``, called with ``axis``.
    """
    if axis is None:
        axes = list(range(dat.ndim))
    else:
        axes = list(np.atleast_1d(np.asarray(axis, np.int64)))
    reduced = {int(i) % dat.ndim for i in axes}
    result: Any = dat
    for i in sorted(reduced, reverse=True):
        result = numpy_reduce_func(result, axis=i)
    if not keepdims:
        return result
    return np.reshape(result, [1 if i in reduced else n for i, n in enumerate(dat.shape)])


def collapse_sum_like(a: Any, shape: Sequence[int]) -> Any:
    """Sum an array to a shape that broadcasts to its own shape.

    Args:
        a: The array.
        shape: Shape of the result.

    Raises:
        ArgumentError: ``shape`` cannot be broadcast to the shape of ``a``.
    """
    extra = a.ndim - len(shape)
    fits = extra >= 0 and all(
        own in (1, n) for own, n in zip(shape, a.shape[max(extra, 0) :], strict=False)
    )
    if not fits:
        raise ArgumentError(
            f"collapse_sum_like: expected a shape that broadcasts to {a.shape}, got {tuple(shape)}"
        )
    axes = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(shape) if n == 1 and a.shape[extra + i] != 1
    )
    summed = a.sum(axis=axes) if axes else a
    return summed.reshape(tuple(shape)) if len(shape) else summed
