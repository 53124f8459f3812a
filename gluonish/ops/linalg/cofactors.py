"""Cofactors of singular matrices: the gradient of their determinant.

With A = U diag(s) V, the cofactors are det(U V) U diag(p) V, where p_i is the product of all s_j
with j != i. Their gradient contains the products of all but two singular values.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.ops.facts import Execution
from gluonish.ops.linalg.matrices import iterative, lapack
from gluonish.ops.registry import Operator, V, apply, register


def _spectrum(xp: ModuleType, a: Any, det: Any) -> tuple[Any, Any, Any, Any]:
    """Return det(U V) of every matrix, 0 for regular matrices, and U, s and V."""
    singular = det == 0
    safe = xp.where(singular, a, xp.eye(a.shape[-1], dtype=a.dtype))
    left, values, right = iterative(xp, "_singular_cofactors", xp.linalg.svd, safe)
    first, second = (
        lapack(xp, "_singular_cofactors", "square matrices", xp.linalg.slogdet, factor)[0]
        for factor in (left, right)
    )
    return (first * second)[..., None, None] * singular, left, values, right


def _without(xp: ModuleType, values: Any, count: int) -> Any:
    """Return the products of all values but one (..., n), or all but two (..., n, n)."""
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
