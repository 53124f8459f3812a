"""Batches in memory that two processes share.

A worker lays the arrays of a batch one after another into a segment and describes them; the main
process maps the same memory and makes arrays over it, without a copy. A segment is a file without a
name, passed as a descriptor: when the last process that maps it ends, however it ends, it is gone.
"""

import ctypes
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.spec import Spec
from gluonish.ndarray import NDArray
from gluonish.numpy.array import gluon_array
from gluonish_engine import Var

__all__ = [
    "ArrayPlace",
    "Segment",
    "is_sequence",
    "lay_out",
    "map_arrays",
    "new_file",
    "over",
    "rebuilt",
    "write_arrays",
]

# oneDNN's fastest kernels want their arrays on cache lines.
_ALIGNMENT = 64


@dataclass(slots=True)
class ArrayPlace:
    """Where an array of a batch lies in its segment, in bytes from the start."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_ndarray: bool


class Segment:
    """Memory over an open file, which is closed; while it lives it keeps a descriptor, though.

    Args:
        descriptor: The file.
        private: Whether writes stay in this process.
    """

    def __init__(self, descriptor: int, private: bool = False) -> None:
        try:
            access = mmap.ACCESS_COPY if private else mmap.ACCESS_WRITE
            self.memory = mmap.mmap(descriptor, 0, access=access)
        finally:
            os.close(descriptor)
        self.nbytes = len(self.memory)


def new_file(nbytes: int) -> int:
    """Return the descriptor of a new file of so many zero bytes that has no name.

    Raises:
        OSError: There is no room for it.
    """
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("gluonish-batch")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, max(1, nbytes))
    return descriptor


def lay_out(batch: Any, as_ndarrays: bool = False) -> tuple[Any, list[Any], int]:
    """Find a place in a segment for each array of a batch.

    Args:
        batch: Nested lists, tuples and dicts of NDArrays, NumPy arrays, and anything else.
        as_ndarrays: Whether NumPy arrays shall become NDArrays.

    Returns:
        The batch with an `ArrayPlace` instead of each array, the arrays in that order as NumPy's,
        and the bytes needed.
    """
    arrays: list[Any] = []
    described = _place(batch, as_ndarrays, arrays)
    end = 0
    for place, values in zip(_places(described), arrays, strict=True):
        place.offset = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = place.offset + values.nbytes
    return described, arrays, end


def _place(item: Any, as_ndarrays: bool, arrays: list[Any]) -> Any:
    """Return a batch with places whose offsets are not set, and collect its arrays."""
    if isinstance(item, dict):
        return {name: _place(part, as_ndarrays, arrays) for name, part in item.items()}
    if is_sequence(item):
        return rebuilt(item, [_place(part, as_ndarrays, arrays) for part in item])
    is_ndarray = isinstance(item, NDArray)
    if not is_ndarray and (type(item) is not np.ndarray or item.dtype.hasobject):
        return item
    values = item.asnumpy() if is_ndarray else item
    arrays.append(values)
    return ArrayPlace(0, values.shape, values.dtype, is_ndarray or as_ndarrays)


def write_arrays(segment: Segment, described: Any, arrays: list[Any]) -> None:
    """Copy the arrays of `lay_out` to their places."""
    for place, values in zip(_places(described), arrays, strict=True):
        np.ndarray(place.shape, place.dtype, segment.memory, place.offset)[...] = values


def _places(described: Any) -> list[ArrayPlace]:
    if isinstance(described, ArrayPlace):
        return [described]
    if isinstance(described, dict):
        described = described.values()
    elif not is_sequence(described):
        return []
    return [place for part in described for place in _places(part)]


def map_arrays(
    segment: Segment, described: Any, release: Callable[[], object], copy: bool = False
) -> Any:
    """Return a batch whose arrays lie in the segment.

    Args:
        segment: Holds what `write_arrays` wrote.
        described: The batch as `lay_out` described it.
        release: Called once none of the arrays, nor a view of one, is alive any more; from any
            thread, so it may not wait for a lock.
        copy: Whether to give the arrays memory of their own instead.
    """
    lease = (ctypes.c_ubyte * segment.nbytes).from_buffer(segment.memory)
    weakref.finalize(lease, release).atexit = False
    return _build(described, lease, copy)


def _build(item: Any, lease: Any, copy: bool) -> Any:
    if isinstance(item, ArrayPlace):
        raw = np.ndarray(item.shape, item.dtype, lease, item.offset)
        raw = raw.copy() if copy else raw
        return over(raw) if item.is_ndarray else raw
    if isinstance(item, dict):
        return {name: _build(part, lease, copy) for name, part in item.items()}
    if is_sequence(item):
        return rebuilt(item, [_build(part, lease, copy) for part in item])
    return item


def is_sequence(item: object) -> bool:
    """Whether parts of a batch are looked for inside: in lists, tuples and named tuples."""
    return type(item) in (list, tuple) or (isinstance(item, tuple) and hasattr(item, "_fields"))


def rebuilt(item: Any, parts: list[Any]) -> Any:
    """Return a sequence of the same type with other parts."""
    return type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)


def over(raw: np.ndarray[Any, Any]) -> NDArray:
    """Return an NDArray on the CPU over the memory of a C-contiguous NumPy array."""
    return gluon_array(NDArray(raw, Spec(raw.shape, raw.dtype), device_of(cpu()), Var()))
