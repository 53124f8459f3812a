# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.ndarray.namespace import make_operator_function as make_operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.face import prefixed as prefixed


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
    """A triangle of every square matrix, packed into vectors: rows of a lower, columns of an upper
    one. lower counts where offset is 0."""
def gelqf(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Q and L with A = L Q, for matrices of full rank with no more rows than columns."""
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
    """Square matrices with vectors in the diagonal at offset, else zeros."""
def maketrian(
    A: NDArray,
    offset: int = 0,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Square matrices of packed triangles, else zeros: what extracttrian takes apart."""
def potrf(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Lower triangular L with A = L L^T, for symmetric positive definite A; without lower the upper
    triangular U with A = U^T U."""
def potri(
    A: NDArray,
    lower: bool | int = True,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Inverse of L L^T, given the lower triangular L that potrf gives; without lower that of U^T
    U."""
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
    """Sum of the logarithms of the diagonal of every matrix; shape (1,) for one matrix."""
def syevd(
    A: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """U and L with A = U^T diag(L) U, for symmetric A."""
def syrk(
    A: NDArray,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """alpha times the product of A with A transposed, or of A transposed with A."""
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
    """alpha times a triangle of A times B, or B times it (rightside)."""
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
    """X of A X = alpha B, or of X A = alpha B (rightside), with a triangle of A."""
