"""np.linalg.svd: A = U diag(s) V, for matrices with no more rows than columns.

np.linalg.pinv: pseudo-inverses by singular value decomposition with a cut-off.
"""

import functools
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.binary import EQUAL
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.linalg.diagonals import make_diagonal
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_matrices,
    check_real,
    check_wide,
    iterative,
    product,
    reciprocal_gaps,
    scale_columns,
    scale_rows,
)
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule


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


def _transposed_spec(name: str, a: Spec) -> Spec:
    check_matrices(name, a)
    check_real(name, a)
    return Spec((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)


def _invert(xp: ModuleType, name: str, out: Any, a: Any, rcond: Any) -> None:
    if out.size == 0:
        return
    left, values, right = iterative(xp, name, xp.linalg.svd, a, full_matrices=False)
    large = values > rcond * values.max(axis=-1, keepdims=True)
    inverse = xp.where(large, 1 / xp.where(large, values, 1), 0).astype(a.dtype)
    xp.matmul(right.swapaxes(-1, -2) * inverse[..., None, :], left.swapaxes(-1, -2), out=out)


def _of_matrix(g: Any, a: Any, out: Any) -> Any:
    # G. Golub and V. Pereyra, "The differentiation of pseudo-inverses", 1973.
    transposed = adjoint(g)
    first = -product(product(out, g, transpose_a=True), out, transpose_b=True)
    right = product(transposed, product(out, out, transpose_b=True))
    right = right - product(a, product(out, right))
    left = product(product(out, out, transpose_a=True), transposed)
    left = left - product(product(left, out), a)
    return first + right + left


def _scalar_infer(a: Spec, *, rcond: float, hermitian: bool) -> tuple[Spec]:
    return (_transposed_spec("_npi_pinv_scalar_rcond", a),)


def _scalar_kernel(xp: ModuleType, out: Any, a: Any, *, rcond: float, hermitian: bool) -> None:
    _invert(xp, "_npi_pinv_scalar_rcond", out, a, rcond)


def _gradient_pinv(g: V, a: V, *others: V, **_attrs: Any) -> tuple[Any, ...]:
    return (lambda: _of_matrix(g, a, others[-1]), *(None for _ in others[:-1]))


def _infer_pinv(a: Spec, rcond: Spec, *, hermitian: bool) -> tuple[Spec]:
    spec = _transposed_spec("_npi_pinv", a)
    if not is_floating(rcond.dtype):
        raise OperatorError(
            f"_npi_pinv: expected floating rcond, got {rcond.dtype.name}; cast with astype"
        )
    if not _stretches(rcond.shape, a.shape[:-2]):
        raise OperatorError(
            f"_npi_pinv: expected rcond that broadcasts to {a.shape[:-2]} for A {a.shape}, got "
            f"{rcond.shape}"
        )
    return (spec,)


def _stretches(shape: Shape, target: Shape) -> bool:
    if len(shape) > len(target):
        return False
    trailing = target[len(target) - len(shape) :]
    return all(a in (1, b) for a, b in zip(shape, trailing, strict=True))


def _kernel_pinv(xp: ModuleType, out: Any, a: Any, rcond: Any, *, hermitian: bool) -> None:
    _invert(xp, "_npi_pinv", out, a, rcond[..., None])


def _row(
    name: str, inputs: tuple[str, ...], infer: Callable[..., Any], kernel: Any, schema: Schema
) -> Operator:
    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(_gradient_pinv, uses_output=True),
            doc=(
                "Compute the pseudo-inverse of every matrix.\n\n"
                "Singular values of at most rcond times the largest count as zero. hermitian is\n"
                "accepted and ignored. The gradient is valid only if the rank is constant and\n"
                "rcond cuts off no nonzero singular values.\n\n"
                "Shapes: A (..., m, n), rcond broadcasts to (...), output (..., n, m)."
            ),
            inputs=inputs,
            schema=schema,
            shapes=ShapeFacts(complete=dtype_rule(0)),
            execution=Execution(heavy=True),
        )
    )


NPI_PINV = _row(
    "_npi_pinv", ("A", "rcond"), _infer_pinv, _kernel_pinv, Schema(hermitian=boolean(False))
)
NPI_PINV_SCALAR_RCOND = _row(
    "_npi_pinv_scalar_rcond",
    ("A",),
    _scalar_infer,
    _scalar_kernel,
    Schema(rcond=number(1e-15), hermitian=boolean(False)),
)
