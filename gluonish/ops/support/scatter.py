"""Adding at positions that may repeat: the sums behind the gradients of gathering operators.

CuPy adds with atomic instructions, which CUDA has for floats and for integers of 32 and of unsigned
64 bits. On a GPU the order of the additions, and so the last bits of a float sum, differ from run
to run, unless ``MXNET_ENFORCE_DETERMINISM`` is set: sums of floats are then made on the host.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENFORCE_DETERMINISM
from gluonish.core.dtype import INT32, INT64, is_floating
from gluonish.ops.support.host import to_host
from gluonish.ops.support.precision import accumulator


def scatter_accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which values of ``dtype`` are added up at positions."""
    narrow = dtype.kind in "biu" and dtype.itemsize < INT32.itemsize
    return INT32 if narrow else accumulator(dtype)


def add_at(xp: ModuleType, total: Any, index: Any, values: Any) -> None:
    """Add ``values`` to ``total[index]``, as often as a position is in the index.

    Args:
        total: Sums so far, of a dtype that `scatter_accumulator` gives.
        index: Positions, as for indexing.
        values: Same dtype.
    """
    if total.dtype == INT64:  # the sum has the same bits
        total, values = total.view(xp.uint64), values.view(xp.uint64)
    if xp is not np and is_floating(total.dtype) and MXNET_ENFORCE_DETERMINISM.value:
        _add_in_order(xp, total, index, values)
        return
    xp.add.at(total, index, values)


def _add_in_order(xp: ModuleType, total: Any, index: Any, values: Any) -> None:
    """Add as `add_at` does, in the order of the index, on the host."""
    sums = to_host(xp, total)
    parts = index if isinstance(index, tuple) else (index,)
    there = tuple(to_host(xp, part) if hasattr(part, "shape") else part for part in parts)
    np.add.at(sums, there, to_host(xp, values))
    total[...] = xp.asarray(sums)
