"""get_symbol: the recorded computation of an array as a Symbol.

Symbols lie in a layer above this one; `gluonish.start` registers what makes them.
"""

from collections.abc import Callable
from typing import Any

from gluonish.core.errors import ArgumentTypeError, AutogradError
from gluonish.ndarray.ndarray import Link, NDArray

__all__ = ["get_symbol", "register_symbol_maker"]

_makers: list[Callable[[Link], Any]] = []


def register_symbol_maker(make: Callable[[Link], Any]) -> None:
    """Have `get_symbol` use a function from a place on the tape to a Symbol."""
    _makers[:] = [make]


def get_symbol(x: NDArray) -> Any:
    """Return the recorded computation of an array as a Symbol.

    Arrays with ``attach_grad`` become variables ``var0``, ``var1``, ..., all others ``null2``, ...;
    one counter numbers both, in the order in which the computation reads them. A call of a
    hybridized block appears as its operators, or as one ``_CachedOp`` if they are more than its
    ``inline_limit``.

    Args:
        x: Array computed inside ``autograd.record()``.

    Raises:
        ArgumentTypeError: ``x`` is not an NDArray.
        AutogradError: It was not recorded, or a backward pass has freed the record.
        NotSupportedError: An `autograd.Function`, which no Symbol can hold, took part.
    """
    if not isinstance(x, NDArray):
        raise ArgumentTypeError(f"get_symbol: expected an NDArray, got {type(x).__name__}")
    if x._link is None:
        raise AutogradError(
            f"get_symbol: expected an array that autograd recorded, got one of shape {x.shape} "
            "that it did not; compute it inside autograd.record() from arrays with attach_grad"
        )
    if not _makers:
        raise AutogradError("get_symbol: expected Symbols, got none; import gluonish")
    return _makers[0](x._link)
