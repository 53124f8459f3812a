"""Where the last step of a sample's transform puts it: into its row of the batch to be.

A worker makes a batch of samples that it has just made itself. A transform that asks for new
memory here (`new_sample`) gets the sample's row, so that stacking finds it in its place and copies
nothing.

A row is memory that is used again. Whoever keeps a sample, such as a dataset that caches what it
transformed, keeps a lease on its row: `Rows.are_kept` tells, and then the memory is no longer ours.
"""

import ctypes
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from gluonish.ops.kernel import address

__all__ = ["Rows", "current", "new_sample"]

Array = np.ndarray[Any, Any]


class Rows:
    """The rows of one batch's array, allocated when the first sample requests its row.

    Args:
        count: Number of samples in the batch.
        empty: Allocates memory of a shape and dtype.

    Attributes:
        are_batch: Whether `batch_of` returned the batch.
    """

    def __init__(self, count: int, empty: Callable[[tuple[int, ...], Any], Array]) -> None:
        self._count = count
        self._empty = empty
        self._memory: Array | None = None
        self._next: int | None = None
        self.are_batch = False
        self._leases: list[weakref.ref[Any]] = []

    def begin(self, number: int | None) -> None:
        """Let the next array requested be the row of a sample; None for no row.

        Args:
            number: Index of the sample in the batch, or None.
        """
        self._next = number

    def take(self, shape: tuple[int, ...], dtype: Any) -> Array | None:
        """Return the row of the current sample, once, if its shape and dtype match the others.

        Args:
            shape: Shape of the sample.
            dtype: Dtype of the sample.
        """
        number, self._next = self._next, None
        if number is None:
            return None
        if self._memory is None:
            self._memory = self._empty((self._count, *shape), dtype)
        memory = self._memory
        if memory.shape[1:] != shape or memory.dtype != dtype or not memory.size:
            return None
        bytes_ = memory[number].reshape(-1).view(np.uint8)
        # Views of an array refer to the array whose memory it is: a lease of the row's own stays as
        # long as any of its views.
        lease = (ctypes.c_ubyte * bytes_.nbytes).from_buffer(bytes_)
        self._leases.append(weakref.ref(lease))
        return np.ndarray(shape, dtype, lease)

    def batch_of(self, samples: Sequence[Array]) -> Array | None:
        """Return the batch if each of its samples is stored in its row; else None.

        Args:
            samples: The samples.
        """
        memory = self._memory
        if memory is None or len(samples) != self._count:
            return None
        place, kind = address(memory), (memory.shape[1:], memory.dtype)
        for sample in samples:
            alike = (sample.shape, sample.dtype) == kind and sample.flags.c_contiguous
            if not alike or address(sample) != place:
                return None
            place += memory.strides[0]
        self.are_batch = True
        return memory

    @property
    def are_made(self) -> bool:
        """Whether a sample has requested its row."""
        return self._memory is not None

    @property
    def are_kept(self) -> bool:
        """Whether something still refers to a sample, or to a view of one."""
        return any(lease() is not None for lease in self._leases)


# Those of the batch that this thread is making.
current: ContextVar[Rows | None] = ContextVar("gluonish_sample_rows", default=None)


def new_sample(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an uninitialized, C-contiguous array for a sample.

    Args:
        shape: Shape of the sample.
        dtype: Dtype of the sample.
    """
    rows = current.get()
    row = None if rows is None else rows.take(shape, dtype)
    return np.empty(shape, dtype) if row is None else row
