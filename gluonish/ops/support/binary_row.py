"""One row of the table in `ops.elementwise.binary`: its four operators."""

from collections.abc import Callable
from operator import methodcaller
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.schema import Schema, as_number, boolean, number
from gluonish.core.spec import PartialSpec, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support.broadcasting import complete_same, infer_broadcast, refuse_truth_values
from gluonish.ops.support.precision import check_number, comparable, in_dtype
from gluonish.ops.support.shape_rules import broadcast

Expression = Callable[
    [ModuleType, Any, Any, Any], None
]  # (xp, out, a, b), either of a and b a scalar


Partial = Callable[[V, Any, Any], Any]  # (g, a, b): the gradient of a, or of b


_SCALAR = Schema(scalar=number(1.0), is_int=boolean(True))

# `Execution.signature` of operators whose number is a value of the formula.
kind_of_number = methodcaller("get", "is_int")


class Row:
    """The operators of one binary operation.

    Args:
        word: Formula for docstrings: ``"lhs + rhs"``.
        expression: Fills ``out`` from two arrays, or an array and a scalar.
        left: Gradient of the left operand, from (g, a, b); None where it is zero everywhere.
        right: Gradient of the right operand.
        names: Registry names of the elemwise, broadcast, scalar and reversed scalar operators, with
            their aliases; the last is empty for commutative operations.
        compares: Whether scalars are compared, and so may exceed the range of an integer dtype.

    Attributes:
        broadcast, elemwise, scalar, rscalar: The operators.
    """

    __slots__ = (
        "broadcast",
        "elemwise",
        "expression",
        "left",
        "right",
        "rscalar",
        "scalar",
        "word",
    )

    def __init__(
        self,
        word: str,
        expression: Expression,
        left: Partial | None,
        right: Partial | None,
        *names: str,
        compares: bool = False,
    ) -> None:
        self.word = word
        self.expression = expression
        self.left = left
        self.right = right
        elemwise, broadcast, scalar, rscalar = (name.split() for name in names)
        pair = zero_gradient if left is None else _pair_gradient(left, right or left)
        self.broadcast = _pair_operator(word, broadcast, expression, pair)
        self.elemwise = (
            _pair_operator(word, elemwise, expression, pair) if elemwise else self.broadcast
        )
        self.scalar = _scalar_operator(
            word, scalar, expression, left, reverse=False, compares=compares
        )
        self.rscalar = (
            _scalar_operator(word, rscalar, expression, right, reverse=True, compares=compares)
            if rscalar
            else self.scalar
        )

    def __call__(self, a: Any, b: Any) -> Any:
        """Apply to two values, or to a value and a number on either side."""
        if not hasattr(a, "__apply__"):
            return apply(self.rscalar, (b,), {"scalar": as_number(a), "is_int": type(a) is int})
        if not hasattr(b, "__apply__"):
            return apply(self.scalar, (a,), {"scalar": as_number(b), "is_int": type(b) is int})
        return apply(self.broadcast, (a, b), {})


def _pair_gradient(left: Partial, right: Partial) -> Callable[[V, V, V], tuple[Any, Any]]:
    def gradient(g: V, a: V, b: V) -> tuple[Any, Any]:
        return (
            lambda: unbroadcast(left(g, a, b), a.shape),
            lambda: unbroadcast(right(g, a, b), b.shape),
        )

    return gradient


def _pair_operator(
    word: str, names: list[str], expression: Expression, gradient: Callable[..., Any]
) -> Operator:
    name = names[0]
    elemwise = name.startswith(("elemwise", "_"))

    def infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
        if lhs.dtype is BOOL:
            refuse_truth_values(name, lhs)
        if lhs == rhs:
            return (lhs,)
        if elemwise and lhs.shape != rhs.shape and follows_mxnet():
            raise OperatorError(
                f"{name}: expected arrays of equal shape, got {lhs.shape} and {rhs.shape}; "
                f"use the broadcast_ operator"
            )
        return (infer_broadcast(name, lhs, rhs),)

    return register(
        Operator(
            name,
            infer,
            expression,
            gradient,
            doc=f"Elementwise {word}; both arrays have the same dtype, and shapes broadcast.",
            inputs=("lhs", "rhs"),
            aliases=tuple(names[1:]),
            shapes=ShapeFacts(complete=complete_same if elemwise else None, rule=broadcast),
            execution=Execution(elementwise=True, at_once=True),
        )
    )


def _scalar_operator(
    word: str,
    names: list[str],
    expression: Expression,
    partial: Partial | None,
    *,
    reverse: bool,
    compares: bool,
) -> Operator:
    name = names[0]

    def infer(data: Spec, *, scalar: float, is_int: bool = True) -> tuple[Spec]:
        if data.dtype is FLOAT32:
            return (data,)
        result = Spec(data.shape, INT64) if data.dtype is BOOL else data
        check_number(name, result.dtype, scalar)
        return (result,)

    def kernel(xp: ModuleType, out: Any, data: Any, *, scalar: float, is_int: bool = True) -> None:
        if data.dtype != out.dtype:
            data = data.astype(out.dtype)
        if compares and not is_floating(data.dtype):
            data, value = comparable(xp, data, int(scalar))
        else:
            value = typed(out.dtype, scalar)
        if reverse:
            expression(xp, out, value, data)
        else:
            expression(xp, out, data, value)

    def gradient(g: V, data: V, *, scalar: float, is_int: bool = True) -> tuple[Any]:
        assert partial is not None
        return (partial(g, scalar, data) if reverse else partial(g, data, scalar),)

    left, right = ("scalar", "data") if reverse else ("data", "scalar")
    return register(
        Operator(
            name,
            infer,
            kernel,
            zero_gradient if partial is None else gradient,
            doc=(
                f"Elementwise {word.replace('lhs', left).replace('rhs', right)}, in the dtype of "
                "data (int64 for bool)."
            ),
            schema=_SCALAR,
            aliases=tuple(names[1:]),
            shapes=ShapeFacts(complete=_scalar_complete),
            execution=Execution(elementwise=True, at_once=True, signature=kind_of_number),
        )
    )


def _scalar_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    if inputs[0].dtype != BOOL:
        complete_same(inputs, outputs, attrs)
        return
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "scalar")
    inputs[0], outputs[0] = PartialSpec(shape, BOOL), PartialSpec(shape, INT64)


def typed(dtype: np.dtype[Any], scalar: float) -> Any:
    """Return a scalar in an array's dtype; float32 and float64 accept Python's number as is."""
    return scalar if dtype is FLOAT32 or dtype is FLOAT64 else in_dtype(dtype, scalar)
