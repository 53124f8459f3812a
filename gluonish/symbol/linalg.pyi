# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from gluonish.ops.frontend import prefixed as prefixed
from gluonish.symbol.namespace import make_operator_function as make_operator_function
from gluonish.symbol.symbol import Symbol


def det(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the determinant of every matrix."""
def extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Extract the diagonal at offset of every square matrix, as vectors."""
def extracttrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Pack a triangle of every square matrix into a vector: the rows of a lower triangle, the
    columns of an upper one."""
def gelqf(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with no more
    rows than columns."""
def gemm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    C: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A B + beta C."""
def gemm2(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    alpha: float = 1.0,
    axis: int = -2,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A B, with rows along axis and columns along the last axis."""
def inverse(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Invert every matrix."""
def makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Build square matrices with vectors on the diagonal at offset, and zeros elsewhere."""
def maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Unpack triangles into square matrices, with zeros elsewhere: the inverse of extracttrian."""
def potrf(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the Cholesky factor of symmetric positive definite A: lower triangular L with A = L
    L^T, or upper triangular U with A = U^T U if lower is false."""
def potri(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if lower is
    false."""
def slogdet(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sign of the determinant of every matrix, and the logarithm of its absolute
    value."""
def sumlogdiag(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum the logarithms of the diagonal of every matrix."""
def syevd(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the eigendecomposition of symmetric A: U and L with A = U^T diag(L) U."""
def syrk(
    A: Symbol | None = None,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute alpha A A^T, or alpha A^T A with transpose."""
def trmm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply B by alpha and a triangle of A from the left, or from the right (rightside)."""
def trsm(
    A: Symbol | None = None,
    B: Symbol | None = None,
    transpose: bool | int = False,
    rightside: bool | int = False,
    lower: bool | int = True,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Solve A X = alpha B, or X A = alpha B (rightside), for X, with a triangle of A."""
