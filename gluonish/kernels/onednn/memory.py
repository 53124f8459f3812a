"""The library's descriptors of arrays' layouts."""

import math
from typing import Any

import numpy as np

from gluonish.kernels.onednn.api import Api, dims
from gluonish.ops.kernel import Array, address

_ANY_TAG = 1
_CACHE_LINE = 64  # bytes


def aligned_bytes(nbytes: int) -> Array:
    """Allocate bytes aligned to a cache line."""
    raw = np.empty(nbytes + _CACHE_LINE, np.uint8)
    start = -address(raw) % _CACHE_LINE
    return raw[start : start + nbytes]


def signature(array: Array) -> tuple[Any, ...]:
    """Return the dtype, shape and byte strides of an array, for a plan's cache key."""
    return (array.dtype, array.shape, array.strides)


def element_strides(array: Array) -> tuple[int, ...]:
    """Return an array's strides in elements.

    An axis of length 1 gets the stride that it would have if it were longer: NumPy's stride is
    arbitrary, and the library recognizes layouts by their strides. Arrays that are not
    C-contiguous count as channels last.
    """
    strides = [stride // array.itemsize for stride in array.strides]
    if 1 not in array.shape:
        return tuple(strides)
    axes = list(range(array.ndim))
    if array.ndim > 2 and not array.flags.c_contiguous:
        axes = [0, *axes[2:], 1]
    inner = 1  # elements that the next inner axis spans
    for axis in reversed(axes):
        if array.shape[axis] == 1:
            strides[axis] = inner
        inner = strides[axis] * array.shape[axis]
    return tuple(strides)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return strides, in elements, of a C-contiguous array of this shape."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def describable(array: Array) -> bool:
    """Whether the library can address this array.

    The array must be non-empty and aligned, without broadcast, negative or overlapping strides.
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
    """An owned ``dnnl_memory_desc_t``.

    Args:
        function: Name of the ``dnnl_memory_desc_*`` function that creates the descriptor.
        arguments: The function's arguments after the first.

    Raises:
        OneDNNError: The library reports a failure.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(self, api: Api, function: str, *arguments: object) -> None:
        self.api = api
        self.handle = api.create(self, "dnnl_memory_desc_destroy", function, *arguments)

    @classmethod
    def strided(
        cls, api: Api, shape: tuple[int, ...], strides: tuple[int, ...], data_type: int
    ) -> "Descriptor":
        """Create a strided layout; ``strides`` in elements."""
        layout = (len(shape), dims(shape), data_type, dims(strides))
        return cls(api, "dnnl_memory_desc_create_with_strides", *layout)

    @classmethod
    def undecided(cls, api: Api, shape: tuple[int, ...], data_type: int) -> "Descriptor":
        """Create a descriptor whose layout the primitive may choose."""
        layout = (len(shape), dims(shape), data_type, _ANY_TAG)
        return cls(api, "dnnl_memory_desc_create_with_tag", *layout)

    @classmethod
    def copied(cls, api: Api, borrowed: int) -> "Descriptor":
        """Copy a descriptor that a primitive owns."""
        return cls(api, "dnnl_memory_desc_clone", borrowed)

    @property
    def nbytes(self) -> int:
        """Size in bytes of data in this layout."""
        return self.api.descriptor_nbytes(self.handle)

    def same_as(self, other: "Descriptor") -> bool:
        """Whether both descriptors have the same layout, type and shape."""
        return self.api.descriptors_equal(self.handle, other.handle)
