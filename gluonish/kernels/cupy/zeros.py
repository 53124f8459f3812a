"""Zeros in many arrays by one launch: gradients that are known to be zero, and reset_arrays.

Addresses and sizes are parameters of the launch, as for `gluonish.kernels.cupy.optimizer`.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.source import launch_blocks
from gluonish.ops.contrib.many_arrays import RESET_ARRAYS
from gluonish.ops.fused.zeros_like_many import ZEROS_LIKE_MANY
from gluonish.ops.kernel import BackEnd, FastKernel

_THREADS = 256  # as in zeros.cu
_CHUNK = 1 << 14  # bytes
_MOST = 200  # arrays per launch, whose parameters CUDA limits to 4 KB
_TABLE = np.dtype(
    [
        *(("written", np.uint64, (_MOST,)), ("sizes", np.uint64, (_MOST,))),
        *(("ends", np.uint32, (_MOST,)), ("count", np.uint32)),
    ],
    align=True,
)


def _fill(xp: Any, arrays: Sequence[Any]) -> None:
    """Set contiguous arrays to zero, as many as fit a launch."""
    table = np.zeros(1, _TABLE)  # CuPy passes an array of size 1 by value
    fields, count = table[0], len(arrays)
    sizes = np.array([x.nbytes for x in arrays], np.uint64)
    ends = np.cumsum(-(-sizes.astype(np.int64) // _CHUNK))
    fields["written"][:count] = [x.data.ptr for x in arrays]
    fields["sizes"][:count] = sizes
    fields["ends"][:count] = ends
    fields["count"] = count
    macros = (("MOST", _MOST), ("CHUNK", _CHUNK))
    launch_blocks(xp, "zeros", "fill_zeros", FLOAT32, (table,), (int(ends[-1]),), _THREADS, macros)


def _zero(xp: Any, arrays: Sequence[Any]) -> None:
    dense = [x for x in arrays if x.size and x.flags.c_contiguous]
    for start in range(0, len(dense), _MOST):
        _fill(xp, dense[start : start + _MOST])
    for array in arrays:
        if not array.flags.c_contiguous:
            array[...] = 0


def _zeros_like_many(xp: ModuleType, out: Any, *data: Any, **_: object) -> None:
    _zero(xp, out if isinstance(out, tuple) else (out,))


def _reset_arrays(xp: ModuleType, out: Any, *arrays: Any, **_: object) -> None:
    _zero(xp, (*out, *arrays))


def _supports(*data: Spec, **_: Any) -> bool:
    return True


KERNELS = (
    (
        ZEROS_LIKE_MANY,
        FastKernel(
            *(BackEnd.CUPY, "zeros_like_many", _supports),
            run=_zeros_like_many,
            makes=(FLOAT16, BFLOAT16, FLOAT32, FLOAT64),
        ),
    ),
    (RESET_ARRAYS, FastKernel(BackEnd.CUPY, "reset_arrays", _supports, run=_reset_arrays)),
)
