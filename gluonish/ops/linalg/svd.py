"""np.linalg.svd: A = U diag(s) V, for matrices with no more rows than columns."""

import functools
import operator
from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.ops.elementwise.binary import EQUAL
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.linalg.diagonals import make_diagonal
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_wide,
    iterative,
    product,
    reciprocal_gaps,
    scale_columns,
    scale_rows,
)
from gluonish.ops.registry import Operator, V, apply, register


def _infer(a: Spec) -> tuple[Spec, ...]:
    check_wide("_npi_svd", a)
    *lead, rows, _ = a.shape
    return Spec((*lead, rows, rows), a.dtype), Spec((*lead, rows), a.dtype), a


def largest_sign(xp: ModuleType, rows: Any) -> Any:
    """Return the sign (..., m) of the element of largest magnitude in each row (..., m, n)."""
    if rows.size == 0:
        return xp.ones(rows.shape[:-1], dtype=rows.dtype)
    index = xp.abs(rows).argmax(axis=-1)[..., None]
    largest = xp.take_along_axis(rows, index, axis=-1)[..., 0]
    return xp.where(largest < 0, rows.dtype.type(-1), rows.dtype.type(1))


def _kernel(xp: ModuleType, out: tuple[Any, ...], a: Any) -> None:
    left, values, right = iterative(xp, "_npi_svd", xp.linalg.svd, a, full_matrices=False)
    signs = largest_sign(xp, right)
    out[0][...] = left * signs[..., None, :]
    out[1][...] = values
    out[2][...] = right * signs[..., None]


def _skew(x: Any, gaps: Any) -> Any:
    return (x - adjoint(x)) * gaps


def _gradient(g: tuple[Any, ...], a: V, left: V, values: V, right: V) -> tuple[Any]:
    # James Townsend, "Differentiating the singular value decomposition", 2016.
    of_left, of_values, of_right = g
    gaps = reciprocal_gaps(values * values)
    terms, outside = [], None
    if of_values is not None:
        terms.append(make_diagonal(of_values))
    if of_left is not None:
        terms.append(scale_columns(_skew(product(left, of_left, transpose_a=True), gaps), values))
    if of_right is not None:
        overlap = product(right, of_right, transpose_b=True)
        terms.append(scale_rows(_skew(overlap, gaps), values))
        residual = of_right - product(product(of_right, right, transpose_b=True), right)
        zero = EQUAL(values, 0.0)  # vectors of zero singular values have no derivative
        outside = scale_rows(residual, (1.0 - zero) / (values + zero))
    inner = product(functools.reduce(operator.add, terms), right)
    return (product(left, inner if outside is None else inner + outside),)


NPI_SVD = register(
    Operator(
        "_npi_svd",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Compute the singular value decomposition: U, s and V with A = U diag(s) V, singular\n"
            "values in descending order.\n\n"
            "The element of largest magnitude in each row of V is positive. The gradient\n"
            "requires distinct singular values, and the gradient of V positive ones.\n\n"
            "Shapes: A (..., m, n) with m <= n, U (..., m, m), s (..., m), V (..., m, n)."
        ),
        inputs=("A",),
        outputs=3,
        output_names=("output0", "output1", "output2"),
        execution=Execution(heavy=True),
    )
)


def svd(a: Any) -> tuple[Any, Any, Any]:
    """Return U, s and V of every matrix (..., m, n), where m <= n."""
    left, values, right = apply(NPI_SVD, (a,), {})
    return left, values, right
