"""`np.linalg`: linear algebra."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import RECORDING, mode
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import NUMBERS, as_tuple, as_value, call, from_official
from gluonish.numpy.creation import eye
from gluonish.numpy.elements import where
from gluonish.numpy.official import call_official, official_function
from gluonish.numpy.products import cross, matmul, outer, tensordot, vecdot
from gluonish.numpy.reductions import max as largest
from gluonish.numpy.reductions import min as smallest
from gluonish.numpy.reductions import sum as total
from gluonish.numpy.shapes import broadcast_to, copy, matrix_transpose
from gluonish.numpy.shapes import diagonal as matrix_diagonal
from gluonish.numpy.shapes import trace as matrix_trace
from gluonish.numpy.unary import absolute, sqrt, square
from gluonish.ops.registry import apply, find_operator

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

cond = official_function("cond", "x, p=None", np.linalg, "linalg.")
lstsq = official_function("lstsq", "a, b, rcond='warn'", np.linalg, "linalg.")
qr = official_function("qr", "a, mode='reduced'", np.linalg, "linalg.")

_MATRIX_NORMS = ("fro", "f", "nuc")
_HALF = 0.5
_SMALL = 1 << 14  # elements up to which the overhead of an operator exceeds its work


def matrix_rank(
    A: Any = None, tol: Any = None, hermitian: bool = False, *, rtol: Any = None, M: Any = None
) -> Any:
    """Return the ranks of matrices, int64: the number of singular values above a tolerance.

    Args:
        A: Matrices (..., M, N); an array of one axis or none has rank 1, or 0 if all is 0.
        tol: Tolerance: a number, or an array (...).
        hermitian: Whether the matrices are symmetric.
        rtol: Tolerance relative to the largest singular value; ``tol`` counts if both are given.
            By default the machine epsilon times the larger extent of the matrices.
        M: ``A`` under its name in MXNet 2.0.
    """
    options = {"hermitian": hermitian, "tol": tol, "rtol": None if tol is not None else rtol}
    given = {key: value for key, value in options.items() if value is not None}
    found = call_official(np.linalg.matrix_rank, "matrix_rank", (M if A is None else A,), given)
    return found if isinstance(found, NDArray) or follows_mxnet1() else from_official(found)


def cholesky(a: Any, upper: bool = False) -> Any:
    """Return the lower triangular L of ``a = L L^T``, for (..., N, N) positive definite.

    Args:
        a: Matrices (..., N, N).
        upper: Whether to return the upper triangular ``L^T`` instead.
    """
    lower = call("_npi_cholesky", (a,), what="cholesky")
    return matrix_transpose(lower) if upper else lower


def det(a: Any) -> Any:
    """Return the determinants of matrices (..., N, N), of shape (...)."""
    return call("_npi_det", (a,), what="det")


def slogdet(a: Any) -> Any:
    """Return sign and logarithm of the absolute value of the determinants of (..., N, N)."""
    return as_tuple(call("_npi_slogdet", (a,), what="slogdet"))


def inv(a: Any) -> Any:
    """Return the inverses of square matrices (..., N, N)."""
    return call("_npi_inv", (a,), what="inv")


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverses of (..., M, N): (..., N, M).

    Args:
        a: Array.
        rcond: Cutoff relative to the largest singular value; smaller ones count as 0: a number, or
            (...). 1e-15 by default.
        hermitian: Whether the matrices are symmetric.
        rtol: ``rcond`` under the name it has in NumPy 2 and MXNet 2.0.
    """
    if rcond is None:
        rcond = 1e-15 if rtol is None else rtol
    if isinstance(rcond, NUMBERS):
        params = {"rcond": float(rcond), "hermitian": hermitian}
        return call("_npi_pinv_scalar_rcond", (a,), params, what="pinv")
    return call("_npi_pinv", (a, rcond), {"hermitian": hermitian}, what="pinv")


def solve(a: Any, b: Any) -> Any:
    """Return x with ``a x = b``, for ``a`` (..., N, N) and ``b`` (..., N) or (..., N, K)."""
    return call("_npi_solve", (a, b), what="solve")


def svd(a: Any) -> tuple[Any, Any, Any]:
    """Return UT (..., M, M), L (..., M) and V (..., M, N) with ``a = UT diag(L) V``, M <= N."""
    first, second, third = call("_npi_svd", (a,), what="svd")
    return first, second, third


def eig(a: Any) -> tuple[Any, Any]:
    """Return real eigenvalues (..., N) and eigenvectors, the columns of (..., N, N)."""
    values, vectors = call("_npi_eig", (a,), what="eig")
    return values, vectors


def eigh(a: Any, UPLO: str | bool = "L", *, upper: bool = False) -> tuple[Any, Any]:
    """Return eigenvalues, ascending, and eigenvectors of symmetric matrices (..., N, N).

    Args:
        a: Array.
        UPLO: The triangle to read: ``"L"`` or ``"U"``; or ``upper`` by position, as in MXNet 2.0.
        upper: Whether to read the upper triangle: another way to write ``UPLO="U"``.
    """
    params = {"UPLO": _triangle(UPLO, upper)}
    values, vectors = call("_npi_eigh", (a,), params, what="eigh")
    return values, vectors


def matrix_power(a: Any, n: int) -> Any:
    """Return square matrices to the power of an integer.

    Args:
        a: Matrices (..., N, N).
        n: The exponent; the inverses are multiplied if it is negative.

    Raises:
        ArgumentTypeError: The exponent is not an integer.
    """
    if not isinstance(n, int | np.integer):
        raise ArgumentTypeError(f"matrix_power: expected an integer exponent, got {n!r}")
    factor = as_value(a, "matrix_power")
    if n < 0:
        factor, n = inv(factor), -n
    if n == 0:
        unit = eye(factor.shape[-1], dtype=factor.dtype, ctx=getattr(factor, "ctx", None))
        return broadcast_to(unit, factor.shape)
    product = None
    while n:  # by the bits of the exponent
        if n & 1:
            product = factor if product is None else matmul(product, factor)
        n >>= 1
        factor = matmul(factor, factor) if n else factor
    return copy(product) if product is a else product


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Return the product of matrices, in the order that takes the fewest multiplications.

    Args:
        arrays: At least two matrices; the first and the last may be vectors.
        out: Array that the result is written to, of its shape and dtype.

    Raises:
        ArgumentError: There are fewer than two matrices, or another one is not a matrix.
    """
    factors = [as_value(x, "multi_dot") for x in arrays]
    ranks = [x.ndim for x in factors]
    if len(factors) < 2 or set(ranks[1:-1]) - {2} or {ranks[0], ranks[-1]} - {1, 2}:
        raise ArgumentError(
            "multi_dot: expected two matrices or more, the first and the last perhaps vectors, "
            f"got shapes {[x.shape for x in factors]}"
        )
    sizes = [1 if ranks[0] == 1 else factors[0].shape[0], *[x.shape[0] for x in factors[1:]]]
    sizes.append(1 if ranks[-1] == 1 else factors[-1].shape[1])
    product = _ordered_product(factors, sizes)
    if out is None:
        return product
    out[...] = product
    return out


def _ordered_product(factors: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return the product of matrices of the sizes (sizes[i], sizes[i + 1]).

    References:
        T. Cormen, C. Leiserson, R. Rivest, C. Stein, Introduction to Algorithms, section 15.2.
    """
    count = len(factors)
    cost = {(i, i): (0, i) for i in range(count)}  # of factors i..j, and where to split them
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Any:
        if i == j:
            return factors[i]
        split = cost[i, j][1]
        return matmul(product(i, split), product(split + 1, j))

    return product(0, count - 1)


def _triangle(UPLO: str | bool, upper: bool) -> str:
    if isinstance(UPLO, bool):
        return "U" if UPLO or upper else "L"
    return "U" if upper else UPLO


def eigvals(a: Any) -> Any:
    """Return the real eigenvalues (..., N) of matrices (..., N, N)."""
    return call("_npi_eigvals", (a,), what="eigvals")


def eigvalsh(a: Any, UPLO: str | bool = "L", *, upper: bool = False) -> Any:
    """Return the eigenvalues of symmetric matrices, ascending.

    Args:
        a: Matrices (..., N, N).
        UPLO: The triangle to read: ``"L"`` or ``"U"``; or ``upper`` by position, as in MXNet 2.0.
        upper: Whether to read the upper triangle: another way to write ``UPLO="U"``.
    """
    return call("_npi_eigvalsh", (a,), {"UPLO": _triangle(UPLO, upper)}, what="eigvalsh")


def tensorinv(a: Any, ind: int = 2) -> Any:
    """Return the inverse with respect to `tensordot` over the first ``ind`` axes."""
    return call("_npi_tensorinv", (a,), {"ind": ind}, what="tensorinv")


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Any:
    """Return x with ``tensordot(a, x, x.ndim) = b``; ``axes`` of ``a`` are moved to its end."""
    params = {"a_axes": () if axes is None else axes}
    return call("_npi_tensorsolve", (a, b), params, what="tensorsolve")


def norm(
    x: Any,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Any:
    """Return norms of vectors or matrices.

    Args:
        x: Array.
        ord: For vectors a number, inf or -inf (or ``"inf"``, ``"-inf"``); for matrices ``"fro"``,
            ``"nuc"``, 1, -1, 2, -2, inf or -inf. None: the root of the sum of squares.
        axis: One axis for vector norms, two for matrix norms; None for all axes.
        keepdims: Whether to keep the reduced axes, with size 1.

    Raises:
        ArgumentError: ``ord`` is unknown, or not defined for this number of axes.
    """
    value = as_value(x, "norm")
    if isinstance(axis, list):
        axis = tuple(axis)
    if isinstance(ord, str) and ord not in _MATRIX_NORMS:
        ord = _as_number(ord)
    if ord is None:
        return _root_of_squares(value, axis, keepdims)
    axes = (
        tuple(range(value.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    )
    if len(axes) == 1:
        return _vector_norm(value, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ArgumentError(f"norm: expected one or two axes with ord={ord!r}, got {axes}")
    return _matrix_norm(value, ord, (axes[0] % value.ndim, axes[1] % value.ndim), keepdims)


def _as_number(text: str) -> float | str:
    """Convert a text such as ``"inf"`` to a number; return any other text unchanged."""
    try:
        return float(text)
    except ValueError:
        return text


def _vector_norm(value: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ArgumentError(f"norm: expected a number as ord of vectors, got {ord!r}")
    size = absolute(value)
    if ord == math.inf:
        return largest(size, axis, keepdims)
    if ord == -math.inf:
        return smallest(size, axis, keepdims)
    if ord == 0:
        return total((value != 0).astype(value.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return total(size, axis, keepdims=keepdims)
    if ord == 2:
        return _root_of_squares(value, axis, keepdims)
    if _is_one_operator(value, (axis,)) or (ord < 0 and _is_differentiated(value)):
        # Multiplying by 1.0 converts integers to floats.
        return _norm_operator(value * 1.0, (axis,), keepdims, float(ord))
    at_zero = 0.0 if ord > 0 else math.inf
    sums = total(_flat_at_zero(size, ord, at_zero), axis, keepdims=keepdims)
    return _flat_at_zero(sums, 1.0 / ord, at_zero)


def _is_differentiated(value: Any) -> bool:
    """Whether a gradient may be computed through the value."""
    return bool(mode.get() & RECORDING) and is_floating(value.dtype)


def _is_one_operator(value: Any, axes: tuple[int, ...] | None) -> bool:
    """Whether to compute a norm by the single operator `_npi_norm`, which is not fused."""
    if axes is not None and len(axes) not in (1, 2):
        return False
    if getattr(value, "size", 0) <= _SMALL:  # a Symbol has no size
        return True
    # The operator sums squares of 16-bit floats in float32; in 16 bits they would overflow.
    return is_floating(value.dtype) and np.dtype(value.dtype).itemsize == 2


def _norm_operator(
    value: Any, axes: tuple[int, ...] | None, keepdims: bool, exponent: float = 2.0
) -> Any:
    flag = -2 if axes is None else -1 if len(axes) == 1 else 1
    params = {"ord": exponent, "axis": axes, "keepdims": keepdims, "flag": flag}
    return call("_npi_norm", (value,), params)


def _flat_at_zero(x: Any, exponent: float, at_zero: float = 0.0) -> Any:
    """Return a power of non-negative values; where they are 0, ``at_zero`` with derivative 0."""
    root = exponent == _HALF
    if not isinstance(x, ndarray):
        zero = x == 0
        above = where(zero, 1.0, x)
        return where(zero, at_zero, sqrt(above) if root else above**exponent)
    if _is_differentiated(x) and not at_zero:
        return apply(find_operator("_flat_power"), (x,), {"scalar": exponent})
    return sqrt(x) if root else x**exponent


def _root_of_squares(value: Any, axis: Any, keepdims: bool) -> Any:
    """Return roots of sums of squares, with gradient 0 at 0."""
    axes = axis if axis is None or isinstance(axis, tuple) else (axis,)
    if _is_one_operator(value, axes):
        return _norm_operator(value, axes, keepdims)
    return _flat_at_zero(total(square(value), axis, keepdims=keepdims), _HALF)


def _matrix_norm(value: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    rows, columns = axes
    if ord in ("fro", "f"):
        return _root_of_squares(value, axes, keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = total(absolute(value), summed, keepdims=True)
        picked = (largest if ord > 0 else smallest)(sums, other, keepdims=True)
        return picked if keepdims else picked.squeeze(axes)
    if ord not in ("nuc", 2, -2):
        raise ArgumentError(
            f"norm: expected ord 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices, got {ord!r}"
        )
    moved = _matrices_last(value, axes)
    singular = absolute(svd(moved)[1])  # `absolute` has gradient 0 at 0
    reduce: Any = {"nuc": total, 2: largest, -2: smallest}[ord]
    result = reduce(singular, -1)
    if not keepdims:
        return result
    return result.reshape(tuple(1 if i in axes else n for i, n in enumerate(value.shape)))


def _matrices_last(value: Any, axes: tuple[int, int]) -> Any:
    """Return the array with the matrices' axes last, the shorter one first, as `svd` requires."""
    short, long = axes
    if value.shape[short] > value.shape[long]:
        short, long = long, short
    others = [i for i in range(value.ndim) if i not in axes]
    order = (*others, short, long)
    return value if order == tuple(range(value.ndim)) else value.transpose(order)


def diagonal(x: Any = None, offset: int = 0, *, a: Any = None) -> Any:
    """Return the diagonals of matrices (..., M, N).

    Args:
        x: Matrices (..., M, N).
        offset: Index of the diagonal: 0 for the main one, positive above it, negative below.
        a: ``x`` under its name in MXNet 2.0.
    """
    return matrix_diagonal(a if x is None else x, offset, -2, -1)


def trace(x: Any = None, offset: int = 0, dtype: Any = None, *, a: Any = None) -> Any:
    """Return the sums over the diagonals of matrices (..., M, N).

    Args:
        x: Matrices (..., M, N).
        offset: Index of the diagonal: 0 for the main one, positive above it, negative below.
        dtype: Element type of the result and of the sum; that of ``x`` by default.
        a: ``x`` under its name in MXNet 2.0.
    """
    value = as_value(a if x is None else x, "trace")
    if dtype is not None:
        value = value.astype(dtype, copy=False)
    return matrix_trace(value, offset, -2, -1)


def svdvals(a: Any) -> Any:
    """Return the singular values of matrices (..., M, N), descending: (..., min(M, N))."""
    value = as_value(a, "svdvals")
    return svd(_matrices_last(value, (value.ndim - 2, value.ndim - 1)))[1]


def matrix_norm(x: Any, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False) -> Any:
    """Return norms of matrices (..., M, N); see `norm`.

    Args:
        x: Matrices (..., M, N).
        ord: ``"fro"``, ``"nuc"``, 1, -1, 2, -2, inf or -inf.
        axis: The two axes of the matrices.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    return norm(x, "fro" if ord is None else ord, axis, keepdims)


def vector_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return norms of vectors along axes; see `norm`.

    Args:
        x: Array of any shape.
        ord: A number, inf or -inf; None for 2.
        axis: Axis or axes that hold a vector; None for all, as one vector.
        keepdims: Whether to keep the reduced axes, with size 1.
    """
    value = as_value(x, "vector_norm")
    ord = 2 if ord is None else ord
    rank = value.ndim
    chosen = range(rank) if axis is None else axis if isinstance(axis, list | tuple) else (axis,)
    axes = sorted(n % rank for n in chosen)
    others = [i for i in range(rank) if i not in axes]
    sizes = [value.shape[i] for i in others]
    rows = value.transpose((*others, *axes)).reshape((*sizes, -1)) if rank else value.reshape(1)
    result = _vector_norm(rows, ord, -1, keepdims=False)
    if not keepdims:
        return result
    return result.reshape(tuple(1 if i in axes else n for i, n in enumerate(value.shape)))


document_arguments(
    globals(),
    __all__,
    {
        "a": "Matrices (..., N, N).",
        "b": "Right-hand sides (..., N) or (..., N, K).",
        "svd.a": "Matrices (..., M, N).",
        "svdvals.a": "Matrices (..., M, N).",
        "tensorinv.a": "Array that is square when reshaped to a matrix.",
        "tensorsolve.a": "Array that is square when reshaped to a matrix.",
        "tensorsolve.axes": "Axes of ``a`` to move to its end first.",
        "tensorsolve.b": "Right-hand side, of any shape.",
    },
)
