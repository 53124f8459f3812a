"""Memory order of (N, C, ...) arrays, and the number of elements that a kernel accesses at once."""

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


def vector_length(extent: int, *arrays: Any) -> int:
    """Return the number of elements per access, a power of 2; at most 16 bytes.

    Args:
        extent: Number of adjacent elements, which the accesses divide.
        arrays: Contiguous arrays of one dtype, whose addresses have to be multiples of an access.
    """
    itemsize = arrays[0].dtype.itemsize
    length = VECTOR_NBYTES // itemsize
    while length > 1 and (extent % length or any(x.data.ptr % (length * itemsize) for x in arrays)):
        length //= 2
    return int(length)
