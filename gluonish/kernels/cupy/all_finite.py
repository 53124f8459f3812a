"""Test of many arrays for infinity and NaN, with one launch for as many as fit its parameters.

All data about the arrays are parameters of the launch, as for `gluonish.kernels.cupy.optimizer`.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from gluonish.kernels.cupy.copies import contiguous
from gluonish.kernels.cupy.source import KINDS, launch_blocks
from gluonish.ops.contrib.finite import ALL_FINITE, MULTI_ALL_FINITE
from gluonish.ops.kernel import BackEnd, FastKernel

_THREADS = 256  # as in the kernel's source
_BLOCK = 1 << 14  # elements
_MOST = 200  # arrays per launch, whose parameters CUDA limits to 4 KB
_TABLE = np.dtype(
    [
        ("read", np.uint64, (1, _MOST)),
        ("sizes", np.int64, (_MOST,)),
        ("ends", np.uint32, (_MOST,)),
        ("count", np.uint32),
    ],
    align=True,
)


class FiniteTest:
    """Test of contiguous arrays, which must not be reallocated, for repeated use."""

    __slots__ = ("_arrays", "_launches", "_xp")

    def __init__(self, xp: Any, arrays: Sequence[Any]) -> None:
        self._xp, self._arrays = xp, tuple(arrays)
        by_dtype: dict[Any, list[Any]] = {}
        for x in arrays:
            if x.size:
                by_dtype.setdefault(x.dtype, []).append(x)
        self._launches = [
            (dtype, *_table(same[start : start + _MOST]))
            for dtype, same in by_dtype.items()
            for start in range(0, len(same), _MOST)
        ]

    def run(self, out: Any) -> None:
        """Write 0 to an array (1,) if an element is infinite or NaN."""
        macros, name = (("MOST", _MOST), ("BLOCK", _BLOCK)), "all_finite"
        for dtype, table, blocks in self._launches:
            launch_blocks(self._xp, name, name, dtype, (table, out), (blocks,), _THREADS, macros)


def _table(arrays: Sequence[Any]) -> tuple[Any, int]:
    """Return the Table of arrays of one dtype, and the number of blocks."""
    table = np.zeros(1, _TABLE)  # CuPy passes an array of size 1 by value
    fields, count = table[0], len(arrays)
    ends = list(accumulate(-(-x.size // _BLOCK) for x in arrays))
    fields["read"][0, :count] = [x.data.ptr for x in arrays]
    fields["sizes"][:count] = [x.size for x in arrays]
    fields["ends"][:count] = ends
    fields["count"] = count
    return table, ends[-1]


def _run(xp: Any, out: Any, *arrays: Any, init_output: bool, **_: object) -> None:
    if init_output:
        out.fill(1)
    FiniteTest(xp, [contiguous(xp, x) for x in arrays]).run(out)


def _supports(*arrays: Any, init_output: bool, **_: Any) -> bool:
    # Without init_output any other number in out becomes 1.
    return init_output and all(x.dtype in KINDS for x in arrays)


KERNELS = tuple(
    (op, FastKernel(BackEnd.CUPY, op.name, _supports, run=_run))
    for op in (ALL_FINITE, MULTI_ALL_FINITE)
)
