"""Comparisons with bool results, and bitwise operations: on two arrays, or array and number.

constraint_check and share_memory: predicates of arrays.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, text
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.numpy.binary_row import SCALAR, converted
from gluonish.ops.numpy.promotion import common_dtype
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import broadcast_shapes
from gluonish.ops.support.precision import check_number, comparable, in_dtype, widen

Operators = tuple[Operator, Operator]  # of two arrays, and of an array and a number


def _comparison(name: str, scalar_name: str, symbol: str, ufunc: str) -> Operators:
    def infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
        common_dtype(name, lhs, rhs)
        return (Spec(broadcast_shapes(name, lhs.shape, rhs.shape), BOOL),)

    def kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any) -> None:
        dtype = common_dtype(name, Spec((), lhs.dtype), Spec((), rhs.dtype))
        getattr(xp, ufunc)(converted(xp, lhs, dtype), converted(xp, rhs, dtype), out=out)

    def scalar_infer(data: Spec, *, scalar: float, is_int: bool) -> tuple[Spec]:
        return (Spec(data.shape, BOOL),)

    def scalar_kernel(xp: ModuleType, out: Any, data: Any, *, scalar: float, is_int: bool) -> None:
        value: Any = bool(scalar)
        if is_floating(data.dtype):
            data, value = widen(data), widen(data.dtype.type(scalar))
        elif data.dtype != BOOL:
            data, value = comparable(xp, data, scalar)
        getattr(xp, ufunc)(data, value, out=out)

    def operator(
        own: str, infer: Callable[..., Any], kernel: Callable[..., None], **options: Any
    ) -> Operator:
        return register(Operator(own, infer, kernel, zero_gradient, **options))

    return (
        operator(
            name,
            infer,
            kernel,
            doc=(
                f"Elementwise lhs {symbol} rhs, as bool.\n\n"
                "Shapes: lhs and rhs broadcast to the output's."
            ),
            inputs=("lhs", "rhs"),
        ),
        operator(
            scalar_name,
            scalar_infer,
            scalar_kernel,
            doc=(
                f"Elementwise data {symbol} scalar, as bool.\n\nShapes: data any, output the same."
            ),
            schema=SCALAR,
        ),
    )


EQUAL, EQUAL_SCALAR = _comparison("_npi_equal", "_npi_equal_scalar", "==", "equal")
NOT_EQUAL, _ = _comparison("_npi_not_equal", "_npi_not_equal_scalar", "!=", "not_equal")
_comparison("_npi_greater", "_npi_greater_scalar", ">", "greater")
_comparison("_npi_greater_equal", "_npi_greater_equal_scalar", ">=", "greater_equal")
_comparison("_npi_less", "_npi_less_scalar", "<", "less")
_comparison("_npi_less_equal", "_npi_less_equal_scalar", "<=", "less_equal")


def _logic(name: str, scalar_name: str, word: str, ufunc: str) -> None:
    """Register a function of truths: of two arrays, and of an array and a number."""

    def infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
        return (Spec(broadcast_shapes(name, lhs.shape, rhs.shape), BOOL),)

    def kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any) -> None:
        getattr(xp, ufunc)(lhs != 0, rhs != 0, out=out)

    def scalar_infer(data: Spec, *, scalar: float, is_int: bool) -> tuple[Spec]:
        return (Spec(data.shape, BOOL),)

    def scalar_kernel(xp: ModuleType, out: Any, data: Any, *, scalar: float, is_int: bool) -> None:
        getattr(xp, ufunc)(data != 0, bool(scalar), out=out)

    register(
        Operator(
            name,
            infer,
            kernel,
            zero_gradient,
            doc=f"Elementwise {word} of lhs and rhs, as bool; shapes broadcast.",
            inputs=("lhs", "rhs"),
        )
    )
    register(
        Operator(
            scalar_name,
            scalar_infer,
            scalar_kernel,
            zero_gradient,
            doc=f"Elementwise {word} of data and a number, as bool.",
            schema=SCALAR,
        )
    )


_logic("_npi_logical_and", "_npi_logical_and_scalar", "logical and", "logical_and")
_logic("_npi_logical_or", "_npi_logical_or_scalar", "logical or", "logical_or")
_logic("_npi_logical_xor", "_npi_logical_xor_scalar", "logical exclusive or", "logical_xor")


def _bits(
    name: str, scalar_name: str, word: str, ufunc: str, *, takes_bool: bool, reverse: str = ""
) -> None:
    """Register an operation on integers; ``reverse`` names that of a number and an array."""

    def check(operator: str, dtype: np.dtype[Any]) -> None:
        if is_floating(dtype) or (dtype == BOOL and not takes_bool):
            kinds = "integers or bool" if takes_bool else "integers"
            raise OperatorError(f"{operator}: expected {kinds}, got {dtype.name}")

    def infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
        dtype = common_dtype(name, lhs, rhs)
        check(name, dtype)
        return (Spec(broadcast_shapes(name, lhs.shape, rhs.shape), dtype),)

    def kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any) -> None:
        lhs, rhs = converted(xp, lhs, out.dtype), converted(xp, rhs, out.dtype)
        getattr(xp, ufunc)(lhs, rhs, out=out)

    def infer_with_number(own: str) -> Callable[..., tuple[Spec]]:
        def scalar_infer(data: Spec, *, scalar: float, is_int: bool) -> tuple[Spec]:
            check(own, data.dtype)
            check_number(own, data.dtype, scalar)
            return (data,)

        return scalar_infer

    def scalar_kernel(xp: ModuleType, out: Any, data: Any, *, scalar: float, is_int: bool) -> None:
        value = bool(scalar) if data.dtype == BOOL else in_dtype(data.dtype, scalar)
        getattr(xp, ufunc)(data, value, out=out)

    def reverse_kernel(xp: ModuleType, out: Any, data: Any, *, scalar: float, is_int: bool) -> None:
        getattr(xp, ufunc)(in_dtype(data.dtype, scalar), data, out=out)

    def operator(own: str, infer: Any, kernel: Any, doc: str, **options: Any) -> None:
        elementwise = Execution(elementwise=True)
        register(
            Operator(own, infer, kernel, zero_gradient, doc=doc, execution=elementwise, **options)
        )

    doc = f"Elementwise {word} of lhs and rhs; shapes broadcast."
    operator(name, infer, kernel, doc, inputs=("lhs", "rhs"))
    doc = f"Elementwise {word} of data and a number, in the dtype of data."
    operator(scalar_name, infer_with_number(scalar_name), scalar_kernel, doc, schema=SCALAR)
    if reverse:
        doc = f"Elementwise {word} of a number and data, in the dtype of data."
        operator(reverse, infer_with_number(reverse), reverse_kernel, doc, schema=SCALAR)


_bits(
    "_npi_bitwise_and",
    "_npi_bitwise_and_scalar",
    "bitwise and",
    "bitwise_and",
    takes_bool=True,
)
_bits(
    "_npi_bitwise_or",
    "_npi_bitwise_or_scalar",
    "bitwise or",
    "bitwise_or",
    takes_bool=True,
)
_bits(
    "_npi_bitwise_xor",
    "_npi_bitwise_xor_scalar",
    "bitwise exclusive or",
    "bitwise_xor",
    takes_bool=True,
)
_bits("_npi_lcm", "_npi_lcm_scalar", "least common multiple", "lcm", takes_bool=False)
_bits("_npi_gcd", "_npi_gcd_scalar", "greatest common divisor", "gcd", takes_bool=False)
_bits(
    "_npi_bitwise_left_shift",
    "_npi_bitwise_left_shift_scalar",
    "left shift",
    "left_shift",
    takes_bool=False,
    reverse="_npi_rbitwise_left_shift_scalar",
)
_bits(
    "_npi_bitwise_right_shift",
    "_npi_bitwise_right_shift_scalar",
    "right shift",
    "right_shift",
    takes_bool=False,
    reverse="_npi_rbitwise_right_shift_scalar",
)


def _check_infer(input: Spec, *, msg: str) -> tuple[Spec]:  # noqa: A002  # MXNet's name
    if input.dtype != BOOL:
        raise OperatorError(f"_npx_constraint_check: expected bool, got {input.dtype.name}")
    return (Spec((), BOOL),)


def _check_kernel(
    xp: ModuleType,
    out: Any,
    input: Any,  # noqa: A002  # MXNet's name
    *,
    msg: str,
) -> None:
    if not bool(input.all()):
        raise OperatorError(f"_npx_constraint_check: expected true everywhere, got false: {msg}")
    out.fill(True)


CONSTRAINT_CHECK = register(
    Operator(
        "_npx_constraint_check",
        _check_infer,
        _check_kernel,
        zero_gradient,
        doc=(
            "True if all elements are true; otherwise an error with the text msg when the\n"
            "result is waited for.\n\n"
            "Shapes: input any, output ()."
        ),
        inputs=("input",),
        schema=Schema(msg=text("Constraint violated.")),
    )
)


def _share_infer(a: Spec, b: Spec) -> tuple[Spec]:
    return (Spec((), BOOL),)


def _share_kernel(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    out.fill(bool(xp.may_share_memory(a, b)))


SHARE_MEMORY = register(
    Operator(
        "_npi_share_memory",
        _share_infer,
        _share_kernel,
        zero_gradient,
        doc=("Whether two arrays share memory.\n\nShapes: a and b any, output ()."),
        inputs=("a", "b"),
    )
)
