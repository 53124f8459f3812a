"""Arrays in host memory, for sequential algorithms.

Non-maximum suppression, LAPACK's unsymmetric eigenvalues and OpenCV run on the host for any device.
`to_host` synchronizes with the device; all other device work stays asynchronous.

`fill_at_once` writes a kernel's results in one call per array.

A signal handler may run between two calls of a kernel in the same thread. If it reads an array that
the kernel fills in steps (to save the weights, for example), it would see intermediate values.

`add_at` is a scatter-add with repeated indices, for the gradients of gather operators.

CuPy uses atomic instructions, which CUDA provides for floats, 32-bit integers and uint64. On a GPU
the order of additions, and thus the last bits of a float sum, varies from run to run, unless
``MXNET_ENFORCE_DETERMINISM`` is set: floats are then summed on the host.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENFORCE_DETERMINISM
from gluonish.core.dtype import INT32, INT64, is_floating
from gluonish.ops.kernel import Kernel
from gluonish.ops.support.precision import accumulator, widen


def to_host(xp: ModuleType, array: Any) -> np.ndarray[Any, Any]:
    """Return an array of ``xp`` as a NumPy array: itself, or a copy from the device."""
    host: np.ndarray[Any, Any] = array if xp is np else xp.asnumpy(array)
    return host


def widened_on_host(xp: ModuleType, array: Any) -> np.ndarray[Any, Any]:
    """Return an array as a NumPy array, with 16-bit floats widened to float32."""
    wide: np.ndarray[Any, Any] = widen(to_host(xp, array))
    return wide


def fill_at_once(kernel: Kernel, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    """Run a kernel on scratch memory, then copy each result to ``out``."""
    several = isinstance(out, tuple)
    targets = out if several else (out,)
    fresh = tuple(map(xp.empty_like, targets))
    kernel(xp, fresh if several else fresh[0], *inputs, **attrs)
    for target, value in zip(targets, fresh, strict=True):
        target[...] = value


def scatter_accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the accumulator dtype of scatter-add for ``dtype``."""
    narrow = dtype.kind in "biu" and dtype.itemsize < INT32.itemsize
    return INT32 if narrow else accumulator(dtype)


def add_at(xp: ModuleType, total: Any, index: Any, values: Any) -> None:
    """Add ``values`` to ``total[index]``, including repeated indices.

    ``total`` has a dtype of `scatter_accumulator`, and ``values`` the same.
    """
    if total.dtype == INT64:  # the sum has the same bits
        total, values = total.view(xp.uint64), values.view(xp.uint64)
    if xp is not np and is_floating(total.dtype) and MXNET_ENFORCE_DETERMINISM.value:
        _add_in_order(xp, total, index, values)
        return
    xp.add.at(total, index, values)


def _add_in_order(xp: ModuleType, total: Any, index: Any, values: Any) -> None:
    """Add like `add_at`, on the host in the order of the index."""
    sums = to_host(xp, total)
    parts = index if isinstance(index, tuple) else (index,)
    there = tuple(to_host(xp, part) if hasattr(part, "shape") else part for part in parts)
    np.add.at(sums, there, to_host(xp, values))
    total[...] = xp.asarray(sums)
