"""Triangular matrices: products (linalg.trmm) and linear systems (linalg.trsm).

The other triangle of A is not read, and its gradient is zero. A zero on the diagonal gives
infinities in trsm, as in LAPACK.

linalg.gelqf: A = L Q with lower triangular L, and Q with orthonormal rows.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_real,
    check_square,
    check_wide,
    lapack,
    product,
    triangle,
)
from gluonish.ops.registry import Operator, V, apply, register

_BLOCK = 32  # rows solved one by one; larger systems are split in halves by matrix products


def solve_lower(xp: ModuleType, a: Any, x: Any) -> None:
    """Overwrite ``x`` (..., n, k) by the solution of ``a y = x`` with lower triangular ``a``."""
    rows = a.shape[-1]
    if rows > _BLOCK:
        half = rows // 2
        solve_lower(xp, a[..., :half, :half], x[..., :half, :])
        x[..., half:, :] -= xp.matmul(a[..., half:, :half], x[..., :half, :])
        solve_lower(xp, a[..., half:, half:], x[..., half:, :])
        return
    for i in range(rows):
        if i:
            x[..., i : i + 1, :] -= xp.matmul(a[..., i : i + 1, :i], x[..., :i, :])
        x[..., i, :] /= a[..., i, i, None]


def _infer(name: str) -> Callable[..., tuple[Spec]]:
    def infer(
        a: Spec, b: Spec, *, transpose: bool, rightside: bool, lower: bool, alpha: float
    ) -> tuple[Spec]:
        check_square(name, a)
        check_real(name, a, b)
        fits = len(b.shape) == len(a.shape) and b.shape[:-2] == a.shape[:-2]
        if not fits or b.shape[-1 if rightside else -2] != a.shape[-1]:
            side = "columns" if rightside else "rows"
            raise OperatorError(
                f"{name}: expected B with A's leading axes and {a.shape[-1]} {side} for A "
                f"{a.shape}, got {b.shape}"
            )
        return (b,)

    return infer


def _trmm_kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    b: Any,
    *,
    transpose: bool,
    rightside: bool,
    lower: bool,
    alpha: float,
) -> None:
    half = xp.tril(a) if lower else xp.triu(a)
    if transpose:
        half = half.swapaxes(-1, -2)
    xp.matmul(*((b, half) if rightside else (half, b)), out=out)
    if alpha != 1.0:
        xp.multiply(out, out.dtype.type(alpha), out=out)


def _outer(g: Any, b: Any, transpose: bool, rightside: bool) -> Any:
    """Return the gradient of A from ``g``, the gradient of ``op(A) b`` or ``b op(A)``."""
    if rightside:
        return product(g, b, transpose_a=True) if transpose else product(b, g, transpose_a=True)
    return product(b, g, transpose_b=True) if transpose else product(g, b, transpose_b=True)


def _trmm_gradient(
    g: V, a: V, b: V, *, transpose: bool, rightside: bool, lower: bool, alpha: float
) -> tuple[Any, Any]:
    return (
        lambda: triangle(_outer(g * alpha, b, transpose, rightside), lower),
        lambda: linalg_trmm(a, g, not transpose, rightside, lower, alpha),
    )


def _trsm_kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    b: Any,
    *,
    transpose: bool,
    rightside: bool,
    lower: bool,
    alpha: float,
) -> None:
    if alpha == 1.0:
        out[...] = b
    else:
        xp.multiply(b, out.dtype.type(alpha), out=out)
    x = out
    if rightside:  # x op(A) = b is op(A)^T x^T = b^T
        x = x.swapaxes(-1, -2)
    if transpose is not rightside:
        a, lower = a.swapaxes(-1, -2), not lower
    if not lower:  # an upper triangle with rows and columns reversed is a lower one
        a, x = a[..., ::-1, ::-1], x[..., ::-1, :]
    solve_lower(xp, a, x)


def _trsm_gradient(
    g: V, a: V, b: V, out: V, *, transpose: bool, rightside: bool, lower: bool, alpha: float
) -> tuple[Any, Any]:
    def back(scale: float) -> Any:
        return linalg_trsm(a, g, not transpose, rightside, lower, scale)

    return (
        lambda: triangle(-_outer(back(1.0), out, transpose, rightside), lower),
        lambda: back(alpha),
    )


_SCHEMA = Schema(
    transpose=boolean(False), rightside=boolean(False), lower=boolean(True), alpha=number(1.0)
)

LINALG_TRMM = register(
    Operator(
        "_linalg_trmm",
        _infer("_linalg_trmm"),
        _trmm_kernel,
        _trmm_gradient,
        doc=(
            "Multiply B by alpha and a triangle of A from the left, or from the right\n"
            "(rightside).\n\n"
            "Shapes: A (..., n, n), B and output (..., n, m), or with rightside (..., m, n)."
        ),
        inputs=("A", "B"),
        schema=_SCHEMA,
        aliases=("linalg_trmm",),
        execution=Execution(heavy=True),
    )
)
LINALG_TRSM = register(
    Operator(
        "_linalg_trsm",
        _infer("_linalg_trsm"),
        _trsm_kernel,
        Gradient(_trsm_gradient, uses_output=True),
        doc=(
            "Solve A X = alpha B, or X A = alpha B (rightside), for X, with a triangle of A.\n\n"
            "Shapes: A (..., n, n), B and output (..., n, m), or with rightside (..., m, n)."
        ),
        inputs=("A", "B"),
        schema=_SCHEMA,
        aliases=("linalg_trsm",),
        execution=Execution(heavy=True),
    )
)


def linalg_trmm(
    a: Any,
    b: Any,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
) -> Any:
    """Return ``alpha`` times the products of triangular matrices with ``b``."""
    attrs = {"transpose": transpose, "rightside": rightside, "lower": lower, "alpha": alpha}
    return apply(LINALG_TRMM, (a, b), attrs)


def linalg_trsm(
    a: Any,
    b: Any,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
) -> Any:
    """Return the solutions of triangular systems with right-hand sides ``alpha * b``."""
    attrs = {"transpose": transpose, "rightside": rightside, "lower": lower, "alpha": alpha}
    return apply(LINALG_TRSM, (a, b), attrs)


def _infer_gelqf(a: Spec) -> tuple[Spec, ...]:
    check_wide("_linalg_gelqf", a)
    rows = a.shape[-2]
    return a, Spec((*a.shape[:-2], rows, rows), a.dtype)


def _kernel(xp: ModuleType, out: tuple[Any, ...], a: Any) -> None:
    q, r = lapack(xp, "_linalg_gelqf", "finite matrices", xp.linalg.qr, a.swapaxes(-1, -2))
    out[0][...] = q.swapaxes(-1, -2)
    out[1][...] = r.swapaxes(-1, -2)


def _gradient(g: tuple[Any, ...], a: V, q: V, lower: V) -> tuple[Any]:
    of_q, of_lower = g
    middle = None
    if of_lower is not None:
        middle = product(lower, triangle(of_lower), transpose_a=True)
    if of_q is not None:
        overlap = -product(of_q, q, transpose_b=True)
        middle = overlap if middle is None else middle + overlap
    # Mirror the lower triangle: the constraint that the rows of Q are orthonormal.
    mirrored = triangle(middle) + adjoint(triangle(middle, offset=-1))
    inner = product(mirrored, q)
    if of_q is not None:
        inner = inner + of_q
    return (linalg_trsm(lower, inner, transpose=True),)


LINALG_GELQF = register(
    Operator(
        "_linalg_gelqf",
        _infer_gelqf,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Compute the LQ decomposition: Q and L with A = L Q, for matrices of full rank with\n"
            "no more rows than columns.\n\n"
            "Q has orthonormal rows, L is lower triangular. The gradient requires full rank.\n\n"
            "Shapes: A (..., m, n), Q (..., m, n), L (..., m, m)."
        ),
        inputs=("A",),
        aliases=("linalg_gelqf",),
        outputs=2,
        output_names=("output0", "output1"),
        execution=Execution(heavy=True),
    )
)
