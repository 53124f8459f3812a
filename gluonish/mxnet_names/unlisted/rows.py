"""`mx.io.utils`: helpers for programs with their own iterators over arrays."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.io.ndarray_iter import named_arrays
from gluonish.ndarray import array

__all__ = ["has_instance", "init_data", "rows_of_numbers"]


def init_data(data: Any, allow_empty: bool, default_name: str) -> list[tuple[str, Any]]:
    """Return pairs of a name and an array; see `named_arrays`.

    Args:
        data: An array, a list of arrays, a dict from names to arrays, or None.
        allow_empty: Whether there may be no array.
        default_name: Name of a single array.

    Raises:
        ArgumentError: There is no array, and ``allow_empty`` is False.
        ArgumentTypeError: ``data`` contains an item that is not an array.
    """
    found = named_arrays(data, default_name, "init_data")
    if not found and not allow_empty:
        raise ArgumentError("init_data: expected at least one array, got none")
    return found


def has_instance(data: Sequence[tuple[str, Any]], dtype: type) -> bool:
    """Whether the array of any pair (name, array) is of a class."""
    return any(isinstance(value, dtype) for _, value in data)


def rows_of_numbers(data: Sequence[tuple[str, Any]], idx: Any) -> list[tuple[str, Any]]:
    """Return pairs (name, array) with the selected rows."""
    return [(name, array(value.asnumpy()[idx], dtype=value.dtype)) for name, value in data]
