# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.ndarray.namespace import make_operator_function as make_operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.frontend import prefixed as prefixed


def det(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the determinant of every matrix."""
def extractdiag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Extract the diagonal at offset of every square matrix, as vectors."""
def extracttrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Pack a triangle of every square matrix into a vector: the rows of a lower triangle, the
    columns of an upper one."""
def gelqf(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more
    rows than columns."""
def gemm(
    A: NDArray,
    B: NDArray,
    C: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A B + beta C."""
def gemm2(
    A: NDArray,
    B: NDArray,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    axis: int = -2,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A B, with rows along axis and columns along the last axis."""
def inverse(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Invert every matrix."""
def makediag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Build square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Unpack triangles into square matrices, with zeros elsewhere: the inverse of extracttrian."""
def potrf(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T, or upper triangular U with A = U^T U if lower is false."""
def potri(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if lower is
    false."""
def slogdet(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def sumlogdiag(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum the logarithms of the diagonal of every matrix."""
def syevd(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Compute the eigendecomposition of symmetric A: U and L with A = U^T diag(L) U."""
def syrk(
    A: NDArray,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute alpha A A^T, or alpha A^T A with transpose."""
def trmm(
    A: NDArray,
    B: NDArray,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Multiply B by alpha and a triangle of A from the left, or from the right (rightside)."""
def trsm(
    A: NDArray,
    B: NDArray,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Solve A X = alpha B, or X A = alpha B (rightside), for X, with a triangle of A."""
