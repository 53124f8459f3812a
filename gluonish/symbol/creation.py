"""Symbols of constant arrays, and arithmetic functions that take numbers on either side.

AdamW updates of ``sym.contrib``; the scale of the gradient is a number or a Symbol.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError
from gluonish.core.schema import as_number
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.arithmetic import combine
from gluonish.ops.support.adam_functions import AdamFunctions
from gluonish.ops.support.binary_row import Row
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol

__all__ = [
    "arange",
    "eye",
    "full",
    "histogram",
    "hypot",
    "linspace",
    "maximum",
    "minimum",
    "ones",
    "pow",
    "power",
    "split_v2",
    "zeros",
]


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol of zeros, float32 by default."""
    result: Symbol = operator_function("_zeros")(shape=shape, dtype=dtype or "float32", **kwargs)
    return result


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol of ones, float32 by default."""
    result: Symbol = operator_function("_ones")(shape=shape, dtype=dtype or "float32", **kwargs)
    return result


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol filled with ``val``, float32 by default."""
    make = operator_function("_full")
    result: Symbol = make(shape=shape, value=as_number(val), dtype=dtype or "float32", **kwargs)
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
    """Return a Symbol of evenly spaced values in [start, stop), each repeated ``repeat`` times.

    ``infer_range`` is accepted for MXNet's files and has no effect.
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


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return a Symbol (N, M) with ones on diagonal ``k`` and zeros elsewhere; ``M`` 0 means N."""
    make = operator_function("_eye")
    result: Symbol = make(N=N, M=M, k=k, dtype=dtype or "float32", **kwargs)
    return result


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Return a Symbol of ``num`` evenly spaced values from ``start`` to ``stop``.

    With ``endpoint=False`` the values end before ``stop``.
    """
    make = operator_function("_linspace")
    result: Symbol = make(
        start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=dtype or "float32"
    )
    return result


def histogram(
    a: Symbol,
    bins: int | Symbol = 10,
    range: tuple[float, float] | None = None,  # noqa: A002  # MXNet's name
    **kwargs: Any,
) -> Symbol:
    """Return the number of elements in each bin, and the edges of the bins.

    Args:
        a: Symbol with the elements.
        bins: Number of equal bins in ``range``, or a Symbol of their edges.
        range: Lower and upper end of the bins. Required unless ``bins`` is a Symbol, because a
            Symbol has no values to determine the range from.
        **kwargs: ``name`` and ``attr`` of the node.

    Raises:
        ArgumentError: There are neither edges nor a range.
    """
    make = operator_function("_histogram")
    if not isinstance(bins, Symbol) and range is None:
        raise ArgumentError("histogram: expected a range for a Symbol without values, got None")
    options = {"bins": bins} if isinstance(bins, Symbol) else {"bin_cnt": bins, "range": range}
    result: Symbol = make(data=a, **options, **kwargs)
    return result


def split_v2(
    ary: Symbol,
    indices_or_sections: int | Sequence[int],
    axis: int = 0,
    squeeze_axis: bool = False,
) -> Symbol:
    """Split a Symbol along an axis.

    Args:
        ary: Symbol to split.
        indices_or_sections: Number of chunks, whose sizes differ by at most 1; or the indices
            at which to split.
        axis: Axis to split along.
        squeeze_axis: Whether to remove the axis from chunks of size 1.
    """
    sections, indices = 0, [0]
    if isinstance(indices_or_sections, int):
        sections, indices = indices_or_sections, []
    else:
        indices += list(indices_or_sections)
    make = operator_function("_split_v2")
    result: Symbol = make(
        ary, indices=indices, axis=axis, squeeze_axis=squeeze_axis, sections=sections
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
    """Return ``base`` to the power of ``exp``, elementwise; either may be a number."""
    return combine(binary.POWER, base, exp, operator.pow)


pow = power  # noqa: A001  # MXNet's name


document_arguments(globals(), __all__)


def _operator(name: str) -> Any:
    compose = operator_function(name)
    return lambda *inputs, out, **attrs: compose(*inputs, **attrs)  # only arrays can be filled


def _scale(rescale_grad: Symbol | float, weight: Symbol) -> Symbol:
    """Return the gradient's factor as a Symbol."""
    del weight
    return rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)


_FUNCTIONS = AdamFunctions(_operator, _scale)
adamw_update = _FUNCTIONS.adamw_update
mp_adamw_update = _FUNCTIONS.mp_adamw_update
