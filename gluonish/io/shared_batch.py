"""Batches in memory that two processes share.

A worker makes the arrays of a batch one after another in a slot of shared memory and describes
them; the main process, which maps the same memory, makes arrays over it, without a copy.
"""

import mmap
from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.spec import Spec
from gluonish.ndarray import NDArray
from gluonish.numpy.array import gluon_array
from gluonish_engine import Var

# oneDNN's fastest kernels want their arrays on cache lines.
_ALIGNMENT = 64


class ArrayPlace:
    """Where an array of a batch lies in its slot, in bytes from the slot's start."""

    __slots__ = ("dtype", "is_ndarray", "offset", "shape")

    def __init__(
        self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], is_ndarray: bool
    ) -> None:
        self.offset = offset
        self.shape = shape
        self.dtype = dtype
        self.is_ndarray = is_ndarray

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayPlace, (self.offset, self.shape, self.dtype, self.is_ndarray)


class Slot:
    """Shared memory for the arrays of one batch.

    Args:
        memory: The memory; None for a slot of size 0.
        offset: Offset of the slot in it, a multiple of 64 bytes.
        nbytes: Size of the slot, in bytes.

    Attributes:
        nbytes: Size of the slot.
        used: Number of bytes used by arrays so far.
    """

    def __init__(self, memory: mmap.mmap | None = None, offset: int = 0, nbytes: int = 0) -> None:
        self.nbytes = nbytes
        self._bytes = None
        self._address = 0
        self.used = 0
        if memory is not None:
            self._bytes = np.frombuffer(memory, np.uint8, nbytes, offset)
            self._address = self._bytes.ctypes.data

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """Return a new array, in the slot if there is room, so that it need not be copied.

        Args:
            shape: Shape of the array.
            dtype: Dtype of the array.
        """
        dtype = np.dtype(dtype)
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        start = _aligned(self.used)
        if self._bytes is None or start + nbytes > self.nbytes or dtype.hasobject:
            return np.empty(shape, dtype)
        self.used = start + nbytes
        return np.ndarray(shape, dtype, self._bytes.data, start)

    def offset_of(self, values: np.ndarray[Any, Any]) -> int | None:
        """Return an array's offset in the slot, in bytes; None if it lies elsewhere.

        Args:
            values: The array.
        """
        if self._bytes is None or not values.flags.c_contiguous:
            return None
        offset = values.ctypes.data - self._address
        return offset if 0 <= offset <= self.nbytes - values.nbytes else None

    @property
    def memory(self) -> memoryview:
        """The bytes of the slot."""
        return memoryview(b"") if self._bytes is None else self._bytes.data


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


def lay_out(batch: Any, slot: Slot) -> tuple[Any, list[Any], int]:
    """Assign a place in a slot to each array of a batch.

    Args:
        batch: Nested lists, tuples and dicts of NDArrays, NumPy arrays and any other objects.
        slot: The slot; arrays that already lie in it stay there.

    Returns:
        The batch with an `ArrayPlace` for each array, the arrays in that order as NumPy arrays, and
        the number of bytes needed, which may exceed the slot's size.
    """
    arrays: list[Any] = []
    places: list[ArrayPlace] = []
    described = _place(batch, arrays, places)
    inside = [slot.offset_of(values) for values in arrays]
    # Whatever was made in the slot stays: others may be views of it that are still to be copied.
    end = slot.used
    for place, offset, values in zip(places, inside, arrays, strict=True):
        if offset is None:
            offset = _aligned(end)
            end = offset + values.nbytes
        place.offset = offset
    return described, arrays, end


def _place(item: Any, arrays: list[Any], places: list[ArrayPlace]) -> Any:
    """Return a batch with places whose offsets are not set, and collect them and its arrays."""
    if isinstance(item, dict):
        return {name: _place(part, arrays, places) for name, part in item.items()}
    if is_sequence(item):
        return rebuilt(item, [_place(part, arrays, places) for part in item])
    is_ndarray = isinstance(item, NDArray)
    if not is_ndarray and (type(item) is not np.ndarray or item.dtype.hasobject):
        return item
    values = values_of(item) if is_ndarray else item
    place = ArrayPlace(0, values.shape, values.dtype, is_ndarray)
    arrays.append(values)
    places.append(place)
    return place


def write_arrays(memory: Any, described: Any, arrays: list[Any], slot: Slot | None = None) -> None:
    """Copy the arrays of `lay_out` to their places.

    Args:
        memory: Buffer to copy to.
        described: The batch, as `lay_out` described it.
        arrays: Its arrays.
        slot: If ``memory`` is that of this slot, arrays that already lie in it are skipped.
    """
    for place, values in zip(_places(described), arrays, strict=True):
        if slot is None or slot.offset_of(values) is None:
            np.ndarray(place.shape, place.dtype, memory, place.offset)[...] = values


def _places(described: Any) -> list[ArrayPlace]:
    if isinstance(described, ArrayPlace):
        return [described]
    if isinstance(described, dict):
        described = described.values()
    elif not is_sequence(described):
        return []
    return [place for part in described for place in _places(part)]


def map_arrays(memory: Any, described: Any, copy: bool = False) -> Any:
    """Return a batch whose arrays lie in shared memory.

    Args:
        memory: Memory that `write_arrays` wrote to; it lives as long as an array or a view of one.
        described: The batch, as `lay_out` described it.
        copy: Whether to copy the arrays to memory of their own instead.
    """
    if isinstance(described, ArrayPlace):
        raw = np.ndarray(described.shape, described.dtype, memory, described.offset)
        raw = raw.copy() if copy else raw
        return over(raw) if described.is_ndarray else raw
    if isinstance(described, dict):
        return {name: map_arrays(memory, part, copy) for name, part in described.items()}
    if is_sequence(described):
        return rebuilt(described, [map_arrays(memory, part, copy) for part in described])
    return described


def is_sequence(item: object) -> bool:
    """Whether a part of a batch is a list, tuple or named tuple, whose items are parts, too.

    Args:
        item: The part.
    """
    return type(item) in (list, tuple) or (isinstance(item, tuple) and hasattr(item, "_fields"))


def rebuilt(item: Any, parts: list[Any]) -> Any:
    """Return a sequence of the same type with other items.

    Args:
        item: The sequence.
        parts: The new items.
    """
    return type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)


def over(raw: np.ndarray[Any, Any]) -> NDArray:
    """Return an NDArray on the CPU that shares the memory of a C-contiguous NumPy array.

    Args:
        raw: The NumPy array.
    """
    return gluon_array(NDArray(raw, Spec(raw.shape, raw.dtype), device_of(cpu()), Var()))


def values_of(array: NDArray) -> np.ndarray[Any, Any]:
    """Return the values of an array as a NumPy array, without a copy if they are in host memory.

    Args:
        array: The array.
    """
    if array.stype != "default":
        return array.asnumpy()
    array.wait_to_read()
    raw = array.handle
    return raw if isinstance(raw, np.ndarray) else array.asnumpy()
