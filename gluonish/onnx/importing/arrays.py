"""The values of rules: arrays of ``mx.np``, with values or traced, and known numbers.

A value that does not depend on the network's inputs has its numbers while the graph is traced, too,
so that chains of Shape, Gather and Concat are computed at once and leave no nodes. Where a rule
needs numbers that are not there yet, the error of traced arrays says so and the network runs
without a graph.
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

_MAX_ELEMENTS = 1 << 31  # of an array whose size a file's numbers determine
_MAX_TABLE = 1 << 24  # entries of an index table

op = operator_function


def plain(value: Any) -> Any:
    """Return the array that carries a value."""
    return value.array if isinstance(value, Narrow) else value


def is_known(value: Any) -> bool:
    """Whether the numbers of a value are known."""
    return not plain(value).is_traced


def host(value: Any) -> np.ndarray[Any, Any]:
    """Return the numbers of a value.

    Raises:
        UntraceableError: They are not known while tracing.
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
    """Return the numbers of a vector of integers."""
    return [int(number) for number in host(value).reshape(-1)]


def integer(value: Any) -> int:
    """Return the number in an array of one element."""
    return int(host(value).reshape(-1)[0])


def floats(value: Any) -> list[float]:
    """Return the numbers of a vector."""
    return [float(number) for number in host(value).reshape(-1)]


def array_of(numbers: Any, dtype: Any = None) -> Any:
    """Return an array of known numbers."""
    given = np.asarray(numbers, dtype)
    return mnp.array(given, dtype=given.dtype)


def constant(stored: Stored) -> Any:
    """Return the value of a tensor of the file on the current device."""
    context = current_context()
    array = stored.arrays.get(context)
    if array is None:
        array = stored.arrays[context] = array_of(stored.carried())
    return narrowed(array, stored.element)


def computed(dtype: Any, *values: Any) -> Any:
    """Return values in a dtype, one or a list."""
    cast = [None if x is None else x if x.dtype == dtype else x.astype(dtype) for x in values]
    return cast[0] if len(cast) == 1 else cast


def cut(x: Any, axis: int, start: int, end: int | None, step: int = 1) -> Any:
    """Slice an array along one axis; other axes may have any extents."""
    before = (None,) * axis
    return op("slice")(x, begin=(*before, start), end=(*before, end), step=(*before, step))


def dtype_of(array: Any) -> np.dtype[Any]:
    """Return an array's dtype as NumPy's object."""
    found: np.dtype[Any] = np.dtype(array.dtype)
    return found


def wide(array: Any) -> Any:
    """Return an array in float32 where it is of a smaller floating type, else as it is."""
    dtype = dtype_of(array)
    return array.astype(FLOAT32) if is_floating(dtype) and dtype.itemsize < 4 else array


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the front.

    Raises:
        NotSupportedError: There is no such axis.
    """
    if not -rank <= axis < max(rank, 1):
        raise NotSupportedError(f"ONNX: expected an axis of {rank}, got {axis}")
    return axis % rank if rank else 0


def check_size(shape: Sequence[int]) -> tuple[int, ...]:
    """Check and return a shape from a file's numbers.

    Raises:
        NotSupportedError: It is absurd.
    """
    extents = tuple(int(extent) for extent in shape)
    if prod(extents) > _MAX_ELEMENTS or any(extent < 0 for extent in extents):
        raise NotSupportedError(
            f"ONNX: expected an array of at most {_MAX_ELEMENTS} elements, got shape {extents}"
        )
    return extents


def check_table(*extents: int) -> None:
    """Refuse oversized index tables from a file's numbers.

    Raises:
        NotSupportedError: Such a table would be.
    """
    if prod(extents) > _MAX_TABLE or any(extent < 0 for extent in extents):
        raise NotSupportedError(
            f"ONNX: expected windows and sizes of at most {_MAX_TABLE} places, got {extents}"
        )


def filled(shape: Sequence[int], number: Any, dtype: Any) -> Any:
    """Return a new array of one number."""
    return mnp.full(check_size(shape), number, dtype=dtype)
