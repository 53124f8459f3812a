"""Adding at positions that may repeat: the sums behind the gradients of gathering operators.

CuPy adds with atomic instructions, which CUDA has for floats and for integers of 32 and of unsigned
64 bits. On a GPU the order of the additions, and so the last bits of a float sum, differ from run
to run.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT32, INT64
from gluonish.ops.precision import accumulator

__all__ = ["add_at", "scatter_accumulator"]


def scatter_accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which values of ``dtype`` are added up at positions."""
    narrow = dtype.kind in "biu" and dtype.itemsize < INT32.itemsize
    return INT32 if narrow else accumulator(dtype)


def add_at(xp: ModuleType, total: Any, index: Any, values: Any) -> None:
    """Add ``values`` to ``total[index]``, as often as a position is in the index.

    Args:
        xp: NumPy or CuPy.
        total: Sums so far, of a dtype that `scatter_accumulator` gives.
        index: Positions, as for indexing.
        values: Same dtype.
    """
    if total.dtype == INT64:  # the sum has the same bits
        total, values = total.view(xp.uint64), values.view(xp.uint64)
    xp.add.at(total, index, values)
