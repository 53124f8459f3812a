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
    """Determinant of every matrix."""
def extractdiag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """The diagonal at offset of every square matrix, as vectors."""
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
    """LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more rows than
    columns."""
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
    """alpha times the product of A and B, plus beta times C."""
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
    """alpha times the product of matrices, with rows along axis and columns along the last axis."""
def inverse(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Inverse of every matrix."""
def makediag(
    A: NDArray,
    offset: int = 0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Square matrices from packed triangles, with zeros elsewhere: the inverse of extracttrian."""
def potrf(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Cholesky factor: lower triangular L with A = L L^T, for symmetric positive definite A;
    without lower the upper triangular U with A = U^T U."""
def potri(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Inverse of L L^T, given the lower triangular L that potrf returns; without lower the inverse
    of U^T U."""
def slogdet(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Sign of the determinant of every matrix, and the logarithm of its absolute value."""
def sumlogdiag(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Sum of the logarithms of the diagonal of every matrix."""
def syevd(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Eigendecomposition: U and L with A = U^T diag(L) U, for symmetric A."""
def syrk(
    A: NDArray,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """alpha times the product of A and A transposed, or with transpose of A transposed and A."""
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
    """alpha times the product of a triangle of A and B, or of B and the triangle (rightside)."""
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
