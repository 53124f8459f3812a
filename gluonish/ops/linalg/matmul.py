"""Matrix products: dot, batch_dot and linalg_gemm2, and `matmul` for gradient rules."""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number
from gluonish.core.spec import Shape, Spec, merge_shapes
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import accumulator, fill_product, widen
from gluonish.ops.support.shape_rules import Shapes, merge_shape

_STYPES = (None, "csr", "default", "row_sparse")
_DOT_SCHEMA = Schema(
    transpose_a=boolean(False),
    transpose_b=boolean(False),
    forward_stype=choice(*_STYPES, default=None),
)


def _check_operands(name: str, lhs: Spec, rhs: Spec) -> None:
    check_same_dtype(name, lhs, rhs)
    if not is_floating(lhs.dtype):
        raise OperatorError(f"{name}: expected floating-point arrays, got {lhs.dtype.name}")


def _swapped(x: Any, transpose: bool) -> Any:
    return x.swapaxes(-1, -2) if transpose else x


def _split(shape: Shape, last: bool) -> tuple[int, Shape]:
    """Split a shape into the contracted extent (the last or the first) and the other extents."""
    return (shape[-1], shape[:-1]) if last else (shape[0], shape[1:])


def _dot_infer(
    lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, forward_stype: str | None
) -> tuple[Spec]:
    _check_operands("dot", lhs, rhs)
    if not lhs.shape or not rhs.shape:
        raise OperatorError(
            f"dot: expected arrays of at least 1 axis, got {lhs.shape} and {rhs.shape}"
        )
    if len(lhs.shape) == len(rhs.shape) == 1 and (transpose_a or transpose_b):
        raise OperatorError("dot: expected no transpose of vectors, got transpose_a or transpose_b")
    inner, rows = _split(lhs.shape, last=not transpose_a)
    other, columns = _split(rhs.shape, last=transpose_b)
    if inner != other:
        raise OperatorError(
            f"dot: expected lhs and rhs to agree in the summed axis, got {lhs.shape} and "
            f"{rhs.shape} with transpose_a={transpose_a}, transpose_b={transpose_b}"
        )
    return (Spec(rows + columns or (1,), lhs.dtype),)


def _matrix_shape(shape: Shape, first: bool) -> Shape:
    """Return the shape flattened to a matrix, with the contracted axis first or last."""
    inner, outer = _split(shape, last=not first)
    return (inner, math.prod(outer)) if first else (math.prod(outer), inner)


def _dot_kernel(
    xp: ModuleType,
    out: Any,
    lhs: Any,
    rhs: Any,
    *,
    transpose_a: bool,
    transpose_b: bool,
    forward_stype: str | None,
) -> None:
    a = _swapped(lhs.reshape(_matrix_shape(lhs.shape, transpose_a)), transpose_a)
    b = _swapped(rhs.reshape(_matrix_shape(rhs.shape, not transpose_b)), transpose_b)
    fill_product(xp, out.reshape(a.shape[0], b.shape[1]), a, b)


def _dot_gradient(
    g: V, lhs: V, rhs: V, *, transpose_a: bool, transpose_b: bool, forward_stype: str | None
) -> tuple[Any, Any]:
    a = reshape(lhs, _matrix_shape(lhs.shape, transpose_a))
    b = reshape(rhs, _matrix_shape(rhs.shape, not transpose_b))
    g = reshape(g, (a.shape[1 if transpose_a else 0], b.shape[0 if transpose_b else 1]))
    return (
        lambda: reshape(_left_gradient(matmul, g, b, transpose_a, transpose_b), lhs.shape),
        lambda: reshape(_right_gradient(matmul, g, a, transpose_a, transpose_b), rhs.shape),
    )


def _left_gradient(product: Any, g: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if transpose_a:
        return product(b, g, transpose_a=transpose_b, transpose_b=True)
    return product(g, b, transpose_b=not transpose_b)


def _right_gradient(product: Any, g: Any, a: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if transpose_b:
        return product(g, a, transpose_a=True, transpose_b=transpose_a)
    return product(a, g, transpose_a=not transpose_a)


def _dot_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer the output's extents from both inputs."""
    a, b = inputs
    if a is None or b is None or not a or not b:
        return
    left, right = attrs["transpose_a"], attrs["transpose_b"]
    rows = a[1:] if left else a[:-1]
    merge_shape(outputs, 0, (*rows, *(b[:-1] if right else b[1:])) or (1,))


def _dot_products(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    lhs, rhs = inputs
    return lhs.size * rhs.size // max(1, rhs.shape[-1 if attrs["transpose_b"] else 0])


DOT = register(
    Operator(
        "dot",
        _dot_infer,
        _dot_kernel,
        _dot_gradient,
        doc=(
            "Multiply matrices: sum products over the last axis of lhs and the first axis of\n"
            "rhs.\n\n"
            "transpose_a sums over the first axis of lhs instead, transpose_b over the last\n"
            "axis of rhs. Two vectors give shape (1,). forward_stype is accepted and ignored:\n"
            "the result is dense.\n\n"
            "Shapes: lhs (..., k), rhs (k, ...), output the remaining axes, of lhs first."
        ),
        inputs=("lhs", "rhs"),
        schema=_DOT_SCHEMA,
        aliases=("_sparse_dot",),
        shapes=ShapeFacts(rule=_dot_shapes),
        execution=Execution(heavy=_dot_products),
    )
)


def _wide_dot_infer(lhs: Spec, rhs: Spec, **attrs: Any) -> tuple[Spec]:
    (spec,) = _dot_infer(lhs, rhs, **attrs)
    return (Spec(spec.shape, accumulator(spec.dtype)),)


def _wide_dot_kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any, **attrs: Any) -> None:
    _dot_kernel(xp, out, widen(lhs), widen(rhs), **attrs)


def _wide_dot_gradient(g: V, lhs: V, rhs: V, **attrs: Any) -> tuple[Any, Any]:
    return _dot_gradient(cast(g, lhs.dtype), lhs, rhs, **attrs)  # type: ignore[attr-defined]  # values have a dtype


WIDE_DOT = register(
    Operator(
        "_wide_dot",
        _wide_dot_infer,
        _wide_dot_kernel,
        _wide_dot_gradient,
        doc=(
            "Compute dot in the accumulator's dtype: 16-bit floats give float32.\n\n"
            "Graphs use it where the result of dot would be cast: gradients of weights in\n"
            "float32.\n\n"
            "Shapes: as in dot."
        ),
        inputs=("lhs", "rhs"),
        schema=_DOT_SCHEMA,
        shapes=ShapeFacts(rule=_dot_shapes),
        execution=Execution(heavy=_dot_products),
    )
)


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Return the product of two matrices, optionally transposed first."""
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b, "forward_stype": None}
    return apply(DOT, (a, b), attrs)


def _batched_shape(name: str, a: Shape, b: Shape, transpose_a: bool, transpose_b: bool) -> Shape:
    """Return the shape of the products of stacked matrices.

    Raises:
        OperatorError: The leading extents differ, or the matrices do not fit.
    """
    if transpose_a:
        a = (*a[:-2], a[-1], a[-2])
    if transpose_b:
        b = (*b[:-2], b[-1], b[-2])
    if a[:-2] != b[:-2] or a[-1] != b[-2]:
        raise OperatorError(
            f"{name}: expected (..., m, k) and (..., k, n) with equal leading axes, got {a} and "
            f"{b} after transposing"
        )
    return (*a[:-1], b[-1])


def _batch_dot_infer(
    lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, forward_stype: str | None
) -> tuple[Spec]:
    _check_operands("batch_dot", lhs, rhs)
    if len(lhs.shape) < 3 or len(lhs.shape) != len(rhs.shape):
        raise OperatorError(
            f"batch_dot: expected two arrays of equal rank, at least 3, got {lhs.shape} and "
            f"{rhs.shape}"
        )
    shape = _batched_shape("batch_dot", lhs.shape, rhs.shape, transpose_a, transpose_b)
    return (Spec(shape, lhs.dtype),)


def _batch_dot_kernel(
    xp: ModuleType,
    out: Any,
    lhs: Any,
    rhs: Any,
    *,
    transpose_a: bool,
    transpose_b: bool,
    forward_stype: str | None,
) -> None:
    fill_product(xp, out, _swapped(lhs, transpose_a), _swapped(rhs, transpose_b))


def _batch_dot_gradient(
    g: V, lhs: V, rhs: V, *, transpose_a: bool, transpose_b: bool, forward_stype: str | None
) -> tuple[Any, Any]:
    return (
        lambda: _left_gradient(batch_dot, g, rhs, transpose_a, transpose_b),
        lambda: _right_gradient(batch_dot, g, lhs, transpose_a, transpose_b),
    )


def _batch_dot_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    a, b = inputs
    if a is None or b is None or len(a) != len(b) or len(a) < 3:
        return
    rows = a[-1] if attrs["transpose_a"] else a[-2]
    columns = b[-2] if attrs["transpose_b"] else b[-1]
    batch = merge_shapes(a[:-2], b[:-2], "batch_dot") or ()
    merge_shape(outputs, 0, (*batch, rows, columns))


BATCH_DOT = register(
    Operator(
        "batch_dot",
        _batch_dot_infer,
        _batch_dot_kernel,
        _batch_dot_gradient,
        doc=(
            "Multiply batched matrices over the last two axes.\n\n"
            "forward_stype is accepted and ignored: the result is dense.\n\n"
            "Shapes: lhs (..., m, k), rhs (..., k, n), output (..., m, n) without transposing;\n"
            "no axes broadcast."
        ),
        inputs=("lhs", "rhs"),
        schema=_DOT_SCHEMA,
        aliases=("_npx_batch_dot",),
        shapes=ShapeFacts(rule=_batch_dot_shapes),
        execution=Execution(heavy=True),
    )
)


def batch_dot(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Return the products of stacked matrices, optionally transposed first."""
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b, "forward_stype": None}
    return apply(BATCH_DOT, (a, b), attrs)


def _rows_last_but_one(shape: Shape, axis: int) -> Shape:
    position = axis % len(shape)
    return (*shape[:position], *shape[position + 1 : -1], shape[position], shape[-1])


def _gemm2_infer(
    a: Spec, b: Spec, *, transpose_a: bool, transpose_b: bool, alpha: float, axis: int
) -> tuple[Spec]:
    name = "linalg_gemm2"
    _check_operands(name, a, b)
    rank = len(a.shape)
    if rank < 2 or rank != len(b.shape) or not -rank <= axis < rank or axis % rank == rank - 1:
        raise OperatorError(
            f"{name}: expected two arrays of equal rank, at least 2, and axis before the last, "
            f"got {a.shape}, {b.shape} and axis {axis}"
        )
    shape = _batched_shape(
        name,
        _rows_last_but_one(a.shape, axis),
        _rows_last_but_one(b.shape, axis),
        transpose_a,
        transpose_b,
    )
    position = axis % rank
    lead = shape[:-2]
    return (Spec((*lead[:position], shape[-2], *lead[position:], shape[-1]), a.dtype),)


def _gemm2_kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    b: Any,
    *,
    transpose_a: bool,
    transpose_b: bool,
    alpha: float,
    axis: int,
) -> None:
    left = _swapped(xp.moveaxis(a, axis, -2), transpose_a)
    right = _swapped(xp.moveaxis(b, axis, -2), transpose_b)
    target = xp.moveaxis(out, axis, -2)
    fill_product(xp, target, left, right, alpha)


def _gemm2_gradient(
    g: V, a: V, b: V, *, transpose_a: bool, transpose_b: bool, alpha: float, axis: int
) -> tuple[Any, Any]:
    def product(x: Any, y: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
        return linalg_gemm2(x, y, transpose_a, transpose_b, alpha, axis)

    return (
        lambda: _left_gradient(product, g, b, transpose_a, transpose_b),
        lambda: _right_gradient(product, g, a, transpose_a, transpose_b),
    )


LINALG_GEMM2 = register(
    Operator(
        "_linalg_gemm2",
        _gemm2_infer,
        _gemm2_kernel,
        _gemm2_gradient,
        doc=(
            "Compute alpha A B, with rows along axis and columns along the last axis.\n\n"
            "Shapes: A (..., m, k), B (..., k, n), output (..., m, n) without transposing and\n"
            "with axis -2; no axes broadcast."
        ),
        inputs=("A", "B"),
        schema=Schema(
            transpose_a=boolean(False),
            transpose_b=boolean(False),
            alpha=number(1.0),
            axis=integer(-2),
        ),
        aliases=("linalg_gemm2",),
        execution=Execution(heavy=True),
    )
)


def linalg_gemm2(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
) -> Any:
    """Return ``alpha`` times the products of stacked matrices with rows along ``axis``."""
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b, "alpha": alpha, "axis": axis}
    return apply(LINALG_GEMM2, (a, b), attrs)
