"""Operators of two operands from table rows: on two arrays, and on an array and a number.

Operands are promoted to a common dtype, in which the expression and the gradient formula are
computed; each gradient is then cast to its operand's dtype.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.cast import cast, convert
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.numpy.promotion import common_dtype, dtype_of, flows, scalar_dtype
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support.binary_row import kind_of_number
from gluonish.ops.support.broadcasting import broadcast_shapes
from gluonish.ops.support.precision import check_number, in_dtype

SCALAR = Schema(scalar=number(1.0), is_int=boolean(True))

Expression = Callable[[ModuleType, Any, Any, Any], None]  # (xp, out, a, b)
Partial = Callable[[Any, Any, Any], Any]  # (g, a, b): the gradient of a, or of b
ResultDtype = Callable[[np.dtype[Any]], np.dtype[Any]]
ScalarDtype = Callable[[np.dtype[Any], bool], np.dtype[Any]]
Check = Callable[[str, Spec, np.dtype[Any]], None]  # (operator, first array, common dtype)


def converted(xp: ModuleType, array: Any, dtype: np.dtype[Any]) -> Any:
    """Cast an array, without a copy if the dtype is right."""
    if array.dtype == dtype:
        return array
    made = xp.empty(array.shape, dtype)
    convert(made, array)
    return made


def _same(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype


def _back(partial: Partial, g: V, a: Any, b: Any, operand: Any) -> Any:
    """Return a function that computes the gradient of an operand, in its shape and dtype."""
    return lambda: cast(unbroadcast(partial(g, a, b), operand.shape), dtype_of(operand))


def pair_operator(
    name: str,
    formula: str,
    expression: Expression,
    left: Partial | None,
    right: Partial | None,
    *,
    inputs: tuple[str, str] = ("lhs", "rhs"),
    result: ResultDtype = _same,
    check: Check | None = None,
) -> Operator:
    """Register an operation on two arrays that broadcast.

    Args:
        formula: Formula for the docstring: ``"lhs + rhs"``.
        expression: Fills the output from two arrays of its dtype.
        left: Gradient of the left operand, from (g, a, b); None where it is zero everywhere.
        right: Gradient of the right operand.
        inputs: Names of the operands.
        result: Dtype of the output, from the operands' common dtype.
        check: Raises OperatorError for invalid operands.
    """

    def infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
        dtype = common_dtype(name, lhs, rhs)
        if check is not None:
            check(name, lhs, dtype)
        return (Spec(broadcast_shapes(name, lhs.shape, rhs.shape), result(dtype)),)

    def kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any) -> None:
        expression(xp, out, converted(xp, lhs, out.dtype), converted(xp, rhs, out.dtype))

    def gradient(g: V, lhs: Any, rhs: Any) -> tuple[Any, ...]:
        dtype = dtype_of(g)
        a, b = cast(lhs, dtype), cast(rhs, dtype)
        return tuple(
            _back(part, g, a, b, x) if part and flows(dtype, dtype_of(x)) else None
            for part, x in ((left, lhs), (right, rhs))
        )

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient if left or right else zero_gradient,
            doc=f"Elementwise {formula}; shapes broadcast and dtypes promote.",
            inputs=inputs,
            execution=Execution(elementwise=True),
        )
    )


def scalar_operator(
    name: str,
    formula: str,
    expression: Expression,
    partial: Partial | None,
    *,
    reverse: bool,
    result: ScalarDtype = scalar_dtype,
    check: Check | None = None,
) -> Operator:
    """Register an operation on an array and a number.

    Args:
        formula: Formula for the docstring: ``"lhs + rhs"``.
        expression: Fills the output from an array and a number of its dtype.
        partial: Gradient of the array, from (g, left operand, right operand).
        reverse: Whether the number is the left operand.
        result: Dtype of the output, from the array's dtype and whether the number is an integer.
        check: Raises OperatorError for invalid arrays.
    """

    def infer(data: Spec, *, scalar: float, is_int: bool) -> tuple[Spec]:
        if check is not None:
            check(name, data, data.dtype)
        dtype = result(data.dtype, is_int)
        check_number(name, dtype, scalar)
        return (Spec(data.shape, dtype),)

    def kernel(xp: ModuleType, out: Any, data: Any, *, scalar: float, is_int: bool) -> None:
        value, array = in_dtype(out.dtype, scalar), converted(xp, data, out.dtype)
        expression(xp, out, *((value, array) if reverse else (array, value)))

    def gradient(g: V, data: Any, *, scalar: float, is_int: bool) -> tuple[Any]:
        own = dtype_of(data)
        if partial is None or not flows(dtype_of(g), own):
            return (None,)
        return (partial(g, scalar, data) if reverse else partial(g, data, scalar),)

    left, right = ("scalar", "data") if reverse else ("data", "scalar")
    formula = formula.replace("lhs", left).replace("rhs", right)
    dtypes = "Floats keep their dtype; integers and bool become float32."
    if result is scalar_dtype:
        dtypes = (
            "Floats keep their dtype; integers stay integers with is_int, and become float64\n"
            "without it (bool becomes int64 with is_int)."
        )
    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient if partial else zero_gradient,
            doc=f"Elementwise {formula}.\n\n{dtypes}",
            schema=SCALAR,
            execution=Execution(elementwise=True, signature=kind_of_number),
        )
    )
