"""The sums over all axes but the last, such as the gradient of a bias: rows are added one by one,
each thread adding its own columns, in float64. Float32 only."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.numba.compiler import available, compile_kernel
from gluonish.kernels.onednn.memory import Array, address
from gluonish.ops.reduction import SUM, reduced_axes
from gluonish.ops.registry import FastKernel

__all__ = ["add_rows", "hang"]

_SMALL = 1 << 12  # elements below which NumPy is as fast
_COLUMNS = 64  # that are worth a thread

# Words: matrix, rows, columns, sums. The extent is the columns.
_SOURCE = """
def body(begin, end, words):
    x, rows, columns, sums = f32(words[0]), words[1], words[2], f64(words[3])
    for j in range(begin, end):
        independent()
        sums[j] = 0.0
    for i in range(rows):
        at = i * columns
        for j in range(begin, end):
            independent()
            sums[j] = sums[j] + float64(x[at + j])
"""


def add_rows(out: Array, matrix: Array) -> None:
    """Fill ``out`` (columns,) with the sum of the rows of a contiguous ``matrix``."""
    rows, columns = matrix.shape
    totals = np.empty(columns, np.float64)
    words = np.array([address(matrix), rows, columns, address(totals)], np.int64)
    compile_kernel(_SOURCE)(columns, words, _COLUMNS)
    out[...] = totals


def _takes(data: Spec, *, axis: Shape | None, exclude: bool, **_: Any) -> bool:
    if data.dtype != FLOAT32 or len(data.shape) < 2 or data.size < _SMALL:
        return False
    leading = tuple(range(len(data.shape) - 1))
    axes = reduced_axes("sum", len(data.shape), axis, exclude)
    return tuple(sorted(axes)) == leading and data.shape[-1] >= 2 * _COLUMNS


def _sum(xp: ModuleType, out: Array, data: Array, **_: Any) -> None:
    columns = data.shape[-1]
    add_rows(out.reshape(columns), np.ascontiguousarray(data).reshape(-1, columns))


def hang() -> None:
    """Hang the kernel on its operator, in front of those that are there."""
    fast = FastKernel("numba.column_sums", _takes, _sum, available)
    SUM.fast_kernels = (fast, *SUM.fast_kernels)


hang()
