"""How reference kernels treat 16-bit floats and integers: compute wide, round once at the end.

Sums of 16-bit floats lose everything behind the first few hundred terms, and NumPy and CuPy
disagree about bfloat16, so kernels widen such arrays to float32. Integers meet functions of real
numbers in float64, and the result is cut toward zero. A number takes the dtype of the array that it
meets.
"""

import math
import sys
import warnings
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, exact_up_to, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follows_mxnet

__all__ = [
    "accumulator",
    "as_real",
    "check_number",
    "check_positions",
    "check_steps",
    "comparable",
    "in_dtype",
    "is_narrow",
    "warn_of_rounded_steps",
    "widen",
]

_ALL_BITS = 2**64 - 1  # what of a whole number is kept before it is cut to its dtype


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether this is float16 or bfloat16."""
    return dtype in (FLOAT16, BFLOAT16)


def check_number(operator: str, dtype: np.dtype[Any], number: float) -> None:
    """Check that a number can be had in a dtype.

    Raises:
        OperatorError: It is infinite or NaN, and the dtype is one of integers.
    """
    if dtype.kind in "iu" and not math.isfinite(number):
        raise OperatorError(
            f"{operator}: expected a finite number for {dtype.name} data, got {number}; "
            "cast the data with astype"
        )


def check_positions(operator: str, count: int, dtype: np.dtype[Any], advice: str) -> None:
    """Check that a dtype holds the position of every element of a row.

    Raises:
        OperatorError: It is too narrow for the last ones, which would wrap around or be rounded.
    """
    limit = exact_up_to(dtype)
    if count > limit + 1:
        raise OperatorError(
            f"{operator}: expected a dtype that holds the positions of {count} elements, got "
            f"{dtype.name}, which is exact up to {limit}; {advice}"
        )


def _holds_steps(dtype: np.dtype[Any], first: float, step: float, count: int) -> bool:
    """Whether a dtype holds the values of a progression: whole ones all, of others no two alike."""
    last = first + step * max(0, count - 1)
    farthest, limit = max(abs(first), abs(last)), exact_up_to(dtype)
    if count < 2 or not math.isfinite(farthest):
        return True
    if not is_floating(dtype):
        return farthest <= limit and (dtype.kind != "u" or min(first, last) >= 0)
    if float(first).is_integer() and float(step).is_integer():
        shared = math.gcd(int(first), int(step))
        return farthest <= limit * (shared & -shared)  # a power of two costs no digit
    return abs(step) * limit >= 2.0 ** (math.floor(math.log2(farthest)) + 1)


def check_steps(operator: str, dtype: np.dtype[Any], first: float, step: float, count: int) -> None:
    """Check that a dtype holds so many values from ``first`` in steps of ``step``.

    Raises:
        OperatorError: It would repeat or round some of them.
    """
    if not _holds_steps(dtype, first, step, count):
        about = _about_steps(dtype, first, step, count)
        raise OperatorError(f"{operator}: {about}; cast the data with astype, to int64 for one")


def warn_of_rounded_steps(
    operator: str, dtype: np.dtype[Any], first: float, step: float, count: int
) -> None:
    """Warn where `check_steps` refuses, but under MXNet's name."""
    if not _holds_steps(dtype, first, step, count) and not follows_mxnet():
        about = _about_steps(dtype, first, step, count)
        message = f"{operator}: {about}; name a dtype that holds them, such as int64"
        warnings.warn(message, RuntimeWarning, stacklevel=_level_of_program())


def _level_of_program() -> int:
    """Return the stack level, for a warning of the caller, of the program's line that led to it.

    Those of gluonish's own lines are ignored: see `gluonish.ops.registry`.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gluonish."):
        frame, level = frame.f_back, level + 1
    return level


def _about_steps(dtype: np.dtype[Any], first: float, step: float, count: int) -> str:
    last = first + step * (count - 1)
    return (
        f"expected a dtype that holds {count} values from {first:.10g} to {last:.10g} in steps of "
        f"{step:.10g}, got {dtype.name}, which is exact up to {exact_up_to(dtype)} and rounds or "
        "repeats some"
    )


def in_dtype(dtype: np.dtype[Any], number: float) -> Any:
    """Return a number in an array's dtype; integers are cut toward zero and wrap around.

    Raises:
        OperatorError: An integer dtype meets infinity or NaN.
    """
    if is_floating(dtype):
        return dtype.type(number)
    if not math.isfinite(number):
        if dtype.kind == "b":
            return np.True_
        raise OperatorError(
            f"number: expected a finite one for {dtype.name} data, got {number}; "
            "cast the data with astype('float32')"
        )
    return np.uint64(int(number) & _ALL_BITS).astype(dtype)


def comparable(xp: ModuleType, data: Any, number: float) -> tuple[Any, Any]:
    """Return integers and a number to compare, so that the result is that of their values.

    They meet a whole number in their dtype, a fraction in float64, where both stay on their sides
    of each other, and a number beyond the dtype's range as infinity.
    """
    limits = np.iinfo(data.dtype)
    if limits.min <= number <= limits.max:
        if number == int(number):
            return data, data.dtype.type(int(number))
    elif not math.isnan(number):
        number = math.inf if number > 0 else -math.inf
    return data.astype(xp.float64), number


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which sums of ``dtype`` are formed."""
    return FLOAT32 if is_narrow(dtype) else dtype


def widen(x: Any) -> Any:
    """Return a 16-bit float array in float32, and any other array itself."""
    return x.astype(FLOAT32) if is_narrow(x.dtype) else x


def as_real(xp: ModuleType, x: Any) -> Any:
    """Return an array as float32 or float64: integers become float64, 16-bit floats float32."""
    return widen(x) if is_floating(x.dtype) else x.astype(xp.float64)
