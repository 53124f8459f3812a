"""Dtype promotion of the NumPy operators."""

from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, INT64, is_floating, promote
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.core.numpy_mode import is_np_default_dtype
from gluonish.core.spec import Spec


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return a value's dtype in a gradient rule, where it may be a type."""
    dtype: np.dtype[Any] = np.dtype(value.dtype)
    return dtype


def common_dtype(operator: str, a: Spec, b: Spec) -> np.dtype[Any]:
    """Return the common dtype of two arrays: floats win over integers, and both over bool.

    Raises:
        OperatorError: The dtype is supported in files only.
    """
    if a.dtype == b.dtype:
        return a.dtype
    try:
        return promote(a.dtype, b.dtype)
    except ArgumentTypeError:
        raise OperatorError(
            f"{operator}: expected arrays with a common dtype, got {a.dtype.name} and "
            f"{b.dtype.name}; cast one with astype"
        ) from None


def scalar_dtype(data: np.dtype[Any], is_int: bool) -> np.dtype[Any]:
    """Return the common dtype of an array and a number; ``is_int`` preserves an integer dtype."""
    if is_floating(data):
        return data
    if not is_int:
        return FLOAT64
    return INT64 if data == BOOL else data


def true_divide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a quotient: of integers float32, or float64 as NumPy's default."""
    if is_floating(dtype):
        return dtype
    return FLOAT64 if is_np_default_dtype() else FLOAT32


def refuse_bool(operator: str, *specs: Spec) -> None:
    """Reject bool arrays.

    Raises:
        OperatorError: An array has dtype bool.
    """
    for spec in specs:
        if spec.dtype == BOOL:
            raise OperatorError(
                f"{operator}: expected numbers, got bool; cast the array with astype"
            )


def flows(gradient: np.dtype[Any], value: np.dtype[Any]) -> bool:
    """Whether a gradient flows between two dtypes: both floats, or both integers, not bool."""
    if is_floating(gradient) or is_floating(value):
        return is_floating(gradient) and is_floating(value)
    return BOOL not in (gradient, value)
