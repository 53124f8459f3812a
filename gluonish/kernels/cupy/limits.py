"""Bounds of numbers that are rounded afterwards, for kernels that compare before they round."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish.ops.support.precision import accumulator

_INFINITY = 0x7F800000  # the bits of infinity


@lru_cache(maxsize=256)
def limits_before_rounding(bounds: tuple[float, ...], dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the bounds for numbers that are not rounded to ``dtype``, in the accumulator's dtype.

    A number passes them if and only if it passes ``bounds`` after it is rounded: it is above the
    first, or, of two bounds, neither below the first nor above the second.

    Args:
        bounds: No bounds, a lower one, or both; finite.
        dtype: Dtype that numbers are rounded to.
    """
    number = accumulator(dtype).type
    if not bounds:
        return number(0), number(0)
    low, high = number(bounds[0]), number(bounds[-1])
    if dtype == number:
        return low, high
    highest = _largest(lambda x: x.astype(dtype) <= high)
    if len(bounds) == 1:  # greater than
        return highest, highest
    return -_largest(lambda x: (-x).astype(dtype) >= low), highest


def _largest(passes: Callable[[Any], Any]) -> Any:
    """Return the largest float32 that passes; all smaller numbers do."""
    least, most = -_INFINITY, _INFINITY + 1  # bits, negative for negative numbers
    with np.errstate(over="ignore"):
        while most - least > 1:
            middle = (least + most) // 2
            if passes(_float32(middle)):
                least = middle
            else:
                most = middle
    return _float32(least)


def _float32(bits: int) -> Any:
    found = np.uint32(abs(bits)).view(np.float32)
    return -found if bits < 0 else found
