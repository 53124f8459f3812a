"""Symbols of constant arrays, and arithmetic functions that take numbers on either side."""

import math
import operator
from collections.abc import Callable
from typing import Any

from gluonish.ops import binary
from gluonish.ops.arithmetic import combine
from gluonish.ops.binary import Row
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol

__all__ = ["arange", "full", "hypot", "maximum", "minimum", "ones", "pow", "power", "zeros"]


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol of zeros, float32 unless told otherwise."""
    result: Symbol = operator_function("_zeros")(shape=shape, dtype=dtype or "float32", **kwargs)
    return result


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol of ones, float32 unless told otherwise."""
    result: Symbol = operator_function("_ones")(shape=shape, dtype=dtype or "float32", **kwargs)
    return result


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol with ``val`` everywhere."""
    make = operator_function("_full")
    result: Symbol = make(shape=shape, value=float(val), dtype=dtype or "float32", **kwargs)
    return result


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Return a Symbol of evenly spaced values in [start, stop), each repeated.

    ``infer_range`` is kept for files; it changes nothing.
    """
    result: Symbol = operator_function("_arange")(
        start=start,
        stop=stop,
        step=step,
        repeat=repeat,
        infer_range=infer_range,
        name=name,
        dtype=dtype or "float32",
    )
    return result


def _function(
    row: Row, name: str, on_numbers: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    def function(left: Any, right: Any) -> Any:
        return combine(row, left, right, on_numbers)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{row.broadcast.doc} Either side may be a number."
    return function


maximum = _function(binary.MAXIMUM, "maximum", max)
minimum = _function(binary.MINIMUM, "minimum", min)
hypot = _function(binary.HYPOT, "hypot", math.hypot)


def power(base: Any, exp: Any) -> Any:
    """Return ``base`` to the power of ``exp``, element by element; either may be a number."""
    return combine(binary.POWER, base, exp, operator.pow)


pow = power  # noqa: A001  # MXNet's name
