"""Functions of MXNet's C library that programs call by ctypes, on an array's raw memory.

The handle of an array is its raw NumPy or CuPy array, which has no engine variable, so each
function waits for all pending work.
"""

import ctypes
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.ndarray.functions import waitall


def _settled(what: str, handle: Any, size: Any) -> Any:
    """Return a handle's array after all pending work, with its size checked."""
    waitall()
    expected = int(getattr(size, "value", size))
    if handle.size != expected:
        raise ArgumentError(
            f"{what}: expected size to be the number of elements, {handle.size}, got {expected}"
        )
    return handle


def copy_to_memory(handle: Any, data: Any, size: Any) -> int:
    """Copy an array's elements to memory, in the array's dtype and row-major order; return 0.

    Args:
        handle: ``NDArray.handle``.
        data: `ctypes` pointer to the target memory.
        size: Number of elements.

    Raises:
        ArgumentError: ``size`` is another number.
    """
    values = _settled("MXNDArraySyncCopyToCPU", handle, size)
    values = np.ascontiguousarray(values.get() if hasattr(values, "get") else values)
    ctypes.memmove(data, values.ctypes.data, values.nbytes)
    return 0


def copy_from_memory(handle: Any, data: Any, size: Any) -> int:
    """Copy elements from memory to an array, in the array's dtype and row-major order; return 0.

    Args:
        handle: ``NDArray.handle``.
        data: `ctypes` pointer to the source memory.
        size: Number of elements.

    Raises:
        ArgumentError: ``size`` is another number.
    """
    target = _settled("MXNDArraySyncCopyFromCPU", handle, size)
    values = np.empty(target.shape, target.dtype)
    ctypes.memmove(values.ctypes.data, data, values.nbytes)
    if hasattr(target, "get"):  # on a GPU
        target.set(values)
    else:
        target[...] = values
    return 0


def wait_for_all() -> int:
    """Wait for all pending work; returns 0."""
    waitall()
    return 0
