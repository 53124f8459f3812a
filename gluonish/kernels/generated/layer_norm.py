"""LayerNorm's gradients over the last axis, for many rows, in one pass over memory.

Rows add to the gradients of gamma and beta in float32 no more than `_BLOCK` at a time; what comes
of them is added in float64. Sums are kept per chunk of the rows; chunks do not depend on the number
of threads, so neither do results. Float32 only.
"""

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

# Elements up to which `gluonish.kernels.generated.softmax_and_norms` takes rows not too long.
_SMALL = 1 << 13
_SHORT = 8  # elements of a row below which its loops hardly pay
_MANY = 256  # rows from which on it matters how they are added
_CHUNKS = 32
_BLOCK = 16

# Words: 0 rows of a chunk, 1 rows in all, 2 elements of a row; then addresses. Arrays of sums are
# (chunks, 2, elements of a row): float64, and of a block in float32.
_SOURCE = f"""
def body(begin, end, words):
    step, rows, count = words[0], words[1], words[2]
    out, grad, x, gamma = f32(words[3]), f32(words[4]), f32(words[5]), f32(words[6])
    means, stds, sums, part = f32(words[7]), f32(words[8]), f64(words[9]), f32(words[10])
    divisor = float32(count)
    for chunk in range(begin, end):
        first = chunk * 2 * count
        second = first + count
        for j in range(2 * count):
            independent()
            sums[first + j] = 0.0
            part[first + j] = float32(0)
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
                    part[first + j] += g * y
                    part[second + j] += g
                    out[at + j] = (g * gamma[j] - y * product - total) * scale
                row += 1
            for j in range(2 * count):
                independent()
                sums[first + j] += float64(part[first + j])
                part[first + j] = float32(0)
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
    part = np.empty((chunks, 2, count), np.float32)
    words = np.array([step, rows, count, *map(address, (*arrays, sums, part))], np.int64)
    compile_kernel(_SOURCE)(chunks, words, 1)
    d_gamma[...], d_beta[...] = sums.sum(axis=0)


def _takes(grad: Spec, data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
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
            BackEnd.GENERATED, "layer_norm_backward_chunks", _takes, run=_run, enabled=available
        ),
    ),
)
