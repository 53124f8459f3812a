"""Nested values with arrays, as values that JSON can hold and a dict of arrays for an npz file."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.errors import ArgumentTypeError, FileFormatError

Arrays = dict[str, np.ndarray[Any, Any]]

_PLAIN = (bool, int, float, str, type(None))


def packed(value: Any, arrays: Arrays, name: str) -> Any:
    """Return a value for JSON, in which texts stand for arrays.

    Args:
        value: Lists, tuples and dicts of numbers, texts, None and NumPy arrays.
        arrays: Receives the arrays.
        name: Beginning of their names.

    Raises:
        ArgumentTypeError: The value holds something else.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray | np.generic):
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        dtype = value.dtype
        # NumPy's files know no types of ml_dtypes.
        raw = np.asarray(value) if dtype.isbuiltin == 1 else _bits(np.asarray(value))
        arrays[name] = raw
        return {kind: name, "dtype": dtype.name}
    if isinstance(value, list | tuple):
        items = [packed(item, arrays, f"{name}/{i}") for i, item in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": items}
    if isinstance(value, dict):
        return {
            "dict": [[key, packed(item, arrays, f"{name}/{key}")] for key, item in value.items()]
        }
    raise ArgumentTypeError(
        f"Estimator.fit: expected numbers, texts, lists and arrays in a state, got {value!r:.80}"
    )


def unpacked(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Return the value of a result of `packed`.

    Raises:
        FileFormatError: It is none.
    """
    if not isinstance(value, dict):
        return value
    for kind in ("array", "scalar"):
        if kind in value:
            dtype = _dtype(value["dtype"])
            raw = arrays[value[kind]]
            found = raw if raw.dtype == dtype else raw.view(dtype)
            return found if kind == "array" else found[()]
    if "list" in value:
        return [unpacked(item, arrays) for item in value["list"]]
    if "tuple" in value:
        return tuple(unpacked(item, arrays) for item in value["tuple"])
    if "dict" in value:
        return {key: unpacked(item, arrays) for key, item in value["dict"]}
    raise FileFormatError(f"Estimator.fit: expected a packed value, got {value!r:.80}")


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.view(f"u{array.dtype.itemsize}")


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))
