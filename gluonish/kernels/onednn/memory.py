"""Layouts of arrays, as the library wants them described."""

import math
from typing import Any

import numpy as np

from gluonish.kernels.onednn.api import Api, dims
from gluonish.ops.kernel import Array, address

_ANY_TAG = 1
_CACHE_LINE = 64  # bytes


def aligned_bytes(nbytes: int) -> Array:
    """Return new bytes that start at a cache line."""
    raw = np.empty(nbytes + _CACHE_LINE, np.uint8)
    start = -address(raw) % _CACHE_LINE
    return raw[start : start + nbytes]


def signature(array: Array) -> tuple[Any, ...]:
    """What a plan depends on: dtype, shape and byte strides, but not the values."""
    return (array.dtype, array.shape, array.strides)


def element_strides(array: Array) -> tuple[int, ...]:
    """Strides counted in elements.

    An axis of length 1 gets the stride that it would have if it were longer: NumPy leaves any
    number in it, and the library recognizes layouts by their strides. What is not in the order of
    the shape counts as channels last.
    """
    strides = [stride // array.itemsize for stride in array.strides]
    if 1 not in array.shape:
        return tuple(strides)
    axes = list(range(array.ndim))
    if array.ndim > 2 and not array.flags.c_contiguous:
        axes = [0, *axes[2:], 1]
    inner = 1  # elements from one step of the axis inside to the next block of its length
    for axis in reversed(axes):
        if array.shape[axis] == 1:
            strides[axis] = inner
        inner = strides[axis] * array.shape[axis]
    return tuple(strides)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a C-contiguous array of this shape, counted in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def describable(array: Array) -> bool:
    """Whether the library can address this array.

    It must hold something, be aligned, and have no broadcast, negative or overlapping strides.
    """
    flags = array.flags
    if not array.size or not flags.aligned:
        return False
    return flags.c_contiguous or _strides_are_nested(array)


def _strides_are_nested(array: Array) -> bool:
    end = array.itemsize
    axes = zip(array.strides, array.shape, strict=True)
    for stride, length in sorted(axis for axis in axes if axis[1] > 1):
        if stride < end or stride % array.itemsize:
            return False
        end = stride * length
    return True


class Descriptor:
    """One ``dnnl_memory_desc_t``, owned.

    Args:
        api: The library.
        function: The ``dnnl_memory_desc_*`` function that makes it.
        arguments: Its arguments after the first.

    Raises:
        OneDNNError: The library refuses.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(self, api: Api, function: str, *arguments: object) -> None:
        self.api = api
        self.handle = api.create(self, "dnnl_memory_desc_destroy", function, *arguments)

    @classmethod
    def strided(
        cls, api: Api, shape: tuple[int, ...], strides: tuple[int, ...], data_type: int
    ) -> "Descriptor":
        """A plain layout; ``strides`` in elements."""
        layout = (len(shape), dims(shape), data_type, dims(strides))
        return cls(api, "dnnl_memory_desc_create_with_strides", *layout)

    @classmethod
    def undecided(cls, api: Api, shape: tuple[int, ...], data_type: int) -> "Descriptor":
        """A layout that the primitive may choose."""
        layout = (len(shape), dims(shape), data_type, _ANY_TAG)
        return cls(api, "dnnl_memory_desc_create_with_tag", *layout)

    @classmethod
    def copied(cls, api: Api, borrowed: int) -> "Descriptor":
        """A copy of a descriptor that belongs to a primitive."""
        return cls(api, "dnnl_memory_desc_clone", borrowed)

    @property
    def nbytes(self) -> int:
        """Bytes that data in this layout needs."""
        return self.api.descriptor_nbytes(self.handle)

    def same_as(self, other: "Descriptor") -> bool:
        """Whether both describe the same layout of the same type and shape."""
        return self.api.descriptors_equal(self.handle, other.handle)
