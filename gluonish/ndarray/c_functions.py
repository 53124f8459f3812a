"""The functions of MXNet's C library that programs call on arrays, on the memory they point to.

The handle of an array is here its NumPy array. A function waits for all pending work first, since
a handle does not tell whose it is.
"""

import ctypes
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.ndarray.functions import waitall


def _settled(what: str, handle: Any, size: Any) -> Any:
    """Return the array of a handle when no work is pending on it."""
    waitall()
    expected = int(getattr(size, "value", size))
    if handle.size != expected:
        raise ArgumentError(
            f"{what}: expected size to be the number of elements, {handle.size}, got {expected}"
        )
    return handle


def copy_to_memory(handle: Any, data: Any, size: Any) -> int:
    """Copy an array's elements, in its own dtype and in row-major order; returns 0.

    Args:
        handle: ``NDArray.handle``.
        data: Pointer of `ctypes` to memory for them.
        size: How many elements there are.

    Raises:
        ArgumentError: ``size`` is another number.
    """
    values = _settled("MXNDArraySyncCopyToCPU", handle, size)
    values = np.ascontiguousarray(values.get() if hasattr(values, "get") else values)
    ctypes.memmove(data, values.ctypes.data, values.nbytes)
    return 0


def copy_from_memory(handle: Any, data: Any, size: Any) -> int:
    """Fill an array with elements of its own dtype in row-major order; returns 0.

    Args:
        handle: ``NDArray.handle``.
        data: Pointer of `ctypes` to them.
        size: How many elements there are.

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
