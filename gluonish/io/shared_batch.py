"""Batches in shared memory.

A worker writes the arrays of a batch to a slot of shared memory and describes their layout; the
main process maps the same memory and creates arrays without a copy.
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

# oneDNN's fastest kernels require arrays aligned to cache lines.
_ALIGNMENT = 64


class ArrayLayout:
    """Offset (in bytes from the slot's start), shape and dtype of an array of a batch."""

    __slots__ = ("dtype", "is_ndarray", "offset", "shape")

    def __init__(
        self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], is_ndarray: bool
    ) -> None:
        self.offset = offset
        self.shape = shape
        self.dtype = dtype
        self.is_ndarray = is_ndarray

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayLayout, (self.offset, self.shape, self.dtype, self.is_ndarray)


class Slot:
    """Shared memory for the arrays of one batch.

    Args:
        memory: The memory; None for a slot of size 0.
        offset: Offset of the slot in the memory, a multiple of 64 bytes.
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
        """Allocate an array, in the slot if it fits, so that it need not be copied."""
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
        """Return an array's offset in the slot, in bytes; None if it is elsewhere."""
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
    """Assign an offset in a slot to each array of a batch.

    Args:
        batch: Nested lists, tuples and dicts of NDArrays, NumPy arrays and any other objects.
        slot: The slot; arrays in it keep their offsets.

    Returns:
        The batch with an `ArrayLayout` for each array, the arrays as NumPy arrays, and the number
        of bytes needed, which may exceed the slot's size.
    """
    arrays: list[Any] = []
    layouts: list[ArrayLayout] = []
    described = _collect(batch, arrays, layouts)
    inside = [slot.offset_of(values) for values in arrays]
    # Everything allocated in the slot stays: other arrays may be views of it that are not copied
    # yet.
    end = slot.used
    for layout, offset, values in zip(layouts, inside, arrays, strict=True):
        if offset is None:
            offset = _aligned(end)
            end = offset + values.nbytes
        layout.offset = offset
    return described, arrays, end


def _collect(item: Any, arrays: list[Any], layouts: list[ArrayLayout]) -> Any:
    """Replace the arrays of a batch by layouts without offsets; collect layouts and arrays."""
    if isinstance(item, dict):
        return {name: _collect(item, arrays, layouts) for name, item in item.items()}
    if is_sequence(item):
        return rebuilt(item, [_collect(item, arrays, layouts) for item in item])
    is_ndarray = isinstance(item, NDArray)
    if not is_ndarray and (type(item) is not np.ndarray or item.dtype.hasobject):
        return item
    values = values_of(item) if is_ndarray else item
    layout = ArrayLayout(0, values.shape, values.dtype, is_ndarray)
    arrays.append(values)
    layouts.append(layout)
    return layout


def write_arrays(memory: Any, described: Any, arrays: list[Any], slot: Slot | None = None) -> None:
    """Copy the arrays from `lay_out` to their offsets, except those already in the slot."""
    for layout, values in zip(_layouts(described), arrays, strict=True):
        if slot is None or slot.offset_of(values) is None:
            np.ndarray(layout.shape, layout.dtype, memory, layout.offset)[...] = values


def _layouts(described: Any) -> list[ArrayLayout]:
    if isinstance(described, ArrayLayout):
        return [described]
    if isinstance(described, dict):
        described = described.values()
    elif not is_sequence(described):
        return []
    return [layout for item in described for layout in _layouts(item)]


def map_arrays(memory: Any, described: Any, copy: bool = False) -> Any:
    """Create the described batch in shared memory, or with ``copy`` from copies of the arrays."""
    if isinstance(described, ArrayLayout):
        raw = np.ndarray(described.shape, described.dtype, memory, described.offset)
        raw = raw.copy() if copy else raw
        return ndarray_view(raw) if described.is_ndarray else raw
    if isinstance(described, dict):
        return {name: map_arrays(memory, item, copy) for name, item in described.items()}
    if is_sequence(described):
        return rebuilt(described, [map_arrays(memory, item, copy) for item in described])
    return described


def is_sequence(item: object) -> bool:
    """Whether an item of a batch is a list, tuple or named tuple."""
    return type(item) in (list, tuple) or (isinstance(item, tuple) and hasattr(item, "_fields"))


def rebuilt(item: Any, parts: list[Any]) -> Any:
    """Return a sequence of the same type with new items."""
    return type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)


def ndarray_view(raw: np.ndarray[Any, Any]) -> NDArray:
    """Wrap a C-contiguous NumPy array in an NDArray on the CPU that shares its memory."""
    return gluon_array(NDArray(raw, Spec(raw.shape, raw.dtype), device_of(cpu()), Var()))


def values_of(array: NDArray) -> np.ndarray[Any, Any]:
    """Return the values of an array as a NumPy array, without a copy if they are in host memory."""
    if array.stype != "default":
        return array.asnumpy()
    array.wait_to_read()
    raw = array.handle
    return raw if isinstance(raw, np.ndarray) else array.asnumpy()
