"""Memory of recurrent layers' kernels that a thread uses again and again."""

import threading
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape
from gluonish.ops.kernel import Array

__all__ = ["Scratch"]


class Scratch(threading.local):
    """Arrays that a thread uses again: fresh ones of this size cost a page fault every 4 KiB."""

    def __init__(self) -> None:
        self._buffers: dict[tuple[str, np.dtype[Any]], Array] = {}

    def get(self, name: str, shape: Shape, dtype: np.dtype[Any] = FLOAT32) -> Array:
        """Return an array with any values; the one returned before is overwritten."""
        size = int(np.prod(shape))
        buffer = self._buffers.get((name, dtype))
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name, dtype] = np.empty(size, dtype)
        return buffer[:size].reshape(shape)

    def converted(self, name: str, array: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array in a dtype, itself if it has it."""
        if array.dtype == dtype:
            return array
        found = self.get(name, array.shape, dtype)
        found[...] = array
        return found
