"""LayerNorm's gradients over the last axis, for many rows, in one pass over memory.

The gradients of gamma and beta sum blocks of `_BLOCK` rows in float32, and the blocks in float64.
Each chunk of rows has separate sums; chunks do not depend on the number of threads, so neither do
results. Float32 only.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.compiler.typed_values import SCRATCH_SUMS
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.normalization.layer_norm import LAYER_NORM_BACKWARD
from gluonish.ops.registry import Attrs

# Elements up to which `gluonish.kernels.generated.softmax_and_norms` is used for short rows.
_SMALL = 1 << 13
_SHORT = 8  # elements per row below which the loops over a row do not pay
_MANY = 256  # rows from which the order of summation matters
_CHUNKS = 32
_BLOCK = 16

# Params: 0 rows per chunk, 1 total rows, 2 elements per row; then addresses. Arrays of sums are
# (chunks, 2, elements per row), in float64, and in float32 for a block.
_SOURCE = f"""
def body(begin, end, params):
    step, rows, count = params[0], params[1], params[2]
    out, grad, x, gamma = f32(params[3]), f32(params[4]), f32(params[5]), f32(params[6])
    means, stds, sums, partial = f32(params[7]), f32(params[8]), f64(params[9]), f32(params[10])
    divisor = float32(count)
    for chunk in range(begin, end):
        first = chunk * 2 * count
        second = first + count
        for j in range(2 * count):
            independent()
            sums[first + j] = 0.0
            partial[first + j] = float32(0)
        row = chunk * step
        stop = min(row + step, rows)
        while row < stop:
            block = min(row + {_BLOCK}, stop)
            while row < block:
                at = row * count
                mean = means[row]
                scale = float32(1) / stds[row]
                total = float32(0)
                product = float32(0)
                for j in range(count):
                    g = grad[at + j] * gamma[j]
                    total += g
                    product += g * ((x[at + j] - mean) * scale)
                total = total / divisor
                product = product / divisor
                for j in range(count):
                    independent()
                    g = grad[at + j]
                    y = (x[at + j] - mean) * scale
                    partial[first + j] += g * y
                    partial[second + j] += g
                    out[at + j] = (g * gamma[j] - y * product - total) * scale
                row += 1
            for j in range(2 * count):
                independent()
                sums[first + j] += float64(partial[first + j])
                partial[first + j] = float32(0)
"""


def _run(
    xp: ModuleType,
    outputs: tuple[Array, ...],
    grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    std: Array,
    **_: Any,
) -> None:
    d_data, d_gamma, d_beta = outputs
    arrays = (d_data, grad, data, gamma, mean, std)
    if not all(x.flags.c_contiguous for x in arrays):
        raise RefusedError("layer_norm_backward: expected contiguous arrays, got strided ones")
    count = gamma.size
    rows = data.size // count
    step = -(-rows // _CHUNKS)
    chunks = -(-rows // step)
    sums = np.empty((chunks, 2, count), np.float64)
    partial = np.empty((chunks, 2, count), np.float32)
    params = np.array([step, rows, count, *map(address, (*arrays, sums, partial))], np.int64)
    compile_kernel(_SOURCE)(chunks, params, 1)
    d_gamma[...], d_beta[...] = sums.sum(axis=0)


def _compile(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> None:
    compile_kernel(_SOURCE)


def _supports(grad: Spec, data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
    if not MXNET_USE_FUSION.value or any(x.dtype != FLOAT32 for x in (grad, data, *rest)):
        return False
    rank, count = len(data.shape), data.shape[-1]
    if axis % rank != rank - 1 or count < _SHORT or not data.size:
        return False
    return data.size >= _MANY * count if data.size > _SMALL else 2 * count > SCRATCH_SUMS


KERNELS = (
    (
        LAYER_NORM_BACKWARD,
        FastKernel(
            BackEnd.GENERATED,
            "layer_norm_backward_chunks",
            _supports,
            run=_run,
            compiles=_compile,
            enabled=available,
        ),
    ),
)
