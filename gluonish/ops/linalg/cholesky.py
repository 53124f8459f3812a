"""Cholesky factorization: linalg.potrf and np.linalg.cholesky, linalg.potri, linalg.sumlogdiag."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.linalg.diagonals import extract_diagonal, make_diagonal
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_real,
    check_square,
    lapack,
    product,
    symmetric,
    triangle,
)
from gluonish.ops.linalg.triangular import linalg_trsm, solve_lower
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import expand_dims, reshape


def _half_diagonal(x: Any) -> Any:
    """Return the lower triangle with its diagonal halved."""
    return (triangle(x) + triangle(x, offset=-1)) * 0.5


_LOWER = Schema(lower=boolean(default=True))


def _factor_gradient(g: V, a: V, out: V, *, lower: bool = True) -> tuple[Any]:
    if not lower:
        g, out = adjoint(g), adjoint(out)
    # Iain Murray, "Differentiation of the Cholesky decomposition", 2016.
    inner = _half_diagonal(product(out, g, transpose_a=True))
    left = linalg_trsm(out, inner, transpose=True)
    return (symmetric(linalg_trsm(out, left, rightside=True)),)


def _factor_row(name: str, doc: str, *aliases: str, schema: Schema | None = None) -> Operator:
    def infer(a: Spec, **_: object) -> tuple[Spec]:
        check_square(name, a)
        check_real(name, a)
        return (a,)

    def kernel(xp: ModuleType, out: Any, a: Any, *, lower: bool = True) -> None:
        expected = "symmetric positive definite matrices"
        if not lower:
            out, a = out.swapaxes(-1, -2), a.swapaxes(-1, -2)
        if out.size:  # CuPy does not document its result for an empty stack
            out[...] = lapack(xp, name, expected, xp.linalg.cholesky, a)

    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(_factor_gradient, uses_output=True),
            doc=(
                f"{doc}\n\nThe other triangle of A is not read; the gradient is symmetric. A\n"
                "matrix that is not positive definite raises an error when the result is\n"
                "waited for.\n\n"
                "Shapes: A and output (..., n, n)."
            ),
            inputs=("A",),
            schema=schema,
            aliases=aliases,
            execution=Execution(heavy=True),
        )
    )


LINALG_POTRF = _factor_row(
    "_linalg_potrf",
    (
        "Compute the Cholesky factor of symmetric positive definite A: lower triangular L with\n"
        "A = L L^T, or upper triangular U with A = U^T U if lower is false."
    ),
    "linalg_potrf",
    schema=_LOWER,
)
NPI_CHOLESKY = _factor_row(
    "_npi_cholesky",
    "Compute the Cholesky factor of symmetric positive definite A: lower triangular L with\n"
    "A = L L^T.",
)


def _potri_infer(a: Spec, *, lower: bool) -> tuple[Spec]:
    check_square("_linalg_potri", a)
    check_real("_linalg_potri", a)
    return (a,)


def _potri_kernel(xp: ModuleType, out: Any, a: Any, *, lower: bool) -> None:
    if not lower:
        a = a.swapaxes(-1, -2)
    if bool((xp.diagonal(a, axis1=-2, axis2=-1) == 0).any()):
        raise OperatorError(
            "_linalg_potri: expected Cholesky factors from potrf, got a zero on the diagonal"
        )
    inverse = xp.zeros(a.shape, dtype=a.dtype)
    inverse[...] = xp.eye(a.shape[-1], dtype=a.dtype)
    solve_lower(xp, a, inverse)
    xp.matmul(inverse.swapaxes(-1, -2), inverse, out=out)


def _potri_gradient(g: V, a: V, out: V, *, lower: bool) -> tuple[Any]:
    if not lower:
        return (adjoint(_potri_gradient(g, adjoint(a), out, lower=True)[0]),)
    # out = L^-T L^-1, so dout = -out dL L^-1 plus its transpose.
    both = product(out, g + adjoint(g))
    return (triangle(-linalg_trsm(a, both, transpose=True, rightside=True)),)


LINALG_POTRI = register(
    Operator(
        "_linalg_potri",
        _potri_infer,
        _potri_kernel,
        Gradient(_potri_gradient, uses_output=True),
        doc=(
            "Compute the inverse of L L^T from the lower triangular L of potrf, or of U^T U if\n"
            "lower is false.\n\n"
            "The other triangle of A is not read. A zero on the diagonal raises an error when\n"
            "the result is waited for.\n\n"
            "Shapes: A and output (..., n, n)."
        ),
        inputs=("A",),
        schema=_LOWER,
        aliases=("linalg_potri",),
        execution=Execution(heavy=True),
    )
)


def _sumlogdiag_infer(a: Spec) -> tuple[Spec]:
    check_square("_linalg_sumlogdiag", a)
    check_real("_linalg_sumlogdiag", a)
    return (Spec(a.shape[:-2] or (1,), a.dtype),)


def _sumlogdiag_kernel(xp: ModuleType, out: Any, a: Any) -> None:
    logs = xp.log(xp.diagonal(a, axis1=-2, axis2=-1))
    out[...] = xp.add.reduce(logs, axis=-1).reshape(out.shape)


def _sumlogdiag_gradient(g: V, a: V) -> tuple[Any]:
    diagonal = extract_diagonal(a)
    each = expand_dims(reshape(g, diagonal.shape[:-1]), -1)
    return (make_diagonal(each / diagonal),)


LINALG_SUMLOGDIAG = register(
    Operator(
        "_linalg_sumlogdiag",
        _sumlogdiag_infer,
        _sumlogdiag_kernel,
        _sumlogdiag_gradient,
        doc=(
            "Sum the logarithms of the diagonal of every matrix.\n\n"
            "Shapes: A (..., n, n), output (...), or (1,) for a single matrix."
        ),
        inputs=("A",),
        aliases=("linalg_sumlogdiag",),
    )
)
