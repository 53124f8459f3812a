"""np.linalg.pinv: pseudo-inverses by singular value decomposition with a cut-off."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.linalg.matrices import adjoint, check_matrices, check_real, iterative, product
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.dtype_rules import dtype_rule


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


def _gradient(g: V, a: V, *others: V, **_attrs: Any) -> tuple[Any, ...]:
    return (lambda: _of_matrix(g, a, others[-1]), *(None for _ in others[:-1]))


def _infer(a: Spec, rcond: Spec, *, hermitian: bool) -> tuple[Spec]:
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


def _kernel(xp: ModuleType, out: Any, a: Any, rcond: Any, *, hermitian: bool) -> None:
    _invert(xp, "_npi_pinv", out, a, rcond[..., None])


def _row(
    name: str, inputs: tuple[str, ...], infer: Callable[..., Any], kernel: Any, schema: Schema
) -> Operator:
    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(_gradient, uses_output=True),
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


NPI_PINV = _row("_npi_pinv", ("A", "rcond"), _infer, _kernel, Schema(hermitian=boolean(False)))
NPI_PINV_SCALAR_RCOND = _row(
    "_npi_pinv_scalar_rcond",
    ("A",),
    _scalar_infer,
    _scalar_kernel,
    Schema(rcond=number(1e-15), hermitian=boolean(False)),
)
