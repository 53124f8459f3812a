"""Memory layouts of arrays (N, C, *spatial): channels first, or last, as in (N, *spatial, C).

Also the number of elements that a kernel accesses at once.
"""

import math
from typing import Any

from gluonish.kernels.cupy.source import VECTOR_NBYTES

Axes = tuple[int, ...]


def channels_last(rank: int, axis: int = 1) -> Axes:
    """Return the axes of an array whose channels are its innermost axis in memory."""
    return (*range(axis), *range(axis + 1, rank), axis)


def is_channels_last(array: Any, axis: int = 1) -> bool:
    """Whether an array is dense with innermost channels, and is not contiguous as it is."""
    if array.flags.c_contiguous:
        return False
    return bool(array.transpose(channels_last(array.ndim, axis)).flags.c_contiguous)


def in_memory(array: Any, last: bool) -> Any:
    """Return a view of an array with the axes in the order of a memory layout."""
    return array.transpose(channels_last(array.ndim)) if last else array


def is_dense(array: Any, last: bool) -> bool:
    """Whether an array is contiguous in a memory layout; it may be in both."""
    return bool(in_memory(array, last).flags.c_contiguous)


def empty_like(xp: Any, array: Any, last: bool) -> Any:
    """Return an uninitialized array of the same shape and dtype in a memory layout."""
    if not last:
        return xp.empty(array.shape, array.dtype)
    shape = in_memory(array, last).shape
    return xp.empty(shape, array.dtype).transpose(0, array.ndim - 1, *range(1, array.ndim - 1))


def vector_length(extent: int, itemsize: int) -> int:
    """Return the number of elements in the widest vector, of at most 16 bytes.

    Args:
        extent: Number of adjacent elements, which vectors divide.
        itemsize: Bytes of an element, a power of 2.
    """
    return math.gcd(extent, VECTOR_NBYTES // itemsize)


def access_length(vector: int, *arrays: Any) -> int:
    """Return the number of elements of a vector that can be accessed at once.

    Args:
        vector: Number of elements of a vector, a power of 2.
        arrays: Contiguous arrays of one dtype; addresses have to be multiples of an access.
    """
    offset = 0
    for array in arrays:
        offset |= array.data.ptr
    return math.gcd(vector, (offset | VECTOR_NBYTES) // arrays[0].dtype.itemsize)
