"""linalg.gelqf: A = L Q with lower triangular L, and Q with orthonormal rows."""

from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_wide,
    lapack,
    product,
    triangle,
)
from gluonish.ops.linalg.triangular import linalg_trsm
from gluonish.ops.registry import Operator, V, register


def _infer(a: Spec) -> tuple[Spec, ...]:
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
        _infer,
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
