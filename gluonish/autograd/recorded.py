"""get_symbol: the recorded computation of an array as a Symbol."""

from typing import Any

from gluonish.core.errors import ArgumentTypeError, AutogradError
from gluonish.core.hooks import symbol_of
from gluonish.ndarray.ndarray import NDArray

__all__ = ["get_symbol"]


def get_symbol(x: NDArray) -> Any:
    """Return the recorded computation of an array as a Symbol.

    Arrays with ``attach_grad`` become variables ``var0``, ``var1``, ..., all others ``null2``, ...;
    one counter numbers both, in the order in which the computation reads them. A recorded call of a
    hybridized block appears as its operators.

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
    return symbol_of(x._link)
