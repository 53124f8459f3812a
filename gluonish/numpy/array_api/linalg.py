"""The ``linalg`` extension of the array API standard, with its signatures."""

import math
from typing import Any, NamedTuple

import numpy as np

import gluonish.numpy as mxnp
from gluonish.core.errors import ArgumentError
from gluonish.numpy import linalg as mxlinalg
from gluonish.numpy.array_api.reductions import widened
from gluonish.numpy.calls import from_official

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

matmul = mxnp.matmul
matrix_transpose = mxnp.matrix_transpose
det = mxlinalg.det
eigvalsh = mxlinalg.eigvalsh
inv = mxlinalg.inv
svdvals = mxlinalg.svdvals


class EighResult(NamedTuple):
    """Result of `eigh`.

    Attributes:
        eigenvalues: Eigenvalues (..., N), ascending.
        eigenvectors: Eigenvectors, the columns of (..., N, N).
    """

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """Result of `qr`.

    Attributes:
        Q: Matrices with orthonormal columns.
        R: Upper triangular matrices.
    """

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """Result of `slogdet`.

    Attributes:
        sign: Signs of the determinants.
        logabsdet: Logarithms of their absolute values.
    """

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """Result of `svd`.

    Attributes:
        U: Matrices with orthonormal columns (..., M, K).
        S: Singular values (..., min(M, N)), descending.
        Vh: Matrices with orthonormal rows (..., K, N).
    """

    U: Any
    S: Any
    Vh: Any


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Return the triangular factor of symmetric positive definite matrices (..., N, N).

    Args:
        x: Matrices.
        upper: Whether to return the upper factor.
    """
    lower = mxlinalg.cholesky(x)
    return matrix_transpose(lower) if upper else lower


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the vector products of vectors of three elements along an axis."""
    return mxnp.cross(x1, x2, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of matrices (..., M, N)."""
    return mxlinalg.diagonal(x, offset)


def eigh(x: Any, /) -> EighResult:
    """Return eigenvalues and eigenvectors of symmetric matrices (..., N, N)."""
    return EighResult(*mxlinalg.eigh(x))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return norms of matrices (..., M, N).

    Args:
        x: Matrices.
        keepdims: Whether to keep the reduced axes, with size 1.
        ord: ``"fro"``, ``"nuc"``, 1, -1, 2, -2, inf or -inf.
    """
    return mxlinalg.matrix_norm(x, ord, keepdims=keepdims)


def matrix_power(x: Any, n: int, /) -> Any:
    """Return matrices (..., N, N) to an integer power.

    Raises:
        ArgumentError: The matrices are not square.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ArgumentError(f"matrix_power: expected square matrices, got shape {x.shape}")
    power = inv(x) if n < 0 else x
    found, left = None, abs(n)
    while left:
        if left & 1:
            found = power if found is None else matmul(found, power)
        left >>= 1
        power = matmul(power, power) if left else power
    if found is not None:
        return mxnp.copy(found)
    return mxnp.broadcast_to(mxnp.eye(x.shape[-1], dtype=x.dtype, ctx=x.context), x.shape)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the ranks of matrices (..., M, N), as int64; no gradient.

    Args:
        x: Matrices.
        rtol: Singular values up to this times the largest count as 0: a number or an array (...).
    """
    found = np.linalg.matrix_rank(x.asnumpy(), rtol=_hosted(rtol))
    return from_official(np.asarray(found, np.int64), x.context)


def _hosted(value: Any) -> Any:
    return value.asnumpy() if hasattr(value, "asnumpy") else value


def outer(x1: Any, x2: Any, /) -> Any:
    """Return the products of all elements of two vectors."""
    return mxnp.outer(x1, x2)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverses of matrices (..., M, N).

    Args:
        x: Matrices.
        rtol: Singular values up to this times the largest count as 0: a number or an array (...).
    """
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    return mxlinalg.pinv(x, rtol)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """Return orthonormal and upper triangular factors of matrices (..., M, N); no gradient.

    Args:
        x: Matrices.
        mode: ``"reduced"`` or ``"complete"``.
    """
    return QRResult(*mxlinalg.qr(x, mode))


def slogdet(x: Any, /) -> SlogdetResult:
    """Return sign and logarithm of the absolute value of determinants."""
    return SlogdetResult(*mxlinalg.slogdet(x))


def solve(x1: Any, x2: Any, /) -> Any:
    """Return x with ``x1 x = x2``, for ``x1`` (..., N, N) and ``x2`` (N,) or (..., N, K)."""
    if x2.ndim == 1:
        return solve(x1, x2.reshape(-1, 1)).reshape(x1.shape[:-1])
    lead = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    first = mxnp.broadcast_to(x1, (*lead, *x1.shape[-2:]))
    return mxlinalg.solve(first, mxnp.broadcast_to(x2, (*lead, *x2.shape[-2:])))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decomposition ``x = U diag(S) Vh`` of matrices (..., M, N).

    Args:
        x: Matrices.
        full_matrices: Whether U and Vh are square, without a gradient; else K is min(M, N).
    """
    if full_matrices and x.shape[-1] != x.shape[-2]:
        made = np.linalg.svd(x.asnumpy())
        return SVDResult(*(from_official(part, x.context) for part in made))
    if x.shape[-2] <= x.shape[-1]:
        return SVDResult(*mxlinalg.svd(x))
    left, values, right = mxlinalg.svd(matrix_transpose(x))
    return SVDResult(matrix_transpose(right), values, matrix_transpose(left))


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Return sums of products over some axes: a number of them, or a pair of sequences."""
    return mxnp.tensordot(x1, x2, axes)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sums over the diagonals of matrices (..., M, N).

    Args:
        x: Matrices.
        offset: Index of the diagonal.
        dtype: Element type; by default that of floats, and int64 or uint64 for integers.
    """
    return mxnp.sum(diagonal(widened(x, dtype), offset=offset), -1)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the sums of products of two arrays over one axis."""
    return mxnp.vecdot(x1, x2, axis)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """Return norms of vectors along axes.

    Args:
        x: Array.
        axis: Axis or axes; None for all, as one vector.
        keepdims: Whether to keep the reduced axes, with size 1.
        ord: A number, inf or -inf.
    """
    if ord not in (math.inf, -math.inf):
        ord = float(ord)
    return mxlinalg.vector_norm(x, ord, axis, keepdims)
