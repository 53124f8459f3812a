"""Arrays in main memory, for algorithms that go element by element.

What decides one box by those before it, needs LAPACK's unsymmetric eigenvalues, or calls OpenCV,
runs on the host whatever the device. `to_host` waits for the device; everything else that a
kernel does there stays behind the host.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.ops.support.precision import widen


def to_host(xp: ModuleType, array: Any) -> np.ndarray[Any, Any]:
    """Return an array of ``xp`` as one of NumPy: itself, or a copy of a device's.

    Args:
        array: Array of that module, any shape and dtype.
    """
    host: np.ndarray[Any, Any] = array if xp is np else xp.asnumpy(array)
    return host


def widened_on_host(xp: ModuleType, array: Any) -> np.ndarray[Any, Any]:
    """Return an array in NumPy, 16-bit floats in float32.

    Args:
        array: Array of that module, any shape and dtype.
    """
    wide: np.ndarray[Any, Any] = widen(to_host(xp, array))
    return wide
