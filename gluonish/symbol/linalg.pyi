# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from gluonish.ops.face import prefixed as prefixed
from gluonish.symbol.namespace import make_operator_function as make_operator_function
from gluonish.symbol.symbol import Symbol


def det(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Determinant of every matrix."""
def extractdiag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """The diagonal at offset of every square matrix, as vectors."""
def extracttrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """A triangle of every square matrix, packed into vectors: rows of a lower, columns of an upper
    one. lower counts where offset is 0."""
def gelqf(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Q and L with A = L Q, for matrices of full rank with no more rows than columns."""
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
    """alpha times the product of A and B, plus beta times C."""
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
    """alpha times the product of matrices, with rows along axis and columns along the last axis."""
def inverse(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Inverse of every matrix."""
def makediag(
    A: Symbol | None = None,
    offset: int = 0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Square matrices with vectors in the diagonal at offset, else zeros."""
def maketrian(
    A: Symbol | None = None,
    offset: int = 0,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Square matrices of packed triangles, else zeros: what extracttrian takes apart."""
def potrf(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Lower triangular L with A = L L^T, for symmetric positive definite A; without lower the upper
    triangular U with A = U^T U."""
def potri(
    A: Symbol | None = None,
    lower: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Inverse of L L^T, given the lower triangular L that potrf gives; without lower that of U^T
    U."""
def slogdet(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sign of the determinant of every matrix, and the logarithm of its absolute value."""
def sumlogdiag(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum of the logarithms of the diagonal of every matrix; shape (1,) for one matrix."""
def syevd(
    A: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """U and L with A = U^T diag(L) U, for symmetric A."""
def syrk(
    A: Symbol | None = None,
    transpose: bool | int = False,
    alpha: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """alpha times the product of A with A transposed, or of A transposed with A."""
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
    """alpha times a triangle of A times B, or B times it (rightside)."""
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
    """X of A X = alpha B, or of X A = alpha B (rightside), with a triangle of A."""
