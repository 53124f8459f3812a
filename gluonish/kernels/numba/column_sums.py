"""The sums over all axes but the last, such as the gradient of a bias: rows are added one by one,
or rather four by four, each thread adding its own columns, in float64. Float32 only."""

from collections.abc import Sequence
from ctypes import c_int64, sizeof
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.numba.compiler import KernelError, available, compile_kernel
from gluonish.kernels.numba.plan import Bound, KernelPlan
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.onednn.memory import Array, address
from gluonish.ops.reduction import SUM, reduced_axes
from gluonish.ops.registry import Attrs, FastKernel

__all__ = ["add_rows", "hang"]

_SMALL = 1 << 12  # elements below which NumPy is as fast in a single call
_PLANNED = 1 << 16  # elements up to which a planned call is faster, whatever the columns
_COLUMNS = 64  # that a thread adds, at least: eight cache lines of sums
_GRAIN = 1 << 15  # elements that are worth a thread: 2 us

# Words: out, matrix, rows, columns, sums. The extent is the columns.
_SOURCE = """
def body(begin, end, words):
    out, x, rows, columns, sums = f32(words[0]), f32(words[1]), words[2], words[3], f64(words[4])
    for j in range(begin, end):
        independent()
        sums[j] = 0.0
    whole = rows - rows % 4
    for i in range(0, whole, 4):
        first = i * columns
        second = first + columns
        third = second + columns
        fourth = third + columns
        for j in range(begin, end):
            independent()
            left = float64(x[first + j]) + float64(x[second + j])
            sums[j] = sums[j] + (left + (float64(x[third + j]) + float64(x[fourth + j])))
    for i in range(whole, rows):
        at = i * columns
        for j in range(begin, end):
            independent()
            sums[j] = sums[j] + float64(x[at + j])
    for j in range(begin, end):
        independent()
        out[j] = float32(sums[j])
"""
_SUMS = 4  # the word for where the sums are
_HEAD = 5  # words, behind which a plan has them


class _SumsPlan(KernelPlan):
    """A plan whose words end with memory for the sums."""

    __slots__ = ()

    def __init__(self, rows: int, columns: int) -> None:
        words = [0] * (_HEAD + columns)
        words[2:4] = rows, columns
        super().__init__(compile_kernel(_SOURCE, ()), words, columns, _grain(rows))

    def new_words(self) -> tuple[Any, int]:
        """Return words of one's own, and their address."""
        words, at = super().new_words()
        words[_SUMS] = at + _HEAD * sizeof(c_int64)
        return words, at


def _grain(rows: int) -> int:
    return max(_COLUMNS, _GRAIN // max(1, rows))


def add_rows(out: Array, matrix: Array) -> None:
    """Fill ``out`` (columns,) with the sum of the rows of a contiguous ``matrix``."""
    rows, columns = matrix.shape
    target = out if out.flags.c_contiguous else np.empty(columns, np.float32)
    sums = np.empty(columns, np.float64)
    words = np.array([address(target), address(matrix), rows, columns, address(sums)], np.int64)
    compile_kernel(_SOURCE, ())(columns, words, _grain(rows))
    if target is not out:
        out[...] = target


def _takes(data: Spec, *, axis: Shape | None, exclude: bool, **_: Any) -> bool:
    if data.dtype != FLOAT32 or len(data.shape) < 2:
        return False
    leading = tuple(range(len(data.shape) - 1))
    axes = reduced_axes("sum", len(data.shape), axis, exclude)
    if tuple(sorted(axes)) != leading:
        return False
    return 0 < data.size <= _PLANNED or _pays(data.size, data.shape[-1])


def _pays(size: int, columns: int) -> bool:
    """Whether a single call is faster than NumPy's."""
    return size >= _SMALL and columns > 1


def _sum(xp: ModuleType, out: Array, data: Array, **attrs: Any) -> None:
    columns = data.shape[-1]
    if not _pays(data.size, columns):  # in float64, too, so that planned calls give equal bits
        leading = tuple(range(data.ndim - 1))
        out.reshape(columns)[...] = np.add.reduce(data, axis=leading, dtype=np.float64)
        return
    add_rows(out.reshape(columns), np.ascontiguousarray(data).reshape(-1, columns))


def _plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    (out,), (data,) = outputs, inputs
    if not (out.flags.c_contiguous and data.flags.c_contiguous):
        raise RefusedError(f"sum: expected contiguous arrays, got strides {data.strides}")
    try:
        plan = _SumsPlan(data.size // data.shape[-1], data.shape[-1])
    except KernelError as error:
        raise RefusedError(f"sum: {error}") from error
    return Bound(plan, (0, 1))


def hang() -> None:
    """Hang the kernel on its operator, in front of those that are there."""
    fast = FastKernel("numba.column_sums", _takes, _sum, available, _plan)
    SUM.hang(fast)


hang()
