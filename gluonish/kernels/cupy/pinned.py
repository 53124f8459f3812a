"""PinnedDevice: ``cpu_pinned()``, page-locked host memory that a GPU copies from by DMA.

Uploads from it are asynchronous and need no staging buffer.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.device import DEVICE_CLASSES, CPUDevice
from gluonish.core.spec import Shape

_HOST_MEMORY = 1  # cudaMemoryTypeHost: registered with the driver


class PinnedDevice(CPUDevice):
    """NumPy arrays in page-locked memory, from CuPy's pool; needs a GPU."""

    __slots__ = ("_cuda",)

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        super().__init__(context)
        self._cuda = cupy.cuda

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return an uninitialized array in page-locked memory.

        Raises:
            MemoryError: if the driver has none.
        """
        dtype = np.dtype(dtype)
        count = math.prod(shape)
        if not count:
            return np.empty(shape, dtype)
        try:
            memory = self._cuda.alloc_pinned_memory(count * dtype.itemsize)
        except self._cuda.runtime.CUDARuntimeError as error:
            raise MemoryError(f"no {count * dtype.itemsize} bytes to pin ({error})") from error
        return np.frombuffer(memory, np.uint8, count * dtype.itemsize).view(dtype).reshape(shape)


def is_pinned(cupy: ModuleType, array: np.ndarray[Any, Any]) -> bool:
    """Whether a host array is in page-locked memory, of any allocator."""
    found = cupy.cuda.runtime.pointerGetAttributes(array.ctypes.data)
    return bool(found.type == _HOST_MEMORY)


DEVICE_CLASSES.append(PinnedDevice)
