"""The values that rules compute on: arrays of ``mx.np``, either traced or with known numbers.

A value that does not depend on the network's inputs has known numbers even during tracing, so that
chains of Shape, Gather and Concat are computed at once and leave no nodes. If a rule needs the
numbers of a traced array, it raises an UntraceableError, and the network runs without a graph.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.context import current_context
from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import NotSupportedError, UntraceableError
from gluonish.ndarray.namespace import operator_function
from gluonish.onnx.importing.elements import Narrow, narrowed
from gluonish.onnx.importing.tensors import Stored

_MAX_ELEMENTS = 1 << 31  # of an array whose size is computed from numbers in the file
_MAX_TABLE = 1 << 24  # entries of an index table

op = operator_function


def plain(value: Any) -> Any:
    """Return the array of a value, which a `Narrow` wraps."""
    return value.array if isinstance(value, Narrow) else value


def is_known(value: Any) -> bool:
    """Whether the numbers of a value are known, that is, it is not traced."""
    return not plain(value).is_traced


def host(value: Any) -> np.ndarray[Any, Any]:
    """Return the numbers of a value as a NumPy array.

    Raises:
        UntraceableError: The value is traced.
    """
    array = plain(value)
    if array.is_traced:
        raise UntraceableError(
            "ONNX: expected a graph whose shapes follow from those of its inputs, got one that "
            "needs numbers of its inputs, or of what is computed from them, to say a shape"
        )
    found: np.ndarray[Any, Any] = array.asnumpy()
    return found


def integers(value: Any) -> list[int]:
    """Return a vector of integers as a list."""
    return [int(number) for number in host(value).reshape(-1)]


def integer(value: Any) -> int:
    """Return the integer in an array of one element."""
    return int(host(value).reshape(-1)[0])


def floats(value: Any) -> list[float]:
    """Return a vector of numbers as a list of floats."""
    return [float(number) for number in host(value).reshape(-1)]


def array_of(numbers: Any, dtype: Any = None) -> Any:
    """Return an array with known numbers."""
    given = np.asarray(numbers, dtype)
    return mnp.array(given, dtype=given.dtype)


def constant(stored: Stored) -> Any:
    """Return a tensor of the file as a value on the current device."""
    context = current_context()
    array = stored.arrays.get(context)
    if array is None:
        array = stored.arrays[context] = array_of(stored.carried())
    return narrowed(array, stored.element)


def computed(dtype: Any, *values: Any) -> Any:
    """Cast values to a dtype; one value is returned as itself, several as a list."""
    cast = [None if x is None else x if x.dtype == dtype else x.astype(dtype) for x in values]
    return cast[0] if len(cast) == 1 else cast


def cut(x: Any, axis: int, start: int, end: int | None, step: int = 1) -> Any:
    """Slice an array along one axis; other axes may have any extents."""
    before = (None,) * axis
    return op("slice")(x, begin=(*before, start), end=(*before, end), step=(*before, step))


def dtype_of(array: Any) -> np.dtype[Any]:
    """Return the dtype of an array as a NumPy dtype."""
    found: np.dtype[Any] = np.dtype(array.dtype)
    return found


def wide(array: Any) -> Any:
    """Cast 16-bit floating-point arrays to float32; others are returned unchanged."""
    dtype = dtype_of(array)
    return array.astype(FLOAT32) if is_floating(dtype) and dtype.itemsize < 4 else array


def axis_of(axis: int, rank: int) -> int:
    """Return the non-negative index of an axis.

    Raises:
        NotSupportedError: The axis is out of range.
    """
    if not -rank <= axis < max(rank, 1):
        raise NotSupportedError(f"ONNX: expected an axis of {rank}, got {axis}")
    return axis % rank if rank else 0


def check_size(shape: Sequence[int]) -> tuple[int, ...]:
    """Check and return a shape that was computed from numbers in the file.

    Raises:
        NotSupportedError: A size is negative, or the array would be too large.
    """
    extents = tuple(int(extent) for extent in shape)
    if prod(extents) > _MAX_ELEMENTS or any(extent < 0 for extent in extents):
        raise NotSupportedError(
            f"ONNX: expected an array of at most {_MAX_ELEMENTS} elements, got shape {extents}"
        )
    return extents


def check_table(*extents: int) -> None:
    """Check the shape of an index table that is computed from numbers in the file.

    Raises:
        NotSupportedError: A size is negative, or the table would be too large.
    """
    if prod(extents) > _MAX_TABLE or any(extent < 0 for extent in extents):
        raise NotSupportedError(
            f"ONNX: expected windows and sizes of at most {_MAX_TABLE} places, got {extents}"
        )


def filled(shape: Sequence[int], number: Any, dtype: Any) -> Any:
    """Return a new array filled with one number."""
    return mnp.full(check_size(shape), number, dtype=dtype)
