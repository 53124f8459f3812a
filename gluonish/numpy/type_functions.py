"""Functions of element types, as in the array API standard."""

from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.dtype import is_floating, normalize_dtype, promote
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.numpy.calls import as_value

__all__ = ["astype", "can_cast", "isdtype", "result_type"]

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return an array converted to another dtype.

    Args:
        x: Array.
        dtype: Element type.
        copy: False returns the array itself if it already has this dtype.
        device: Device of the result; that of ``x`` by default.
    """
    value = as_value(x, "astype").astype(dtype, copy=copy)
    return value if device is None else value.to_device(device)


def can_cast(from_: Any, to: Any) -> bool:
    """Return whether a type is converted to another by promotion.

    Args:
        from_: Element type, or an array of it.
        to: Element type.
    """
    source, target = normalize_dtype(from_), normalize_dtype(to)
    if is_floating(source) and not is_floating(target):
        return False
    if is_floating(target) and not is_floating(source):
        return source.kind == "b" or bool(np.can_cast(source, target))
    try:
        return promote(source, target) == target
    except ArgumentTypeError:
        return False


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether an element type is of a kind.

    Args:
        dtype: Element type.
        kind: ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
            ``"real floating"``, ``"complex floating"`` or ``"numeric"``; an element type, which
            must be the same; or a tuple of these, of which one must hold.

    Raises:
        ArgumentError: The kind is unknown.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    given = np.dtype(dtype)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ArgumentError(f"isdtype: expected a kind among {sorted(_KINDS)}, got {kind!r}")
        return given.kind in _KINDS[kind] or (is_floating(given) and "f" in _KINDS[kind])
    return bool(given == np.dtype(kind))


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the element type of an operation on arrays, element types and numbers, such as a sum.

    Args:
        *arrays_and_dtypes: Arrays, element types and numbers. A number only matters if it is a
            float, and all else are integers: then the result is float64, as that of ``x + 1.5``.

    Raises:
        ArgumentTypeError: There is no common type.
    """
    if all(isinstance(value, bool | int | float) for value in arrays_and_dtypes):
        return np.result_type(*arrays_and_dtypes)
    given = [
        value if isinstance(value, type) else getattr(value, "dtype", value)
        for value in arrays_and_dtypes
    ]
    found = common_dtype(*given)
    if is_floating(found) or not any(isinstance(value, float) for value in given):
        return found
    return np.dtype("float64")


def common_dtype(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the element type of an operation on arrays, element types and numbers.

    Args:
        *arrays_and_dtypes: At least one array or element type; a number never widens them.

    Raises:
        ArgumentError: There are only numbers.
        ArgumentTypeError: There is no common type.
    """
    found: np.dtype[Any] | None = None
    for value in arrays_and_dtypes:
        if not isinstance(value, bool | int | float):
            dtype = normalize_dtype(value)
            found = dtype if found is None else promote(found, dtype)
    if found is None:
        raise ArgumentError("result_type: expected at least one array or dtype, got none")
    return found


document_arguments(globals(), __all__)
