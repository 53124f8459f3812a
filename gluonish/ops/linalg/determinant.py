"""Determinants and inverses of stacked matrices: linalg.det, slogdet and inverse.

In MXNet the hidden outputs of a determinant are its factors; here they are empty, as gradients
use the inverse.

Cofactors of singular matrices: the gradient of their determinant.

With A = U diag(s) V, the cofactors are det(U V) U diag(p) V, where p_i is the product of all s_j
with j != i. Their gradient contains the products of all but two singular values.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT32
from gluonish.core.mxnet_rules import follows_mxnet1, follows_mxnet2
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_real,
    check_square,
    iterative,
    lapack,
    product,
)
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape


def _spectrum(xp: ModuleType, a: Any, det: Any) -> tuple[Any, Any, Any, Any]:
    """Return det(U V) of every singular matrix (0 for regular matrices), and U, s and V."""
    singular = det == 0
    safe = xp.where(singular, a, xp.eye(a.shape[-1], dtype=a.dtype))
    left, values, right = iterative(xp, "_singular_cofactors", xp.linalg.svd, safe)
    first, second = (
        lapack(xp, "_singular_cofactors", "square matrices", xp.linalg.slogdet, factor)[0]
        for factor in (left, right)
    )
    return (first * second)[..., None, None] * singular, left, values, right


def _without(xp: ModuleType, values: Any, count: int) -> Any:
    """Return the products of all values except one (..., n), or except two (..., n, n)."""
    n = values.shape[-1]
    excluded = xp.eye(n, dtype=bool)
    if count == 2:
        excluded = excluded[:, None] | excluded
    rows = values[(..., *[None] * count, slice(None))]
    return xp.where(excluded, values.dtype.type(1), rows).prod(axis=-1)


def _kernel(xp: ModuleType, out: Any, a: Any, det: Any) -> None:
    if xp is np and det.all():
        out[...] = 0
        return
    sign, left, values, right = _spectrum(xp, a, det)
    others = _without(xp, values, 1)
    out[...] = sign * xp.matmul(left * others[..., None, :], right)


def _backward_kernel(xp: ModuleType, out: Any, g: Any, a: Any, det: Any) -> None:
    sign, left, values, right = _spectrum(xp, a, det)
    inner = xp.matmul(xp.matmul(left.swapaxes(-1, -2), g), right.swapaxes(-1, -2))
    others = _without(xp, values, 2) * ~xp.eye(a.shape[-1], dtype=bool)
    main = xp.diagonal(inner, axis1=-2, axis2=-1)
    rotated = -others * inner.swapaxes(-1, -2)
    rotated += xp.eye(a.shape[-1], dtype=a.dtype) * xp.matmul(others, main[..., None])
    out[...] = sign * xp.matmul(xp.matmul(left, rotated), right)


_BACKWARD = register(
    Operator(
        "_singular_cofactors_backward",
        lambda g, a, det: (a,),
        _backward_kernel,
        None,
        doc=(
            "Compute the gradient of the cofactors of singular matrices.\n\n"
            "Shapes: g, A and output (..., n, n), det (..., 1, 1)."
        ),
        inputs=("g", "A", "det"),
        execution=Execution(heavy=True),
    )
)


def _gradient(g: V, a: V, det: V) -> tuple[Any, None]:
    return apply(_BACKWARD, (g, a, det), {}), None


SINGULAR_COFACTORS = register(
    Operator(
        "_singular_cofactors",
        lambda a, det: (a,),
        _kernel,
        _gradient,
        doc=(
            "Compute the cofactors of singular matrices (det 0); zeros for regular ones.\n\n"
            "Shapes: A and output (..., n, n), det (..., 1, 1)."
        ),
        inputs=("A", "det"),
        execution=Execution(heavy=True),
    )
)


def _inverse_infer(name: str) -> Callable[..., tuple[Spec]]:
    def infer(a: Spec) -> tuple[Spec]:
        check_square(name, a)
        check_real(name, a)
        return (a,)

    return infer


def _inverse_kernel(xp: ModuleType, out: Any, a: Any) -> None:
    out[...] = lapack(xp, "_linalg_inverse", "invertible matrices", xp.linalg.inv, a)


def _inverse_gradient(g: V, a: V, out: V) -> tuple[Any]:
    return (-product(product(out, g, transpose_a=True), out, transpose_b=True),)


LINALG_INVERSE = register(
    Operator(
        "_linalg_inverse",
        _inverse_infer("_linalg_inverse"),
        _inverse_kernel,
        Gradient(_inverse_gradient, uses_output=True),
        doc=(
            "Invert every matrix. A singular matrix raises an error when the result is waited\n"
            "for.\n\n"
            "Shapes: A and output (..., n, n)."
        ),
        inputs=("A",),
        aliases=("linalg_inverse", "_npi_inv"),
        execution=Execution(heavy=True),
    )
)


def linalg_inverse(a: Any) -> Any:
    """Return the inverse of every matrix of a stack."""
    return apply(LINALG_INVERSE, (a,), {})


def _regular_kernel(xp: ModuleType, out: Any, a: Any) -> None:
    sign, _ = lapack(xp, "_inverse_or_zero", "square matrices", xp.linalg.slogdet, a)
    singular = (sign == 0)[..., None, None]
    safe = xp.where(singular, xp.eye(a.shape[-1], dtype=a.dtype), a)
    inverse = lapack(xp, "_inverse_or_zero", "invertible matrices", xp.linalg.inv, safe)
    out[...] = xp.where(singular, a.dtype.type(0), inverse)


# In MXNet the gradient of the determinant of a singular matrix is zero, even in a batch with
# regular ones; here `SINGULAR_COFACTORS` are added.
_INVERSE_OR_ZERO = register(
    Operator(
        "_inverse_or_zero",
        _inverse_infer("_inverse_or_zero"),
        _regular_kernel,
        Gradient(_inverse_gradient, uses_output=True),
        doc="Invert every matrix; return zeros for a singular one.",
        inputs=("A",),
        execution=Execution(heavy=True),
    )
)


def _each(g: Any, a: Any) -> Any:
    """Return the transposed inverse of each matrix, multiplied by its element of ``g``."""
    inverse = apply(_INVERSE_OR_ZERO, (a,), {})
    return adjoint(inverse) * reshape(g, (*a.shape[:-2], 1, 1))


def _lead(a: Spec, classic: bool) -> tuple[int, ...]:
    is_one = classic and not (follows_mxnet2() and is_np_shape())
    return a.shape[:-2] or ((1,) if is_one else ())


def _det_row(name: str, *aliases: str, classic: bool) -> Operator:
    def infer(a: Spec) -> tuple[Spec, ...]:
        check_square(name, a)
        check_real(name, a)
        return (Spec(_lead(a, classic), a.dtype), *_factors(a.dtype))

    def kernel(xp: ModuleType, out: tuple[Any, ...], a: Any) -> None:
        out[0][...] = lapack(xp, name, "square matrices", xp.linalg.det, a)

    def gradient(g: tuple[Any, ...], a: V, out: V, *_hidden: V) -> tuple[Any]:
        found = _each(g[0] * out, a)
        if follows_mxnet1():
            return (found,)
        each = (*a.shape[:-2], 1, 1)
        cofactors = apply(SINGULAR_COFACTORS, (a, reshape(out, each)), {})
        return (found + cofactors * reshape(g[0], each),)

    doc = "Compute the determinant of every matrix"
    singular = "The gradient is g times the cofactors, even for a singular matrix."
    return _register(name, aliases, infer, kernel, gradient, 1, doc, singular, classic=classic)


def _slogdet_row(name: str, *aliases: str, classic: bool) -> Operator:
    def infer(a: Spec) -> tuple[Spec, ...]:
        check_square(name, a)
        check_real(name, a)
        spec = Spec(_lead(a, classic), a.dtype)
        return (spec, spec, *_factors(a.dtype))

    def kernel(xp: ModuleType, out: tuple[Any, ...], a: Any) -> None:
        sign, logarithm = lapack(xp, name, "square matrices", xp.linalg.slogdet, a)
        out[0][...] = sign
        out[1][...] = logarithm

    def gradient(g: tuple[Any, ...], a: V, *_outputs: V) -> tuple[Any]:
        return (None if g[1] is None else _each(g[1], a),)

    doc = (
        "Compute the sign of the determinant of every matrix, and the logarithm of its absolute\n"
        "value"
    )
    singular = "The gradient of a singular matrix is zero."
    return _register(name, aliases, infer, kernel, gradient, 2, doc, singular, classic=classic)


def _factors(dtype: np.dtype[Any]) -> tuple[Spec, Spec]:
    return Spec((0,), dtype), Spec((0,), INT32)


def _register(
    name: str,
    aliases: tuple[str, ...],
    infer: Callable[..., tuple[Spec, ...]],
    kernel: Callable[..., None],
    gradient: Callable[..., tuple[Any]],
    visible: int,
    doc: str,
    singular: str,
    *,
    classic: bool,
) -> Operator:
    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(gradient, uses_output=True),
            doc=(
                f"{doc}.\n\n{singular}\n\n"
                f"Shapes: A (..., n, n), output{'s' if visible > 1 else ''} (...)"
                f"{', or (1,) for a single matrix' if classic else ''}."
            ),
            inputs=("A",),
            aliases=aliases,
            outputs=visible + 2,
            visible=visible,
            output_names=tuple(f"output{i}" for i in range(visible + 2)),
            execution=Execution(heavy=True),
        )
    )


LINALG_DET = _det_row("_linalg_det", "linalg_det", classic=True)
NPI_DET = _det_row("_npi_det", classic=False)
LINALG_SLOGDET = _slogdet_row("_linalg_slogdet", "linalg_slogdet", classic=True)
NPI_SLOGDET = _slogdet_row("_npi_slogdet", classic=False)
