# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.numpy import linalg as linalg
from gluonish.numpy.views import module_view as module_view
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.numpy_symbol import symbolic as symbolic
from typing import Any


def cholesky(a: Any, upper: bool = False) -> NumpySymbol:
    """Return the lower triangular L of ``a = L L^T``, for (..., N, N) positive definite."""
def cond(x: Any, p: Any = None) -> NumpySymbol:
    """Compute the condition number of a matrix."""
def cross(
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: Any = None,
) -> NumpySymbol:
    """Return the vector products of vectors of two or three elements; the other axes broadcast."""
def det(a: Any) -> NumpySymbol:
    """Return the determinants of matrices (..., N, N), of shape (...)."""
def diagonal(x: Any = None, offset: int = 0, *, a: Any = None) -> NumpySymbol:
    """Return the diagonals of matrices (..., M, N)."""
def eig(a: Any) -> NumpySymbol:
    """Return real eigenvalues (..., N) and eigenvectors, the columns of (..., N, N)."""
def eigh(a: Any, UPLO: Any = "L", *, upper: bool = False) -> NumpySymbol:
    """Return eigenvalues, ascending, and eigenvectors of symmetric matrices (..., N, N)."""
def eigvals(a: Any) -> NumpySymbol:
    """Return the real eigenvalues (..., N) of matrices (..., N, N)."""
def eigvalsh(a: Any, UPLO: Any = "L", *, upper: bool = False) -> NumpySymbol:
    """Return the eigenvalues of symmetric matrices, ascending."""
def inv(a: Any) -> NumpySymbol:
    """Return the inverses of square matrices (..., N, N)."""
def lstsq(a: Any, b: Any, rcond: Any = "warn") -> NumpySymbol:
    """Return the least-squares solution to a linear matrix equation."""
def matmul(a: Any, b: Any, out: Any = None, **kwargs: Any) -> NumpySymbol:
    """Return the matrix product over the last two axes; the others broadcast."""
def matrix_norm(
    x: Any,
    ord: Any = "fro",
    axis: Any = (-2, -1),
    keepdims: bool = False,
) -> NumpySymbol:
    """Return norms of matrices (..., M, N); see `norm`."""
def matrix_power(a: Any, n: int) -> NumpySymbol:
    """Return square matrices to the power of an integer."""
def matrix_rank(
    A: Any = None,
    tol: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
    M: Any = None,
) -> NumpySymbol:
    """Return the ranks of matrices, int64: the number of singular values above a tolerance."""
def matrix_transpose(x: Any = None, *, a: Any = None) -> NumpySymbol:
    """Return the array with its last two axes swapped."""
def multi_dot(arrays: Any, *, out: Any = None) -> NumpySymbol:
    """Return the product of matrices, in the order that takes the fewest multiplications."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> NumpySymbol:
    """Return norms of vectors or matrices."""
def outer(a: Any, b: Any) -> NumpySymbol:
    """Return the products of all elements of ``a`` with all of ``b``: a matrix."""
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> NumpySymbol:
    """Return the pseudo-inverses of (..., M, N): (..., N, M)."""
def qr(a: Any, mode: Any = "reduced") -> NumpySymbol:
    """Compute the qr factorization of a matrix."""
def slogdet(a: Any) -> NumpySymbol:
    """Return sign and logarithm of the absolute value of the determinants of (..., N, N)."""
def solve(a: Any, b: Any) -> NumpySymbol:
    """Return x with ``a x = b``, for ``a`` (..., N, N) and ``b`` (..., N) or (..., N, K)."""
def svd(a: Any) -> NumpySymbol:
    """Return UT (..., M, M), L (..., M) and V (..., M, N) with ``a = UT diag(L) V``, M <= N."""
def svdvals(a: Any) -> NumpySymbol:
    """Return the singular values of matrices (..., M, N), descending: (..., min(M, N))."""
def tensordot(a: Any, b: Any, axes: Any = 2) -> NumpySymbol:
    """Return sums of products over some axes."""
def tensorinv(a: Any, ind: int = 2) -> NumpySymbol:
    """Return the inverse with respect to `tensordot` over the first ``ind`` axes."""
def tensorsolve(a: Any, b: Any, axes: Any = None) -> NumpySymbol:
    """Return x with ``tensordot(a, x, x.ndim) = b``; ``axes`` of ``a`` are moved to its end."""
def trace(x: Any = None, offset: int = 0, dtype: Any = None, *, a: Any = None) -> NumpySymbol:
    """Return the sums over the diagonals of matrices (..., M, N)."""
def vecdot(
    x1: Any = None,
    x2: Any = None,
    axis: Any = -1,
    *,
    a: Any = None,
    b: Any = None,
) -> NumpySymbol:
    """Return the sums of products of two arrays over one axis; the other axes broadcast."""
def vector_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> NumpySymbol:
    """Return norms of vectors along axes; see `norm`."""
