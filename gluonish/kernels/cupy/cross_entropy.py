"""The cross entropy of class indices and its gradient: one launch each, one pass over the scores.

Scores of 16 bits are read as they are and computed in float32; so are gradients written, if the
plan allows in the memory of the scores.
"""

from math import prod
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.rows import (
    LIMIT_32,
    MOST_THREADS,
    THREADS,
    copy_back,
    launch_rows,
    power_above,
    targets,
)
from gluonish.kernels.cupy.source import KINDS, Macros, index, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.log_softmax_pick import LOG_SOFTMAX_PICK, LOG_SOFTMAX_PICK_BACKWARD
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import accumulator

_SOURCE = "cross_entropy"
_SHORT = 2048  # elements up to which one warp computes a row
_FEW_ROWS = 256  # below which a row gets as many threads as a block may have

# cudaDataType (library_types.h) of class indices.
_LABELS = {
    **KINDS,
    np.dtype(np.int8): 3,
    np.dtype(np.uint8): 8,
    np.dtype(np.bool_): 8,
    np.dtype(np.int32): 10,
    np.dtype(np.int64): 24,
}


def _lanes(rows: int, size: int) -> int:
    """Return the number of threads per row."""
    if size <= _SHORT:
        return min(32, power_above(-(-size // 2)))
    return THREADS if rows >= _FEW_ROWS else MOST_THREADS


def _launch(
    xp: Any,
    function: str,
    arrays: tuple[Any, ...],
    data: Any,
    labels: Any,
    *,
    axis: int,
    mode: str,
    scale: float,
    wide: bool,
    **_: Any,
) -> None:
    """Run a kernel, or its variant for rows along another axis than the last."""
    macros: Macros = (
        ("LABEL", _LABELS[labels.dtype]),
        ("WRAP", int(mode == "wrap")),
        ("WIDE_LOSS", int(wide)),
    )
    axis %= data.ndim
    size, inner = data.shape[axis], prod(data.shape[axis + 1 :])
    rows = data.size // size
    factor = accumulator(data.dtype).type(scale)
    if inner == 1:
        shape, lanes = (rows, size), _lanes(rows, size)
        launch_rows(xp, _SOURCE, function, arrays, shape, lanes, (factor,), macros, data=data)
        return
    large = data.size >= LIMIT_32
    args = (*arrays, *(index(number, large) for number in (rows, size, inner)), factor)
    function = function.replace("_pick", "_pick_columns")
    blocks = (-(-rows // THREADS),)
    launch_blocks(xp, _SOURCE, function, data.dtype, args, blocks, THREADS, macros, wide=large)


def _pick(xp: Any, outputs: tuple[Any, ...], data: Any, labels: Any, **attrs: Any) -> None:
    made = targets(xp, *outputs)
    data, labels = contiguous(xp, data), contiguous(xp, labels)
    _launch(xp, "log_softmax_pick", (data, labels, *made), data, labels, **attrs)
    copy_back(xp, outputs, made)


def _pick_backward(
    xp: Any, out: Any, grad: Any, data: Any, labels: Any, top: Any, log_total: Any, **attrs: Any
) -> None:
    made = targets(xp, out)
    arrays = tuple([contiguous(xp, x) for x in (grad, data, labels, top, log_total)])
    function = "log_softmax_pick_backward"
    _launch(xp, function, (*arrays, *made), arrays[1], arrays[2], **attrs)
    copy_back(xp, (out,), made)


def _supports(data: Spec, labels: Spec) -> bool:
    return supports_floats(data) and labels.dtype in _LABELS and bool(data.size)


def _supports_pick(data: Spec, labels: Spec, **_: Any) -> bool:
    return _supports(data, labels)


def _supports_backward(
    grad: Spec, data: Spec, labels: Spec, *saved: Spec, wide: bool, **_: Any
) -> bool:
    kind = accumulator(data.dtype)
    typed = all(spec.dtype == kind for spec in saved)
    return _supports(data, labels) and typed and grad.dtype == (kind if wide else data.dtype)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (
        LOG_SOFTMAX_PICK,
        FastKernel(
            *(BackEnd.CUPY, "log_softmax_pick", _supports_pick),
            run=_pick,
            makes=(FLOAT32,),
        ),
    ),
    (
        LOG_SOFTMAX_PICK_BACKWARD,
        FastKernel(
            BackEnd.CUPY, "log_softmax_pick_backward", _supports_backward, run=_pick_backward
        ),
    ),
)
