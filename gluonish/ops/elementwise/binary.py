"""Arithmetic and comparison of two arrays, and of an array and a scalar: one table.

Every row defines up to four operators, such as ``elemwise_sub``, ``broadcast_sub``,
``_minus_scalar`` and ``_rminus_scalar``. Both arrays must have the same dtype, as in MXNet, and a
scalar is cast to the array's dtype. Comparisons return 0 and 1 in that dtype; integers are compared
with the integer part of a scalar, even outside their range.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64, is_floating
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.elementwise.unary import FLOOR
from gluonish.ops.registry import apply, find_operator
from gluonish.ops.support.binary_row import (
    Expression,
    Row,
)
from gluonish.ops.support.dtype_rules import cut_from_reals, zero_of_integers
from gluonish.ops.support.precision import as_real


def _ufunc(name: str) -> Expression:
    of_numpy = getattr(np, name)

    def expression(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
        (of_numpy if xp is np else getattr(xp, name))(a, b, out=out)

    return expression


def _compare(name: str) -> Expression:
    def expression(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
        getattr(xp, name)(a, b, out=out, casting="unsafe")

    return expression


def _logical(name: str) -> Expression:
    def expression(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
        out[...] = getattr(xp, name)(a != 0, b != 0)

    return expression


def _divide(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if is_floating(out.dtype):
        xp.divide(a, b, out=out)
        return
    # Integers divide as in C, toward zero; division by zero gives 0.
    a, b = xp.asarray(a, dtype=out.dtype), xp.asarray(b, dtype=out.dtype)
    zero = b == 0
    quotient = xp.floor_divide(a, b + zero.astype(out.dtype))
    inexact = quotient * b != a
    quotient += (inexact & ((a < 0) != (b < 0))).astype(out.dtype)
    out[...] = xp.where(zero, xp.zeros_like(quotient), quotient)


def _modulo(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    a, b = xp.asarray(a, dtype=out.dtype), xp.asarray(b, dtype=out.dtype)
    zero = b == 0
    divisor = b + zero.astype(out.dtype)
    if xp is np or not is_floating(out.dtype):
        remainder = xp.mod(a, divisor)
    else:  # CuPy's mod subtracts a rounded product: NaN where the divisor is infinite
        remainder = xp.fmod(a, divisor)
        other_side = (remainder != 0) & ((remainder < 0) != (divisor < 0))
        remainder = xp.where(other_side, remainder + divisor, remainder)
    out[...] = xp.where(zero, xp.zeros_like(remainder), remainder)


def _power(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if is_floating(out.dtype):
        xp.power(a, b, out=out)
        return
    # NumPy rejects negative integer exponents; MXNet computes in floating point and truncates.
    real = xp.power(xp.asarray(a, dtype=xp.float64), xp.asarray(b, dtype=xp.float64))
    found = real.astype(out.dtype)
    if out.dtype == INT64:  # float64 cannot represent every int64 power
        exponent = xp.asarray(b, dtype=out.dtype)
        exact = xp.power(xp.asarray(a, dtype=out.dtype), xp.maximum(exponent, 0))
        found = xp.where((exponent >= 0) & (abs(real) < 2.0**63), exact, found)
    out[...] = found


def _hypot(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if is_floating(out.dtype):
        xp.hypot(a, b, out)
    else:
        real = xp.hypot(as_real(xp, xp.asarray(a)), as_real(xp, xp.asarray(b)))
        out[...] = real.astype(out.dtype)


def is_zero(x: Any) -> Any:
    """Return 1 where ``x``, a value or a number, is 0, else 0."""
    return EQUAL(x, 0.0) if hasattr(x, "__apply__") else float(x == 0)


def over_root(x: Any, root: Any) -> Any:
    """Return ``x / root``, and 0 where the root is 0: the subgradient of a norm at 0.

    All derivatives are 0 there, too.
    """
    return apply(find_operator("_over_root"), (x, root), {})


def _times_over_root(g: Any, x: Any, root: Any) -> Any:
    """Return ``g x / root``, and 0 where the root is 0; ``x`` may be a number."""
    if not hasattr(x, "__apply__"):
        return over_root(g * x, root)
    return apply(find_operator("_times_over_root"), (g, x, root), {})


def over_square(x: Any, a: Any, b: Any) -> Any:
    """Return ``x / (a a + b b)``, and 0 at the origin, without overflow of the squares.

    ``a`` or ``b`` may be a number.
    """
    value = a if hasattr(a, "__apply__") else b
    a, b = (y if hasattr(y, "__apply__") else zeros_like(value) + y for y in (a, b))
    return apply(find_operator("_over_square"), (x, a, b), {})


def _modulo_by_divisor(g: Any, a: Any, b: Any) -> Any:
    """Return ``-g floor(a / b)``; 0 where both are 0."""
    if hasattr(a, "__apply__"):
        return apply(find_operator("_mod_backward_rhs"), (g, a, b), {})
    return zeros_like(g) if a == 0 else -g * FLOOR(a / b)


def _power_by_base(g: Any, a: Any, b: Any) -> Any:
    """Return ``g b a^(b - 1)``; 0 at a^0, which is 1 for every a."""
    if not hasattr(b, "__apply__"):
        return zeros_like(g) if b == 0 else g * b * POWER(a, b - 1)
    return apply(find_operator("_power_backward_lhs"), (g, a, b, POWER(a, b - 1)), {})


def _power_by_exponent(g: Any, a: Any, b: Any) -> Any:
    """Return ``g a^b log(a)``; 0 at 0^b for b from 0 up."""
    if not hasattr(a, "__apply__"):
        if a == 0:
            return -g * POWER(a, b) * LESSER(b, 0.0)
        return g * POWER(a, b) * (math.log(a) if a > 0 else math.nan)
    return apply(find_operator("_power_backward_rhs"), (g, a, b, POWER(a, b)), {})


def _comparison(symbol: str, ufunc: str, elemwise: str, broadcast: str, scalar: str) -> Row:
    doc = f"lhs {symbol} rhs, as 0 and 1"
    return Row(doc, _compare(ufunc), None, None, elemwise, broadcast, scalar, "", compares=True)


EQUAL = _comparison("==", "equal", "_equal _Equal", "broadcast_equal", "_equal_scalar _EqualScalar")
NOT_EQUAL = _comparison(
    "!=",
    "not_equal",
    "_not_equal _Not_Equal",
    "broadcast_not_equal",
    "_not_equal_scalar _NotEqualScalar",
)
GREATER = _comparison(
    ">", "greater", "_greater _Greater", "broadcast_greater", "_greater_scalar _GreaterScalar"
)
GREATER_EQUAL = _comparison(
    ">=",
    "greater_equal",
    "_greater_equal _Greater_Equal",
    "broadcast_greater_equal",
    "_greater_equal_scalar _GreaterEqualScalar",
)
LESSER = _comparison(
    "<", "less", "_lesser _Lesser", "broadcast_lesser", "_lesser_scalar _LesserScalar"
)
LESSER_EQUAL = _comparison(
    "<=",
    "less_equal",
    "_lesser_equal _Lesser_Equal",
    "broadcast_lesser_equal",
    "_lesser_equal_scalar _LesserEqualScalar",
)
GREATER.rscalar, LESSER.rscalar = LESSER.scalar, GREATER.scalar
GREATER_EQUAL.rscalar, LESSER_EQUAL.rscalar = LESSER_EQUAL.scalar, GREATER_EQUAL.scalar


def _logic(name: str, elemwise: str, broadcast: str, scalar: str) -> Row:
    kernel = _logical(f"logical_{name}")
    return Row(f"lhs {name} rhs, as 0 and 1", kernel, None, None, elemwise, broadcast, scalar, "")


LOGICAL_AND = _logic(
    "and",
    "_logical_and _Logical_And",
    "broadcast_logical_and",
    "_logical_and_scalar _LogicalAndScalar",
)
LOGICAL_OR = _logic(
    "or",
    "_logical_or _Logical_Or",
    "broadcast_logical_or",
    "_logical_or_scalar _LogicalOrScalar",
)
LOGICAL_XOR = _logic(
    "xor",
    "_logical_xor _Logical_Xor",
    "broadcast_logical_xor",
    "_logical_xor_scalar _LogicalXorScalar",
)

ADD = Row(
    "lhs + rhs",
    _ufunc("add"),
    lambda g, a, b: g,
    lambda g, a, b: g,
    "elemwise_add _Plus _add _plus _sparse_elemwise_add",
    "broadcast_add broadcast_plus _sparse_broadcast_add _sparse_broadcast_plus",
    "_plus_scalar _PlusScalar",
    "",
)
SUBTRACT = Row(
    "lhs - rhs",
    _ufunc("subtract"),
    lambda g, a, b: g,
    lambda g, a, b: -g,
    "elemwise_sub _Minus _minus _sub _sparse_elemwise_sub",
    "broadcast_sub broadcast_minus _sparse_broadcast_sub _sparse_broadcast_minus",
    "_minus_scalar _MinusScalar",
    "_rminus_scalar _RMinusScalar",
)
MULTIPLY = Row(
    "lhs * rhs",
    _ufunc("multiply"),
    lambda g, a, b: g * b,
    lambda g, a, b: g * a,
    "elemwise_mul _Mul _mul _sparse_elemwise_mul",
    "broadcast_mul _sparse_broadcast_mul",
    "_mul_scalar _MulScalar",
    "",
)
DIVIDE = Row(
    "lhs / rhs, toward zero for integers",
    _divide,
    lambda g, a, b: g / b,
    lambda g, a, b: -(g / b) * (a / b),  # b * b may overflow
    "elemwise_div _Div _div _sparse_elemwise_div",
    "broadcast_div _sparse_broadcast_div",
    "_div_scalar _DivScalar",
    "_rdiv_scalar _RDivScalar",
)
MODULO = Row(
    "lhs modulo rhs, with the sign of the divisor and 0 for a divisor of 0",
    _modulo,
    zero_of_integers(lambda g, a, b: g),
    zero_of_integers(_modulo_by_divisor),
    "_mod _Mod",
    "broadcast_mod",
    "_mod_scalar _ModScalar",
    "_rmod_scalar _RModScalar",
)
POWER: Row = Row(
    "lhs to the power of rhs",
    _power,
    cut_from_reals(_power_by_base),
    cut_from_reals(_power_by_exponent),
    "_power _Power",
    "broadcast_power",
    "_power_scalar _PowerScalar",
    "_rpower_scalar _RPowerScalar",
)
# Where both are equal the left operand receives the full gradient.
MAXIMUM = Row(
    "maximum of lhs and rhs",
    _ufunc("maximum"),
    lambda g, a, b: g * GREATER_EQUAL(a, b),
    lambda g, a, b: g * LESSER(a, b),
    "_maximum _Maximum",
    "broadcast_maximum _npi_maximum",
    "_maximum_scalar _MaximumScalar",
    "",
)
MINIMUM = Row(
    "minimum of lhs and rhs",
    _ufunc("minimum"),
    lambda g, a, b: g * LESSER_EQUAL(a, b),
    lambda g, a, b: g * GREATER(a, b),
    "_minimum _Minimum",
    "broadcast_minimum _npi_minimum",
    "_minimum_scalar _MinimumScalar",
    "",
)
HYPOT: Row = Row(
    "square root of the sum of the squares of lhs and rhs",
    _hypot,
    zero_of_integers(lambda g, a, b: _times_over_root(g, a, HYPOT(a, b))),
    zero_of_integers(lambda g, a, b: _times_over_root(g, b, HYPOT(a, b))),
    "_hypot _Hypot",
    "broadcast_hypot",
    "_hypot_scalar _HypotScalar",
    "",
)
