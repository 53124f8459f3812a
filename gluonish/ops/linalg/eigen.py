"""Eigenvalues and eigenvectors: linalg.syevd, np.linalg.eigh and eigvalsh, eig and eigvals.

In MXNet the gradients of the NumPy functions are zeros; here they are the true gradients. Gradients
of eigenvectors require distinct eigenvalues: terms that couple equal ones are 0.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.linalg.diagonals import extract_diagonal, make_diagonal
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_real,
    check_square,
    complete_real,
    iterative,
    product,
    real_dtype,
    reciprocal_gaps,
    scale_columns,
    symmetric,
)
from gluonish.ops.linalg.solve import solve
from gluonish.ops.linalg.svd import largest_sign
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.host import to_host

_IMAGINARY = 1e-15  # largest imaginary part that MXNet attributes to round-off
_UPLO = Schema(UPLO=choice("L", "U", default="L"))
_PAIR = ("output0", "output1")


def _symmetric_pair(xp: ModuleType, name: str, a: Any, triangle: str = "L") -> tuple[Any, Any]:
    """Return ascending eigenvalues, and eigenvectors as rows, largest element positive."""
    values, vectors = iterative(xp, name, xp.linalg.eigh, a, UPLO=triangle)
    rows = vectors.swapaxes(-1, -2)
    return values, rows * largest_sign(xp, rows)[..., None]


def _symmetric_gradient(of_values: Any, of_columns: Any, values: Any, columns: Any) -> Any:
    """Return the gradient of a symmetric matrix from the gradients of its eigenpairs."""
    inner = None if of_values is None else make_diagonal(of_values)
    if of_columns is not None:
        mixed = product(columns, of_columns, transpose_a=True) * reciprocal_gaps(values)
        inner = mixed if inner is None else inner + mixed
    return symmetric(product(product(columns, inner), columns, transpose_b=True))


def _syevd_infer(a: Spec) -> tuple[Spec, ...]:
    check_square("_linalg_syevd", a)
    check_real("_linalg_syevd", a)
    return a, Spec(a.shape[:-1], a.dtype)


def _syevd_kernel(xp: ModuleType, out: tuple[Any, ...], a: Any) -> None:
    out[1][...], out[0][...] = _symmetric_pair(xp, "_linalg_syevd", a)


def _syevd_gradient(g: tuple[Any, ...], a: V, rows: V, values: V) -> tuple[Any]:
    of_columns = None if g[0] is None else adjoint(g[0])
    return (_symmetric_gradient(g[1], of_columns, values, adjoint(rows)),)


LINALG_SYEVD = register(
    Operator(
        "_linalg_syevd",
        _syevd_infer,
        _syevd_kernel,
        Gradient(_syevd_gradient, uses_output=True),
        doc=(
            "Compute the eigendecomposition of symmetric A: U and L with A = U^T diag(L) U.\n\n"
            "The rows of U are eigenvectors, each with its element of largest magnitude\n"
            "positive; L is ascending. Only the lower triangle of A is read; the gradient is\n"
            "symmetric.\n\n"
            "Shapes: A (..., n, n), U (..., n, n), L (..., n)."
        ),
        inputs=("A",),
        outputs=2,
        output_names=_PAIR,
        execution=Execution(heavy=True),
    )
)


def _pair_infer(name: str) -> Callable[..., tuple[Spec, ...]]:
    def infer(a: Spec, **_attrs: str) -> tuple[Spec, ...]:
        check_square(name, a)
        dtype = real_dtype(name, a)
        return Spec(a.shape[:-1], dtype), Spec(a.shape, dtype)

    return infer


def _values_infer(name: str) -> Callable[..., tuple[Spec, ...]]:
    pair = _pair_infer(name)

    def infer(a: Spec, **attrs: str) -> tuple[Spec, ...]:
        return pair(a, **attrs)[:1]

    return infer


def _eigh_kernel(
    xp: ModuleType,
    out: tuple[Any, ...],
    a: Any,
    *,
    UPLO: str,  # MXNet's name
) -> None:
    values, rows = _symmetric_pair(xp, "_npi_eigh", a.astype(out[0].dtype), UPLO)
    out[0][...] = values
    out[1][...] = rows.swapaxes(-1, -2)


def _eigh_gradient(
    g: tuple[Any, ...],
    a: V,
    values: V,
    columns: V,
    *,
    UPLO: str,  # MXNet's name
) -> tuple[Any]:
    return (_symmetric_gradient(g[0], g[1], values, columns),)


NPI_EIGH = register(
    Operator(
        "_npi_eigh",
        _pair_infer("_npi_eigh"),
        _eigh_kernel,
        Gradient(_eigh_gradient, uses_output=True),
        doc=(
            "Compute the eigenvalues of symmetric A in ascending order, and its orthonormal\n"
            "eigenvectors as columns.\n\n"
            "The element of largest magnitude in each eigenvector is positive. UPLO selects the\n"
            "triangle of A. Integers give float64.\n\n"
            "Shapes: A (..., n, n), outputs (..., n) and (..., n, n)."
        ),
        inputs=("A",),
        schema=_UPLO,
        outputs=2,
        output_names=_PAIR,
        shapes=ShapeFacts(complete=complete_real),
        execution=Execution(heavy=True),
    )
)


def _eigvalsh_kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    *,
    UPLO: str,  # MXNet's name
) -> None:
    real = a.astype(out.dtype)
    out[...] = iterative(xp, "_npi_eigvalsh", xp.linalg.eigvalsh, real, UPLO=UPLO)


def _eigvalsh_gradient(
    g: V,
    a: V,
    *,
    UPLO: str,  # MXNet's name
) -> tuple[Any]:
    def of_a() -> Any:
        values, columns = apply(NPI_EIGH, (a,), {"UPLO": UPLO})
        return _symmetric_gradient(g, None, values, columns)

    return (of_a,)


NPI_EIGVALSH = register(
    Operator(
        "_npi_eigvalsh",
        _values_infer("_npi_eigvalsh"),
        _eigvalsh_kernel,
        _eigvalsh_gradient,
        doc=(
            "Compute the eigenvalues of symmetric A in ascending order.\n\n"
            "UPLO selects the triangle of A. Integers give float64.\n\n"
            "Shapes: A (..., n, n), output (..., n)."
        ),
        inputs=("A",),
        schema=_UPLO,
        shapes=ShapeFacts(complete=complete_real),
        execution=Execution(heavy=True),
    )
)


def _real_part(name: str, values: Any) -> Any:
    if np.iscomplexobj(values):
        largest = float(np.abs(values.imag).max(initial=0.0))
        if largest > _IMAGINARY:
            raise OperatorError(
                f"{name}: expected matrices with real eigenvalues, got an imaginary part of "
                f"{largest:g}"
            )
        return values.real
    return values


def _on_host(xp: ModuleType, a: Any, dtype: np.dtype[Any]) -> Any:
    """Copy an array to the host: CuPy's ``eig`` does not define the order of eigenvalues."""
    return np.asarray(to_host(xp, a), dtype=dtype)


def _eig_kernel(xp: ModuleType, out: tuple[Any, ...], a: Any) -> None:
    host = _on_host(xp, a, out[0].dtype)
    values, vectors = iterative(np, "_npi_eig", np.linalg.eig, host)
    out[0][...] = xp.asarray(_real_part("_npi_eig", values))
    out[1][...] = xp.asarray(vectors.real)


def _eig_gradient(g: tuple[Any, ...], a: V, values: V, vectors: V) -> tuple[Any]:
    of_values, of_vectors = g
    inner = None if of_values is None else make_diagonal(of_values)
    if of_vectors is not None:
        overlap = product(vectors, of_vectors, transpose_a=True)
        gram = product(vectors, vectors, transpose_a=True)
        # Vectors have length 1: project out the gradient along each vector.
        projected = overlap - scale_columns(gram, extract_diagonal(overlap))
        mixed = projected * reciprocal_gaps(values)
        inner = mixed if inner is None else inner + mixed
    return (solve(adjoint(vectors), product(inner, vectors, transpose_b=True)),)


NPI_EIG = register(
    Operator(
        "_npi_eig",
        _pair_infer("_npi_eig"),
        _eig_kernel,
        Gradient(_eig_gradient, uses_output=True),
        doc=(
            "Compute the eigenvalues of square matrices, and eigenvectors of length 1 as\n"
            "columns.\n\n"
            "LAPACK defines their order and the signs of the vectors. Complex eigenvalues raise\n"
            "an error when the result is waited for. Integers give float64.\n\n"
            "Shapes: A (..., n, n), outputs (..., n) and (..., n, n)."
        ),
        inputs=("A",),
        outputs=2,
        output_names=_PAIR,
        shapes=ShapeFacts(complete=complete_real),
        execution=Execution(heavy=True),
    )
)


def _eigvals_kernel(xp: ModuleType, out: Any, a: Any) -> None:
    host = _on_host(xp, a, out.dtype)
    values = iterative(np, "_npi_eigvals", np.linalg.eigvals, host)
    out[...] = xp.asarray(_real_part("_npi_eigvals", values))


def _eigvals_gradient(g: V, a: V) -> tuple[Any]:
    def of_a() -> Any:
        _, vectors = apply(NPI_EIG, (a,), {})
        inner = product(make_diagonal(g), vectors, transpose_b=True)
        return solve(adjoint(vectors), inner)

    return (of_a,)


NPI_EIGVALS = register(
    Operator(
        "_npi_eigvals",
        _values_infer("_npi_eigvals"),
        _eigvals_kernel,
        _eigvals_gradient,
        doc=(
            "Compute the eigenvalues of square matrices, in the order of LAPACK.\n\n"
            "Complex eigenvalues raise an error when the result is waited for. Integers give\n"
            "float64.\n\n"
            "Shapes: A (..., n, n), output (..., n)."
        ),
        inputs=("A",),
        shapes=ShapeFacts(complete=complete_real),
        execution=Execution(heavy=True),
    )
)
