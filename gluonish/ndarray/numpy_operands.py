"""NumPy arrays as operands of NDArrays: ``x + values``, ``nd.dot(x, values)``.

The NDArray decides device and dtype, as in ``x[:] = values``; the NumPy array is a constant, which
has no gradient.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.ops.registry import Operator

__all__ = ["as_operand", "converted_inputs"]


def as_operand(x: NDArray, values: np.ndarray[Any, Any], what: str) -> Any:
    """Return a NumPy array as the other operand of an arithmetic operator.

    Args:
        x: The operand that is an NDArray.
        values: The NumPy array.
        what: Name of the operator, for the error.

    Returns:
        An NDArray on the device and in the dtype of ``x``; for a 0-d array its number.

    Raises:
        ArgumentTypeError: The values are floats and ``x`` is not, or they are not numbers.
        ArgumentError: The values are integers that the dtype of ``x`` does not hold.
    """
    dtype = x._spec.dtype
    number = values.dtype.kind in "biufV"
    if number and not values.ndim:
        return values[()]
    if not number or (is_floating(values.dtype) and not is_floating(dtype)):
        raise ArgumentTypeError(
            f"{what}: expected numbers that {dtype.name} of the NDArray holds, got a NumPy array "
            f"of {values.dtype}; cast one with astype"
        )
    if values.dtype != dtype and values.dtype.kind in "iu" and dtype.kind in "iu" and values.size:
        low, high, limits = values.min(), values.max(), np.iinfo(dtype)
        if low < limits.min or high > limits.max:
            raise ArgumentError(
                f"{what}: expected integers that {dtype.name} of the NDArray holds, got a NumPy "
                f"array of values from {low} to {high}; cast the NDArray with astype"
            )
    return from_host(values, x.context, dtype)


def converted_inputs(op: Operator, inputs: Sequence[Any]) -> list[Any] | None:
    """Return an operator's inputs with NumPy arrays copied to the device of the first NDArray.

    Floats take the dtype of the first NDArray if that is floating; others have their own.

    Args:
        op: The operator.
        inputs: Its inputs.

    Returns:
        The inputs; None where there is nothing to convert, or the operator writes to its inputs.
    """
    first = next((x for x in inputs if isinstance(x, NDArray)), None)
    if first is None or op.mutates or not any(isinstance(x, np.ndarray) for x in inputs):
        return None
    return [_as_input(first, x) if isinstance(x, np.ndarray) else x for x in inputs]


def _as_input(first: NDArray, values: np.ndarray[Any, Any]) -> Any:
    if values.dtype.kind not in "biufV":
        return values
    dtype = first._spec.dtype
    follows = is_floating(values.dtype) and is_floating(dtype)
    return from_host(values, first.context, dtype if follows else values.dtype)
