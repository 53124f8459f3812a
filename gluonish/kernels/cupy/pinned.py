"""PinnedDevice: ``cpu_pinned()``, host memory that a GPU copies from without the processor.

The driver keeps such memory in place (page-locked), so that an upload runs on its stream while the
program goes on, and needs no copy into a staging buffer first.
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
    """Arrays of NumPy in page-locked memory, from CuPy's pool of it.

    Args:
        context: ``cpu_pinned(i)``.
        cupy: The module; there is a device.
    """

    __slots__ = ("_cuda",)

    def __init__(self, context: Context, cupy: ModuleType) -> None:
        super().__init__(context)
        self._cuda = cupy.cuda

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return an array of undefined values in page-locked memory.

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
    """Whether a host array lies in page-locked memory, whoever allocated it."""
    found = cupy.cuda.runtime.pointerGetAttributes(array.ctypes.data)
    return bool(found.type == _HOST_MEMORY)


DEVICE_CLASSES.append(PinnedDevice)
