"""Arrays in host memory, for sequential algorithms.

Non-maximum suppression, LAPACK's unsymmetric eigenvalues and OpenCV run on the host for any device.
`to_host` synchronizes with the device; all other device work stays asynchronous.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.ops.support.precision import widen


def to_host(xp: ModuleType, array: Any) -> np.ndarray[Any, Any]:
    """Return an array of ``xp`` as a NumPy array: itself, or a copy from the device."""
    host: np.ndarray[Any, Any] = array if xp is np else xp.asnumpy(array)
    return host


def widened_on_host(xp: ModuleType, array: Any) -> np.ndarray[Any, Any]:
    """Return an array as a NumPy array, with 16-bit floats widened to float32."""
    wide: np.ndarray[Any, Any] = widen(to_host(xp, array))
    return wide
