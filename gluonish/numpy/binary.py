"""Broadcasting functions of two arrays or numbers, defined by a table of operators."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.core.schema import as_number
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import (
    NUMBERS,
    as_value,
    call,
    name_function,
    official,
    parse_signature,
    promoted,
    run,
)
from gluonish.numpy.unary import check_options
from gluonish.ops.registry import find_operator

__all__ = [
    "ADD",
    "ARCTAN2",
    "ATAN2",
    "BITWISE_AND",
    "BITWISE_OR",
    "BITWISE_XOR",
    "COPYSIGN",
    "DIVIDE",
    "EQUAL",
    "FLOOR_DIVIDE",
    "FMAX",
    "FMIN",
    "FMOD",
    "GCD",
    "GREATER",
    "GREATER_EQUAL",
    "HYPOT",
    "LCM",
    "LDEXP",
    "LEFT_SHIFT",
    "LESS",
    "LESS_EQUAL",
    "LOGADDEXP",
    "LOGICAL_AND",
    "LOGICAL_OR",
    "LOGICAL_XOR",
    "MAXIMUM",
    "MINIMUM",
    "MOD",
    "MULTIPLY",
    "NOT_EQUAL",
    "POW",
    "POWER",
    "REMAINDER",
    "RIGHT_SHIFT",
    "SUBTRACT",
    "TRUE_DIVIDE",
    "Row",
    "add",
    "arctan2",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "combine",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "greater",
    "greater_equal",
    "hypot",
    "lcm",
    "ldexp",
    "less",
    "less_equal",
    "logaddexp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "not_equal",
    "pow",
    "power",
    "remainder",
    "subtract",
    "true_divide",
]

_WITH_OPTIONS = parse_signature("x1, x2, out=None, **kwargs")
_BARE = parse_signature("x1, x2, out=None")


class Row(NamedTuple):
    """The operators that implement one broadcasting function.

    Attributes:
        name: Name of the function.
        pair: Operator of two arrays.
        scalar: Operator of an array and a number.
        reverse: Operator of a number and an array.
        doc: First line of the docstring.
        options: Whether it accepts the options of NumPy's ufuncs.
        one_dtype: Whether the operator of two arrays requires one dtype, and so needs a cast.
    """

    name: str
    pair: str
    scalar: str
    reverse: str
    doc: str
    options: bool = True
    one_dtype: bool = False


def _row(name: str, doc: str, operator: str | None = None, *, commutes: bool = False) -> Row:
    stem = f"_npi_{operator or name}"
    reverse = f"{stem}_scalar" if commutes else f"_npi_r{operator or name}_scalar"
    return Row(name, stem, f"{stem}_scalar", reverse, doc)


def _comparison_row(name: str, mirrored: str, doc: str) -> Row:
    pair = f"_npi_{name}"
    return Row(name, pair, f"{pair}_scalar", f"_npi_{mirrored}_scalar", doc, options=False)


ADD = _row("add", "x1 + x2.", commutes=True)
SUBTRACT = _row("subtract", "x1 - x2.")
MULTIPLY = _row("multiply", "x1 * x2.", commutes=True)
DIVIDE = _row("divide", "x1 / x2; float32 for integers.", "true_divide")
TRUE_DIVIDE = _row("true_divide", "x1 / x2; float32 for integers.")._replace(options=False)
MOD = _row("mod", "Remainder of x1 / x2, with the sign of x2.")
REMAINDER = _row("remainder", "Remainder of x1 / x2, with the sign of x2.", "mod")
POWER = _row("power", "x1 to the power of x2.")
MAXIMUM = _row("maximum", "The larger one.", commutes=True)._replace(one_dtype=True)
MINIMUM = _row("minimum", "The smaller one.", commutes=True)._replace(one_dtype=True)
HYPOT = _row("hypot", "sqrt(x1 ** 2 + x2 ** 2).", commutes=True)
ARCTAN2 = _row("arctan2", "Angle of the point (x2, x1), in radians.")
COPYSIGN = _row("copysign", "x1 with the sign of x2.")
LDEXP = _row("ldexp", "x1 * 2 ** x2.")
LCM = _row("lcm", "Least common multiple of integers.", commutes=True)
BITWISE_AND = _row("bitwise_and", "Bitwise and.", commutes=True)
BITWISE_OR = _row("bitwise_or", "Bitwise or.", commutes=True)
BITWISE_XOR = _row("bitwise_xor", "Bitwise exclusive or.", commutes=True)
FLOOR_DIVIDE = _row(
    "floor_divide", "The largest integer that is not greater than x1 / x2."
)._replace(options=False)
FMOD = _row("fmod", "Remainder of x1 / x2, with the sign of x1.")
FMAX = _row("fmax", "The larger one; the other one where one is NaN.", commutes=True)
FMIN = _row("fmin", "The smaller one; the other one where one is NaN.", commutes=True)
GCD = _row("gcd", "Greatest common divisor of integers.", commutes=True)
LOGADDEXP = _row("logaddexp", "log(exp(x1) + exp(x2)).", commutes=True)
LOGICAL_AND = _row("logical_and", "Whether both are nonzero.", commutes=True)._replace(
    options=False
)
LOGICAL_OR = _row("logical_or", "Whether one is nonzero.", commutes=True)._replace(options=False)
LOGICAL_XOR = _row("logical_xor", "Whether exactly one is nonzero.", commutes=True)._replace(
    options=False
)
LEFT_SHIFT = _row("bitwise_left_shift", "x1 * 2 ** x2 of integers.")._replace(options=False)
RIGHT_SHIFT = _row("bitwise_right_shift", "x1 // 2 ** x2 of integers.")._replace(options=False)
POW = POWER._replace(name="pow", doc="x1 to the power of x2: `power`.")
ATAN2 = ARCTAN2._replace(name="atan2", doc="Angle of the point (x2, x1), in radians: `arctan2`.")
EQUAL = _comparison_row("equal", "equal", "Whether x1 == x2.")
NOT_EQUAL = _comparison_row("not_equal", "not_equal", "Whether x1 != x2.")
GREATER = _comparison_row("greater", "less", "Whether x1 > x2.")
GREATER_EQUAL = _comparison_row("greater_equal", "less_equal", "Whether x1 >= x2.")
LESS = _comparison_row("less", "greater", "Whether x1 < x2.")
LESS_EQUAL = _comparison_row("less_equal", "greater_equal", "Whether x1 <= x2.")


def combine(row: Row, x1: Any, x2: Any, out: Any = None) -> Any:
    """Apply a row's function to arrays and numbers.

    Raises:
        ArgumentTypeError: An argument is neither an array nor a number.
    """
    if isinstance(x2, NUMBERS):
        if isinstance(x1, NUMBERS):
            return official(row.name, x1, x2)
        return _with_number(row.scalar, row.name, x1, x2, out)
    if isinstance(x1, NUMBERS):
        return _with_number(row.reverse, row.name, x2, x1, out)
    if row.one_dtype:
        x1, x2 = promoted(row.name, (x1, x2))
    if type(x1) is ndarray and type(x2) is ndarray:
        return run(find_operator(row.pair), (x1, x2), {}, out)
    return call(row.pair, (x1, x2), out=out, what=row.name)


def _with_number(name: str, what: str, x: Any, number: Any, out: Any) -> Any:
    value = x if type(x) is ndarray else as_value(x, what)
    try:
        scalar = as_number(number)
    except TypeError:
        raise ArgumentTypeError(f"{what}: expected a real number, got {number!r}") from None
    except OverflowError:
        bits = int(number).bit_length()
        raise ArgumentError(
            f"{what}: expected a number in the range of a float, got one of {bits} bits"
        ) from None
    # In MXNet 1.9 a float does not change the dtype of an array of integers.
    is_int = isinstance(number, int | np.integer | np.bool_) or (
        hasattr(value, "dtype") and follows_mxnet1()
    )
    attrs = {"scalar": scalar, "is_int": is_int}
    return run(find_operator(name), (value,), attrs, out)


def _function(row: Row) -> Callable[..., Any]:
    if row.options:

        def function(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
            if kwargs:
                check_options(row.name, kwargs)
            return combine(row, x1, x2, out)

        made: Callable[..., Any] = function
    else:

        def bare(x1: Any, x2: Any, out: Any = None) -> Any:
            return combine(row, x1, x2, out)

        made = bare

    doc = (
        f"{row.doc}\n\nArgs:\n    x1: Array or number.\n"
        "    x2: Array or number; the shapes broadcast.\n"
        "    out: Array to store the result in, of its shape and dtype.\n"
        + "    **kwargs: NumPy's options, with their defaults only.\n" * row.options
        + "\nReturns:\n    Array of the broadcast shape; for two numbers, NumPy's result."
    )
    return name_function(made, row.name, doc, _WITH_OPTIONS if row.options else _BARE)


add = _function(ADD)
subtract = _function(SUBTRACT)
multiply = _function(MULTIPLY)
divide = _function(DIVIDE)
true_divide = _function(TRUE_DIVIDE)
mod = _function(MOD)
remainder = _function(REMAINDER)
power = _function(POWER)
maximum = _function(MAXIMUM)
minimum = _function(MINIMUM)
hypot = _function(HYPOT)
arctan2 = _function(ARCTAN2)
copysign = _function(COPYSIGN)
ldexp = _function(LDEXP)
lcm = _function(LCM)
bitwise_and = _function(BITWISE_AND)
bitwise_or = _function(BITWISE_OR)
bitwise_xor = _function(BITWISE_XOR)
equal = _function(EQUAL)
not_equal = _function(NOT_EQUAL)
greater = _function(GREATER)
greater_equal = _function(GREATER_EQUAL)
less = _function(LESS)
less_equal = _function(LESS_EQUAL)
floor_divide = _function(FLOOR_DIVIDE)
fmod = _function(FMOD)
fmax = _function(FMAX)
fmin = _function(FMIN)
gcd = _function(GCD)
logaddexp = _function(LOGADDEXP)
logical_and = _function(LOGICAL_AND)
logical_or = _function(LOGICAL_OR)
logical_xor = _function(LOGICAL_XOR)
bitwise_left_shift = _function(LEFT_SHIFT)
bitwise_right_shift = _function(RIGHT_SHIFT)
pow = _function(POW)
atan2 = _function(ATAN2)
