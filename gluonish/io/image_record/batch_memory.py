"""Memory for batches that is used again once nobody holds a batch in it."""

import ctypes
import mmap
from collections import deque
from typing import Any

import numpy as np

from gluonish.core.lending import Lending

__all__ = ["BatchMemory"]


class BatchMemory:
    """Arrays of one size whose memory comes back when they, and all views of them, are gone.

    A new array of many megabytes costs a page fault for each 4 KiB as it is filled, a tenth of the
    time that its images take to decode.

    Args:
        shape: Of each array.
        dtype: Of each array.
        kept: How many pieces of memory wait for their next use at most.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], kept: int) -> None:
        self._shape = shape
        self._dtype = dtype
        self._nbytes = max(1, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
        self._free: deque[mmap.mmap] = deque(maxlen=max(1, kept))
        self._lending: Lending[mmap.mmap] = Lending()

    def take(self) -> np.ndarray[Any, Any]:
        """Return an array of undefined values."""
        self._free.extend(self._lending.returned())
        try:
            memory = self._free.pop()
        except IndexError:
            memory = mmap.mmap(-1, self._nbytes)
        lease = (ctypes.c_ubyte * self._nbytes).from_buffer(memory)
        self._lending.lend(memory, lease)
        return np.frombuffer(memoryview(lease), self._dtype).reshape(self._shape)
