"""NumPy's products of arrays: matmul, dot and tensordot."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import UNKNOWN, Shape, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.linalg.matmul import matmul
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import swap_axes, transpose
from gluonish.ops.support.broadcasting import broadcast_shapes, check_same_dtype
from gluonish.ops.support.precision import fill_product
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axis, unknown_of


def _check_floats(name: str, a: Spec, b: Spec) -> None:
    check_same_dtype(name, a, b)
    if not is_floating(a.dtype):
        raise OperatorError(f"{name}: expected floating-point arrays, got {a.dtype.name}")


def _as_matrices(a: Shape, b: Shape) -> tuple[Shape, Shape]:
    return (1, *a) if len(a) == 1 else a, (*b, 1) if len(b) == 1 else b


def _matmul_infer(a: Spec, b: Spec) -> tuple[Spec]:
    name = "_npi_matmul"
    _check_floats(name, a, b)
    if not a.shape or not b.shape:
        raise OperatorError(
            f"{name}: expected arrays of at least 1 axis, got {a.shape} and {b.shape}; multiply by "
            "scalars with *"
        )
    left, right = _as_matrices(a.shape, b.shape)
    if left[-1] != right[-2]:
        raise OperatorError(
            f"{name}: expected a (..., m, k) and b (..., k, n), got {a.shape} and {b.shape}"
        )
    lead = broadcast_shapes(name, left[:-2], right[:-2])
    rows = left[-2:-1] if len(a.shape) > 1 else ()
    columns = right[-1:] if len(b.shape) > 1 else ()
    return (Spec(lead + rows + columns, a.dtype),)


def _matmul_kernel(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    fill_product(xp, out, a, b)


def _matmul_gradient(g: V, a: V, b: V) -> tuple[Any, Any]:
    left, right = _as_matrices(a.shape, b.shape)
    lead = broadcast_shapes("_npi_matmul", left[:-2], right[:-2])
    grad = reshape(g, (*lead, left[-2], right[-1]))

    def of_a() -> Any:
        product = stacked_matmul(grad, swap_axes(reshape(b, right), -1, -2))
        return reshape(unbroadcast(product, left), a.shape)

    def of_b() -> Any:
        product = stacked_matmul(swap_axes(reshape(a, left), -1, -2), grad)
        return reshape(unbroadcast(product, right), b.shape)

    return of_a, of_b


def _product_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer the common extent of the inputs, and the shapes of two matrices and their product."""
    a, b = inputs
    if a and b:
        axis = max(len(b) - 2, 0)
        common = merge_shapes(a[-1:], (b[axis],), "dot") or ()
        merge_shape(inputs, 0, (*unknown_of(len(a) - 1), *common))
        merge_shape(inputs, 1, (*unknown_of(axis), *common, *unknown_of(len(b) - axis - 1)))
        if len(a) == len(b) == 2:
            assert inputs[0] is not None
            assert inputs[1] is not None
            merge_shape(outputs, 0, (inputs[0][0], inputs[1][1]))
            out = outputs[0]
            assert out is not None
            merge_shape(inputs, 0, (out[0], UNKNOWN))
            merge_shape(inputs, 1, (UNKNOWN, out[1]))


NPI_MATMUL = register(
    Operator(
        "_npi_matmul",
        _matmul_infer,
        _matmul_kernel,
        _matmul_gradient,
        doc=(
            "Multiply matrices in the last two axes; the leading axes broadcast.\n\n"
            "A vector is a row on the left and a column on the right, and its axis is removed\n"
            "from the result.\n\n"
            "Shapes: a (..., m, k), b (..., k, n), output (..., m, n)."
        ),
        inputs=("a", "b"),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(rule=_product_shapes),
    )
)


def stacked_matmul(a: Any, b: Any) -> Any:
    """Return the products of stacked matrices; leading axes broadcast."""
    return apply(NPI_MATMUL, (a, b), {})


class _Contraction:
    """A contraction of two arrays, computed as a matrix product.

    Args:
        a: Shape of the left array.
        b: Shape of the right array.
        axes_a: Summed axes of the left array, nonnegative, in the order of ``axes_b``.
        axes_b: Summed axes of the right array.
    """

    def __init__(self, a: Shape, b: Shape, axes_a: Shape, axes_b: Shape) -> None:
        free_a = tuple(i for i in range(len(a)) if i not in axes_a)
        free_b = tuple(i for i in range(len(b)) if i not in axes_b)
        self.order_a, self.order_b = free_a + axes_a, axes_b + free_b
        self.permuted_a = tuple(a[i] for i in self.order_a)
        self.permuted_b = tuple(b[i] for i in self.order_b)
        rows, columns = self.permuted_a[: len(free_a)], self.permuted_b[len(axes_b) :]
        self.shape = rows + columns
        self.rows, self.columns = math.prod(rows), math.prod(columns)
        self.inner = math.prod(self.permuted_a[len(free_a) :])

    def fill(self, xp: ModuleType, out: Any, a: Any, b: Any) -> None:
        """Compute the contraction."""
        left = a.transpose(self.order_a).reshape(self.rows, self.inner)
        right = b.transpose(self.order_b).reshape(self.inner, self.columns)
        fill_product(xp, out.reshape(self.rows, self.columns), left, right)

    def gradients(self, g: Any, a: Any, b: Any) -> tuple[Any, Any]:
        """Return a function for each array that computes its gradient."""
        grad = reshape(g, (self.rows, self.columns))

        def of_a() -> Any:
            right = reshape(_permuted(b, self.order_b), (self.inner, self.columns))
            product = matmul(grad, right, transpose_b=True)
            return _permuted(reshape(product, self.permuted_a), _inverse(self.order_a))

        def of_b() -> Any:
            left = reshape(_permuted(a, self.order_a), (self.rows, self.inner))
            product = matmul(left, grad, transpose_a=True)
            return _permuted(reshape(product, self.permuted_b), _inverse(self.order_b))

        return of_a, of_b


def _permuted(x: Any, order: Shape) -> Any:
    return x if order == tuple(range(len(order))) else transpose(x, order)


def _inverse(order: Shape) -> Shape:
    return tuple(order.index(i) for i in range(len(order)))


def _dot_contraction(a: Shape, b: Shape) -> _Contraction:
    return _Contraction(a, b, (len(a) - 1,), (max(0, len(b) - 2),))


def _dot_infer(a: Spec, b: Spec) -> tuple[Spec]:
    _check_floats("_np_dot", a, b)
    if not a.shape or not b.shape:
        return (Spec(a.shape or b.shape, a.dtype),)
    if a.shape[-1] != b.shape[max(0, len(b.shape) - 2)]:
        raise OperatorError(
            "_np_dot: expected the last axis of a and the second-to-last of b to agree, got "
            f"{a.shape} and {b.shape}"
        )
    return (Spec(_dot_contraction(a.shape, b.shape).shape, a.dtype),)


def _dot_kernel(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if a.ndim and b.ndim:
        _dot_contraction(a.shape, b.shape).fill(xp, out, a, b)
    else:
        out[...] = a * b


def _dot_gradient(g: V, a: V, b: V) -> tuple[Any, Any]:
    if a.shape and b.shape:
        return _dot_contraction(a.shape, b.shape).gradients(g, a, b)
    return lambda: unbroadcast(g * b, a.shape), lambda: unbroadcast(g * a, b.shape)


NP_DOT = register(
    Operator(
        "_np_dot",
        _dot_infer,
        _dot_kernel,
        _dot_gradient,
        doc=(
            "Sum products over the last axis of a and the second-to-last axis of b, or b's only\n"
            "axis.\n\n"
            "A scalar multiplies the other array.\n\n"
            "Shapes: a (..., k), b (..., k, n) or (k,), output the remaining axes, of a first."
        ),
        inputs=("a", "b"),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(rule=_product_shapes),
    )
)

Axes = Callable[..., tuple[Shape, Shape]]  # (rank of a, rank of b, **attrs): the summed axes


def _tensordot(name: str, axes_of: Axes, doc: str, schema: Schema) -> Operator:
    def contraction(a: Shape, b: Shape, attrs: dict[str, Any]) -> _Contraction:
        return _Contraction(a, b, *axes_of(len(a), len(b), **attrs))

    def infer(a: Spec, b: Spec, **attrs: Any) -> tuple[Spec]:
        _check_floats(name, a, b)
        axes_a, axes_b = axes_of(len(a.shape), len(b.shape), **attrs)
        if len(set(axes_a)) != len(axes_a) or len(set(axes_b)) != len(axes_b):
            raise OperatorError(f"{name}: expected every axis once, got {axes_a} and {axes_b}")
        if [a.shape[i] for i in axes_a] != [b.shape[i] for i in axes_b]:
            raise OperatorError(
                f"{name}: expected equal sizes along the summed axes, got axes {axes_a} of "
                f"{a.shape} and {axes_b} of {b.shape}"
            )
        return (Spec(contraction(a.shape, b.shape, attrs).shape, a.dtype),)

    def kernel(xp: ModuleType, out: Any, a: Any, b: Any, **attrs: Any) -> None:
        contraction(a.shape, b.shape, attrs).fill(xp, out, a, b)

    def gradient(g: V, a: V, b: V, **attrs: Any) -> tuple[Any, Any]:
        return contraction(a.shape, b.shape, attrs).gradients(g, a, b)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=doc,
            inputs=("a", "b"),
            schema=schema,
            execution=Execution(heavy=True),
        )
    )


def _named_axes(
    rank_a: int, rank_b: int, *, a_axes_summed: Shape, b_axes_summed: Shape
) -> tuple[Shape, Shape]:
    name = "_npi_tensordot"
    if len(a_axes_summed) != len(b_axes_summed):
        raise OperatorError(
            f"{name}: expected equal numbers of axes of a and b, got {a_axes_summed} and "
            f"{b_axes_summed}"
        )
    return (
        tuple(normalize_axis(name, axis, rank_a) for axis in a_axes_summed),
        tuple(normalize_axis(name, axis, rank_b) for axis in b_axes_summed),
    )


def _counted_axes(rank_a: int, rank_b: int, *, axes: int) -> tuple[Shape, Shape]:
    if axes > min(rank_a, rank_b):
        raise OperatorError(
            f"_npi_tensordot_int_axes: expected axes of at most {min(rank_a, rank_b)}, got {axes}"
        )
    count = max(0, axes)
    return tuple(range(rank_a - count, rank_a)), tuple(range(count))


NPI_TENSORDOT = _tensordot(
    "_npi_tensordot",
    _named_axes,
    (
        "Sum products over pairs of axes of a and b.\n\n"
        "Shapes: a and b with equal sizes of the paired axes, output the remaining axes, of a\n"
        "first."
    ),
    Schema(a_axes_summed=shape_attr(), b_axes_summed=shape_attr()),
)
NPI_TENSORDOT_INT_AXES = _tensordot(
    "_npi_tensordot_int_axes",
    _counted_axes,
    (
        "Sum products over the last axes of a and the first axes of b; axes is their number.\n\n"
        "Shapes: a (..., *summed), b (*summed, ...), output the remaining axes, of a first."
    ),
    Schema(axes=integer()),
)
