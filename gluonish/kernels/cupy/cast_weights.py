"""Casts of many weights in one launch, from and to either memory layout.

All data about the weights are parameters of the launch, as for `gluonish.kernels.cupy.optimizer`.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous, copy
from gluonish.kernels.cupy.memory_layout import empty_like, is_dense
from gluonish.kernels.cupy.source import launch_blocks
from gluonish.ops.fused.cast_weights import CAST_WEIGHTS
from gluonish.ops.kernel import BackEnd, FastKernel

_THREADS = 256  # as in the kernel's source
_TILE = 4096  # elements
_MOST = 140  # weights per launch, whose parameters CUDA limits to 4 KB
_DTYPES = (FLOAT32, FLOAT16, BFLOAT16)
_LIMIT_32 = 2**31
_TABLE = np.dtype(
    [
        ("written", np.uint64, (_MOST,)),
        ("read", np.uint64, (_MOST,)),
        ("channels", np.uint32, (_MOST,)),
        ("windows", np.uint32, (_MOST,)),
        ("ends", np.uint32, (_MOST,)),
        ("count", np.uint32),
    ],
    align=True,
)


def _shape(target: Any, source: Any) -> tuple[int, int, int]:
    """Return rows, channels and window of a weight."""
    if target.flags.c_contiguous == source.flags.c_contiguous:
        return 1, target.size, 1
    filters, channels, *kernel = target.shape
    return filters, channels, math.prod(kernel)


def _blocks(rows: int, channels: int, window: int) -> int:
    return rows * -(-channels // (_TILE // window))


def _cast(xp: Any, pairs: Sequence[tuple[Any, Any]], *, back: bool) -> None:
    """Fill dense arrays from dense ones, as many as fit a launch.

    Args:
        pairs: Arrays to fill, and their sources.
        back: Whether sources whose layout differs are channels last, and not the targets.
    """
    targets, sources = zip(*pairs, strict=True)
    shapes = [_shape(*pair) for pair in pairs]
    table = np.zeros(1, _TABLE)  # CuPy passes an array of size 1 by value
    fields, count = table[0], len(targets)
    ends = list(accumulate(_blocks(*shape) for shape in shapes))
    fields["written"][:count] = [x.data.ptr for x in targets]
    fields["read"][:count] = [x.data.ptr for x in sources]
    fields["channels"][:count] = [channels for _, channels, _ in shapes]
    fields["windows"][:count] = [window for _, _, window in shapes]
    fields["ends"][:count] = ends
    fields["count"] = count
    dtype = targets[0].dtype
    narrows = int(sources[0].dtype != dtype)
    macros = (("MOST", _MOST), ("TILE", _TILE), ("NARROWS", narrows), ("BACK", int(back)))
    name = "cast_weights"
    launch_blocks(xp, name, name, dtype, (table,), (ends[-1],), _THREADS, macros)


def _run(xp: Any, out: Any, *weights: Any, **_: object) -> None:
    outputs = out if isinstance(out, tuple) else (out,)
    targets = [_target(xp, output) for output in outputs]
    there: list[tuple[Any, Any]] = []
    back: list[tuple[Any, Any]] = []
    for target, weight in zip(targets, weights, strict=True):
        source = weight if _is_dense(weight) else contiguous(xp, weight)
        is_back = target.flags.c_contiguous and not source.flags.c_contiguous
        (back if is_back else there).append((target, source))
    for pairs in (there, back):
        for start in range(0, len(pairs), _MOST):
            _cast(xp, pairs[start : start + _MOST], back=pairs is back)
    for output, target in zip(outputs, targets, strict=True):
        if output is not target:
            copy(xp, output, target)


def _is_dense(array: Any) -> bool:
    """Whether an array is contiguous, or channels last."""
    return array.flags.c_contiguous or (array.ndim > 2 and is_dense(array, last=True))


def _target(xp: Any, out: Any) -> Any:
    """Return an array to fill: the output if it is dense, or a contiguous one."""
    return out if _is_dense(out) else empty_like(xp, out, last=False)


def _supports(*weights: Spec, dtype: np.dtype[Any], **_: Any) -> bool:
    source = weights[0].dtype
    return (
        dtype in _DTYPES
        and source in (FLOAT32, dtype)
        and all(x.dtype == source and 0 < x.size < _LIMIT_32 for x in weights)
        and all(math.prod(x.shape[2:]) <= _TILE for x in weights)
    )


KERNELS = (
    (
        CAST_WEIGHTS,
        FastKernel(BackEnd.CUPY, "cast_weights", _supports, run=_run, makes=_DTYPES),
    ),
)
