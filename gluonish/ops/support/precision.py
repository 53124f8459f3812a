"""How reference kernels treat 16-bit floats and integers: compute wide, round once at the end.

Sums of 16-bit floats lose everything behind the first few hundred terms, and NumPy and CuPy
disagree about bfloat16, so kernels widen such arrays to float32. Integers meet functions of real
numbers in float64, and the result is cut toward zero. A number takes the dtype of the array that it
meets.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, exact_up_to, is_floating
from gluonish.core.errors import OperatorError

__all__ = [
    "accumulator",
    "as_real",
    "check_number",
    "check_positions",
    "comparable",
    "in_dtype",
    "is_narrow",
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
