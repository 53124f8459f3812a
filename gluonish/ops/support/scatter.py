"""Scatter-add with repeated indices, for the gradients of gather operators.

CuPy uses atomic instructions, which CUDA provides for floats, 32-bit integers and uint64. On a GPU
the order of additions, and thus the last bits of a float sum, varies from run to run, unless
``MXNET_ENFORCE_DETERMINISM`` is set: floats are then summed on the host.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENFORCE_DETERMINISM
from gluonish.core.dtype import INT32, INT64, is_floating
from gluonish.ops.support.host import to_host
from gluonish.ops.support.precision import accumulator


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
