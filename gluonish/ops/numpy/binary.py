"""Arithmetic of two arrays, and of an array and a number: one table.

The first rows share expression and gradient formula with the rows of `ops.elementwise.binary`.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise import binary as classic
from gluonish.ops.elementwise.constant_like import ones_like
from gluonish.ops.elementwise.unary import SIGMOID, SIGN, TRUNC
from gluonish.ops.numpy.binary_row import Expression, Partial, pair_operator, scalar_operator
from gluonish.ops.numpy.promotion import true_divide_dtype
from gluonish.ops.registry import apply
from gluonish.ops.support.binary_row import Row
from gluonish.ops.support.dtype_rules import cut_from_reals
from gluonish.ops.support.precision import as_real


def _numbers(operator: str, lhs: Spec, dtype: np.dtype[Any]) -> None:
    if dtype == BOOL:
        raise OperatorError(f"{operator}: expected numbers, got bool; cast one with astype")


def _reals(operator: str, lhs: Spec, dtype: np.dtype[Any]) -> None:
    if not is_floating(dtype):
        raise OperatorError(
            f"{operator}: expected floats, got {dtype.name}; cast the arrays with astype"
        )


def _row(
    name: str,
    word: str,
    expression: Expression,
    left: Partial | None,
    right: Partial | None,
    *scalars: str,
    **options: Any,
) -> None:
    """Register the operators on two arrays, array and number, and number and array.

    Args:
        name: Registry name of the operator on two arrays.
        word: Formula for docstrings: ``"lhs + rhs"``.
        left: Gradient of the left operand, from (g, a, b).
        right: Gradient of the right operand.
        *scalars: Registry names of the scalar operators.
        **options: For `pair_operator`.
    """
    pair_operator(name, word, expression, left, right, **options)
    for reverse, scalar in enumerate(scalars):
        partial = right if reverse else left
        scalar_operator(scalar, word, expression, partial, reverse=bool(reverse))


def _classic(name: str, row: Row, *scalars: str, **options: Any) -> None:
    """Register a row of the classic table under NumPy's names."""
    right = row.right or row.left
    _row(name, row.word, row.expression, row.left, right, *scalars, **options)


_classic("_npi_add", classic.ADD, "_npi_add_scalar")
_classic(
    "_npi_subtract",
    classic.SUBTRACT,
    "_npi_subtract_scalar",
    "_npi_rsubtract_scalar",
    check=_numbers,
)
_classic("_npi_multiply", classic.MULTIPLY, "_npi_multiply_scalar")
_classic("_npi_mod", classic.MODULO, "_npi_mod_scalar", "_npi_rmod_scalar", check=_numbers)
_classic("_npi_power", classic.POWER, "_npi_power_scalar", "_npi_rpower_scalar")
_classic("_npi_hypot", classic.HYPOT, "_npi_hypot_scalar", inputs=("x1", "x2"), check=_reals)
for _name, _base in (
    ("_npi_maximum_scalar", classic.MAXIMUM),
    ("_npi_minimum_scalar", classic.MINIMUM),
):
    # On two arrays these are the classic operators.
    scalar_operator(_name, _base.word, _base.expression, _base.left, reverse=False)

_DIVIDE = classic.DIVIDE
pair_operator(
    "_npi_true_divide",
    "lhs / rhs, as float32 for integers",
    _DIVIDE.expression,
    _DIVIDE.left,
    _DIVIDE.right,
    result=true_divide_dtype,
)
for _name, _partial, _reverse in (
    ("_npi_true_divide_scalar", _DIVIDE.left, False),
    ("_npi_rtrue_divide_scalar", _DIVIDE.right, True),
):
    scalar_operator(
        _name,
        "lhs / rhs",
        _DIVIDE.expression,
        _partial,
        reverse=_reverse,
        result=lambda dtype, _is_int: true_divide_dtype(dtype),
    )


def _arctan2(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if is_floating(out.dtype):
        xp.arctan2(a, b, out)
    else:
        real = xp.arctan2(as_real(xp, xp.asarray(a)), as_real(xp, xp.asarray(b)))
        out[...] = real.astype(out.dtype)


_row(
    "_npi_arctan2",
    "angle, in radians, of the point (x, y) with y = lhs and x = rhs",
    _arctan2,
    cut_from_reals(lambda g, a, b: classic.over_square(g * b, a, b)),
    cut_from_reals(lambda g, a, b: classic.over_square(-g * a, a, b)),
    "_npi_arctan2_scalar",
    "_npi_rarctan2_scalar",
    inputs=("x1", "x2"),
    check=_reals,
)


def _copysign(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if is_floating(out.dtype):
        xp.copysign(a, b, out)
    else:
        real = xp.copysign(as_real(xp, xp.asarray(a)), as_real(xp, xp.asarray(b)))
        out[...] = real.astype(out.dtype)


def _sign_of(x: Any) -> Any:
    """Return 1 or -1 with the sign of a value or a number."""
    if not hasattr(x, "__apply__"):
        return math.copysign(1.0, x)
    return apply(_COPYSIGN, (ones_like(x), x), {})


_COPYSIGN = pair_operator(
    "_npi_copysign",
    "absolute value of lhs with the sign of rhs",
    _copysign,
    lambda g, a, b: g * SIGN(a) * _sign_of(b),
    None,
    check=_numbers,
)
scalar_operator(
    "_npi_copysign_scalar",
    "absolute value of lhs with the sign of rhs",
    _copysign,
    lambda g, a, b: g * SIGN(a) * _sign_of(b),
    reverse=False,
)
scalar_operator(
    "_npi_rcopysign_scalar",
    "absolute value of lhs with the sign of rhs",
    _copysign,
    None,
    reverse=True,
)


def _ldexp(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    a, b = as_real(xp, xp.asarray(a)), as_real(xp, xp.asarray(b))
    out[...] = (a * xp.exp2(b)).astype(out.dtype)


def _two_to(b: Any) -> Any:
    """Return 2 to the power of a value or number; infinity on overflow."""
    return classic.POWER(2.0, b) if hasattr(b, "__apply__") else float(np.exp2(b))


_row(
    "_npi_ldexp",
    "lhs times 2 to the power of rhs",
    _ldexp,
    cut_from_reals(lambda g, a, b: g * _two_to(b)),
    cut_from_reals(lambda g, a, b: g * a * _two_to(b) * math.log(2)),
    "_npi_ldexp_scalar",
    "_npi_rldexp_scalar",
    check=_numbers,
)


def _ufunc(name: str) -> Expression:
    def expression(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
        getattr(xp, name)(a, b, out=out)

    return expression


_row(
    "_npi_floor_divide",
    "the largest integer that is not greater than lhs / rhs",
    _ufunc("floor_divide"),
    None,
    None,
    "_npi_floor_divide_scalar",
    "_npi_rfloor_divide_scalar",
    check=_numbers,
)
_row(
    "_npi_fmod",
    "remainder of lhs / rhs, with the sign of lhs",
    _ufunc("fmod"),
    cut_from_reals(lambda g, a, b: g),
    cut_from_reals(lambda g, a, b: -g * TRUNC(a / b)),
    "_npi_fmod_scalar",
    "_npi_rfmod_scalar",
    check=_numbers,
)


def _is_nan(x: Any) -> Any:
    """Return 1 where ``x``, a value or a number, is NaN, else 0."""
    return classic.NOT_EQUAL(x, x) if hasattr(x, "__apply__") else float(x != x)


def _register_extreme(name: str, scalar: str, ufunc: str, hit: Row, miss: Row) -> None:
    """Register ``fmax`` or ``fmin``; of equal operands the left one receives the gradient."""
    _row(
        name,
        f"{ufunc[1:]}imum of lhs and rhs; the other one where one is NaN",
        _ufunc(ufunc),
        lambda g, a, b: g * (hit(a, b) + _is_nan(b)),
        lambda g, a, b: g * (miss(a, b) + _is_nan(a) * (1 - _is_nan(b))),
        scalar,
    )


_register_extreme("_npi_fmax", "_npi_fmax_scalar", "fmax", classic.GREATER_EQUAL, classic.LESSER)
_register_extreme("_npi_fmin", "_npi_fmin_scalar", "fmin", classic.LESSER_EQUAL, classic.GREATER)


def _logaddexp(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    if is_floating(out.dtype):
        xp.logaddexp(a, b, out=out)
    else:
        real = xp.logaddexp(as_real(xp, xp.asarray(a)), as_real(xp, xp.asarray(b)))
        out[...] = real.astype(out.dtype)


_row(
    "_npi_logaddexp",
    "logarithm of exp(lhs) + exp(rhs)",
    _logaddexp,
    lambda g, a, b: g * SIGMOID(a - b),
    lambda g, a, b: g * SIGMOID(b - a),
    "_npi_logaddexp_scalar",
    check=_reals,
)
