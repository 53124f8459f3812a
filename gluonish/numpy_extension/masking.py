"""masked_softmax and masked_log_softmax: softmax over the elements that a mask selects."""

import math
from typing import Any

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
    mask, kept = _masked("masked_softmax", data, mask)
    attrs = {"axis": axis, "temperature": temperature}
    return where(mask, call("_npx_softmax", (kept,), attrs, what="masked_softmax"), 0)


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
    mask, kept = _masked("masked_log_softmax", data, mask)
    attrs = {"axis": axis, "temperature": temperature}
    found = call("_npx_log_softmax", (kept,), attrs, what="masked_log_softmax")
    return where(mask, found, -math.inf)


def _masked(what: str, data: Any, mask: Any) -> tuple[Any, Any]:
    """Return the mask, and the data with the lowest finite number where the mask is False."""
    data, mask = as_value(data, what), as_value(mask, what)
    if mask.dtype != np.bool_:
        raise ArgumentTypeError(f"{what}: expected a mask of bool, got {mask.dtype}")
    if not is_floating(np.dtype(data.dtype)):
        raise ArgumentTypeError(f"{what}: expected data of a floating type, got {data.dtype}")
    # Not the lowest number: divided by a temperature below 1 it would be infinite.
    lowest = -1e4 if np.dtype(data.dtype).itemsize == 2 else -1e30
    return mask, where(mask, data, lowest)
