"""`mx.io.utils`: what programs with their own iterators over arrays take from there."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.io.array_rows import named_arrays
from gluonish.ndarray import array

__all__ = ["has_instance", "init_data", "rows_of_numbers"]


def init_data(data: Any, allow_empty: bool, default_name: str) -> list[tuple[str, Any]]:
    """Return arrays with their names; see `named_arrays`.

    Args:
        data: An array, a list of them, or a dict from names to them; None for none.
        allow_empty: Whether there may be none.
        default_name: Name of a single array.

    Raises:
        ArgumentError: There are none where some have to be.
        ArgumentTypeError: There is something else.
    """
    found = named_arrays(data, default_name, "init_data")
    if not found and not allow_empty:
        raise ArgumentError("init_data: expected an array at least, got none")
    return found


def has_instance(data: Sequence[tuple[str, Any]], dtype: type) -> bool:
    """Return whether one of the arrays with names is of a class."""
    return any(isinstance(value, dtype) for _, value in data)


def rows_of_numbers(data: Sequence[tuple[str, Any]], idx: Any) -> list[tuple[str, Any]]:
    """Return rows of arrays with names, by their numbers, in their order."""
    return [(name, array(value.asnumpy()[idx], dtype=value.dtype)) for name, value in data]
