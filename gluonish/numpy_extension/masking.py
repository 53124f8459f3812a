"""masked_softmax and masked_log_softmax: softmax over the elements that a mask selects."""

import math
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentTypeError
from gluonish.numpy.calls import as_value, call
from gluonish.numpy.elements import where

__all__ = ["masked_log_softmax", "masked_softmax"]


def masked_softmax(
    data: Any,
    mask: Any,
    axis: int = -1,
    temperature: float | None = 1.0,
    normalize: bool | None = True,
) -> Any:
    """Return the softmax over the selected elements of an axis, and 0 elsewhere.

    Args:
        data: Array of a floating type.
        mask: Array of bool that broadcasts with ``data``: True for the elements that take part.
        axis: The axis.
        temperature: Divisor of the data; None for 1.
        normalize: Accepted; the result is the same.

    Raises:
        ArgumentTypeError: ``mask`` is not of bool, or ``data`` not of a floating type.

    Example:
        >>> import gluonish as mx
        >>> x, mask = mx.np.ones((1, 3)), mx.np.array([[1, 1, 0]], dtype="bool")
        >>> mx.npx.masked_softmax(x, mask).tolist()
        [[0.5, 0.5, 0.0]]
    """
    mask, selected = _masked("masked_softmax", data, mask, temperature)
    found = call("_npx_softmax", (selected,), {"axis": axis}, what="masked_softmax")
    return where(mask, found, 0)


def masked_log_softmax(
    data: Any,
    mask: Any,
    axis: int = -1,
    temperature: float | None = 1.0,
    normalize: bool | None = True,
) -> Any:
    """Return the logarithm of `masked_softmax`, -inf where the mask is False.

    Args:
        data: Array of a floating type.
        mask: Array of bool that broadcasts with ``data``: True for the elements that take part.
        axis: The axis.
        temperature: Divisor of the data; None for 1.
        normalize: Accepted; the result is the same.

    Raises:
        ArgumentTypeError: ``mask`` is not of bool, or ``data`` not of a floating type.
    """
    mask, selected = _masked("masked_log_softmax", data, mask, temperature)
    found = call("_npx_log_softmax", (selected,), {"axis": axis}, what="masked_log_softmax")
    return where(mask, found, -math.inf)


def _masked(what: str, data: Any, mask: Any, temperature: float | None) -> tuple[Any, Any]:
    """Return the mask, and the divided data with the lowest number where the mask is False."""
    data, mask = as_value(data, what), as_value(mask, what)
    if mask.dtype != np.bool_:
        raise ArgumentTypeError(f"{what}: expected a mask of bool, got {mask.dtype}")
    dtype = np.dtype(data.dtype)
    if not is_floating(dtype):
        raise ArgumentTypeError(f"{what}: expected data of a floating type, got {data.dtype}")
    if temperature not in (None, 1):
        data = data / temperature
    # With -inf, rows of which the mask selects nothing would be NaN.
    lowest = float(ml_dtypes.finfo(dtype).min)  # type: ignore[no-untyped-call]  # it has no types
    return mask, where(mask, data, lowest)
