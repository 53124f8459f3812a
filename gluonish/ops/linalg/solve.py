"""np.linalg.solve, tensorsolve and tensorinv: systems of linear equations."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.linalg.matrices import (
    adjoint,
    check_real,
    check_square,
    complete_real,
    lapack,
    product,
    real_dtype,
)
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import expand_dims, reshape
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.shape_rules import normalize_axes

_REGULAR = "invertible matrices"


def _solve_infer(a: Spec, b: Spec) -> tuple[Spec]:
    check_square("_npi_solve", a)
    dtype = real_dtype("_npi_solve", a, b)
    if b.shape != a.shape[:-1] and (len(b.shape) != len(a.shape) or b.shape[:-1] != a.shape[:-1]):
        raise OperatorError(
            f"_npi_solve: expected B of shape {a.shape[:-1]} or {(*a.shape[:-1], 'k')} for A "
            f"{a.shape}, got {b.shape}"
        )
    return (Spec(b.shape, dtype),)


def _solve_kernel(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    columns = b if b.ndim == a.ndim else b[..., None]
    real = a.astype(out.dtype), columns.astype(out.dtype)
    if out.size:  # CuPy does not document its result for an empty stack
        solved = lapack(xp, "_npi_solve", _REGULAR, xp.linalg.solve, *real)
        out[...] = solved.reshape(out.shape)


def _like(x: Any, source: Any) -> Any:
    """Cast a gradient to the dtype of its input."""
    dtype = np.dtype(source.dtype)
    return x if np.dtype(x.dtype) == dtype else cast(x, dtype)


def _has_gradient(x: Any) -> bool:
    return is_floating(np.dtype(x.dtype))


def _solve_gradient(g: Any, a: Any, b: Any, out: Any) -> tuple[Any, Any]:
    of_b = solve(adjoint(a), g)

    def of_a() -> Any:
        left, right = of_b, out
        if len(b.shape) < len(a.shape):
            left, right = expand_dims(left, -1), expand_dims(right, -1)
        return _like(-product(left, right, transpose_b=True), a)

    return (
        of_a if _has_gradient(a) else None,
        (lambda: _like(of_b, b)) if _has_gradient(b) else None,
    )


NPI_SOLVE = register(
    Operator(
        "_npi_solve",
        _solve_infer,
        _solve_kernel,
        Gradient(_solve_gradient, uses_output=True),
        doc=(
            "Solve A X = B for X, with square matrices A.\n\n"
            "The result is float64 unless both are float32. A singular matrix raises an error\n"
            "when the result is waited for.\n\n"
            "Shapes: A (..., n, n), B and output (..., n) or (..., n, k)."
        ),
        inputs=("A", "B"),
        shapes=ShapeFacts(complete=complete_real),
        execution=Execution(heavy=True),
    )
)


def solve(a: Any, b: Any) -> Any:
    """Return the solutions of stacked systems ``a x = b``."""
    return apply(NPI_SOLVE, (a, b), {})


def _order(a: Shape, axes: Shape) -> Shape:
    """Return the order of axes of ``a`` that moves ``axes`` to the end."""
    named = [axis % len(a) for axis in axes]
    return (*(i for i in range(len(a)) if i not in named), *named)


def _unknowns(a: Shape, rank_b: int, axes: Shape) -> Shape:
    """Return the result's shape: the extents of ``a`` after ``rank_b`` axes, sliced as in NumPy."""
    return tuple(a[i] for i in _order(a, axes)[rank_b - len(a) :])


def _tensorsolve_infer(a: Spec, b: Spec, *, a_axes: Shape) -> tuple[Spec]:
    dtype = real_dtype("_npi_tensorsolve", a, b)
    normalize_axes("_npi_tensorsolve", a_axes, len(a.shape))
    unknowns = _unknowns(a.shape, len(b.shape), a_axes)
    if math.prod(unknowns) != b.size or a.size != b.size**2:
        raise OperatorError(
            f"_npi_tensorsolve: expected equal numbers of equations, unknowns and elements of b, "
            f"got a {a.shape}, b {b.shape} and a_axes {a_axes}"
        )
    return (Spec(unknowns, dtype),)


def _tensorsolve_kernel(xp: ModuleType, out: Any, a: Any, b: Any, *, a_axes: Shape) -> None:
    matrix = a.astype(out.dtype).transpose(_order(a.shape, a_axes)).reshape(b.size, b.size)
    column = b.astype(out.dtype).reshape(b.size, 1)
    solved = lapack(xp, "_npi_tensorsolve", _REGULAR, xp.linalg.solve, matrix, column)
    out[...] = solved.reshape(out.shape)


def _tensorsolve_gradient(g: Any, a: Any, b: Any, out: Any, *, a_axes: Shape) -> tuple[Any, Any]:
    order = _order(a.shape, a_axes)
    size = math.prod(b.shape)
    matrix = reshape(transpose(a, order), (size, size)) if a.shape else reshape(a, (1, 1))
    of_b = solve(adjoint(matrix), reshape(g, (size, 1)))

    def of_a() -> Any:
        of_matrix = -product(of_b, reshape(out, (size, 1)), transpose_b=True)
        permuted = reshape(of_matrix, tuple(a.shape[i] for i in order))
        back = tuple(order.index(i) for i in range(len(order)))
        return _like(transpose(permuted, back) if back else permuted, a)

    return (
        of_a if _has_gradient(a) else None,
        (lambda: _like(reshape(of_b, b.shape), b)) if _has_gradient(b) else None,
    )


NPI_TENSORSOLVE = register(
    Operator(
        "_npi_tensorsolve",
        _tensorsolve_infer,
        _tensorsolve_kernel,
        Gradient(_tensorsolve_gradient, uses_output=True),
        doc=(
            "Solve tensordot(a, x, x.ndim) = b for x; the last axes of a are the axes of x.\n\n"
            "a_axes are moved to the end of a first. The result is float64 unless both are\n"
            "float32.\n\n"
            "Shapes: a (*b.shape, *unknowns), square as a matrix, b any, output (*unknowns).\n"
            "For a single equation, a and b may have any number of axes."
        ),
        inputs=("a", "b"),
        schema=Schema(a_axes=shape_attr(())),
        shapes=ShapeFacts(complete=complete_real),
        execution=Execution(heavy=True),
    )
)


def _tensorinv_infer(a: Spec, *, ind: int) -> tuple[Spec]:
    check_real("_npi_tensorinv", a)
    if ind < 1:
        raise OperatorError(f"_npi_tensorinv: expected ind of at least 1, got {ind}")
    front, back = a.shape[:ind], a.shape[ind:]
    if math.prod(front) != math.prod(back):
        raise OperatorError(
            f"_npi_tensorinv: expected equal sizes of the first {ind} axes and of the others, got "
            f"{a.shape}"
        )
    return (Spec(back + front, a.dtype),)


def _tensorinv_kernel(xp: ModuleType, out: Any, a: Any, *, ind: int) -> None:
    size = math.prod(a.shape[:ind])
    inverse = lapack(xp, "_npi_tensorinv", _REGULAR, xp.linalg.inv, a.reshape(size, size))
    out[...] = inverse.reshape(out.shape)


def _tensorinv_gradient(g: V, a: V, out: V, *, ind: int) -> tuple[Any]:
    size = math.prod(a.shape[:ind])
    inverse, of_inverse = reshape(out, (size, size)), reshape(g, (size, size))
    left = product(inverse, of_inverse, transpose_a=True)
    return (reshape(-product(left, inverse, transpose_b=True), a.shape),)


NPI_TENSORINV = register(
    Operator(
        "_npi_tensorinv",
        _tensorinv_infer,
        _tensorinv_kernel,
        Gradient(_tensorinv_gradient, uses_output=True),
        doc=(
            "Invert a as a matrix whose rows are the first ind axes.\n\n"
            "Shapes: a (*rows, *columns) with ind axes of rows and as many columns as rows,\n"
            "output (*columns, *rows)."
        ),
        inputs=("a",),
        schema=Schema(ind=integer(2)),
        execution=Execution(heavy=True),
    )
)
