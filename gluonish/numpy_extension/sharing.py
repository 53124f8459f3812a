"""`npx.from_dlpack`, `npx.from_numpy`: memory shared with other libraries."""

from typing import Any

import numpy as np

from gluonish.ndarray import dlpack as shared
from gluonish.ndarray.dlpack import to_dlpack_for_read, to_dlpack_for_write
from gluonish.numpy.array import as_np_ndarray, ndarray

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def from_dlpack(dlpack: Any) -> ndarray:
    """Return an array that shares the memory of a DLPack capsule.

    Args:
        dlpack: A DLPack capsule, which this call consumes, or an object with ``__dlpack__``.

    Raises:
        ArgumentTypeError: ``dlpack`` is neither.
    """
    return as_np_ndarray(shared.from_dlpack(dlpack))


def from_numpy(ndarray: np.ndarray[Any, Any], zero_copy: bool = True) -> Any:
    """Return an array of a NumPy array's values.

    Args:
        ndarray: The NumPy array, C-contiguous.
        zero_copy: Whether the result shares its memory, which then becomes read-only for NumPy.

    Raises:
        ArgumentError: ``ndarray`` is not C-contiguous, and must not be copied.
        ArgumentTypeError: It is no NumPy array.
    """
    return as_np_ndarray(shared.from_numpy(ndarray, zero_copy))
