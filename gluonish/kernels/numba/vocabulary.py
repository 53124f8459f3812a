"""Generated kernels for large vocabularies: the loss over many classes, and the gradient of an
embedding. Float32 only."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.numba.compiler import available, compile_kernel
from gluonish.kernels.onednn.memory import Array, address
from gluonish.ops.embedding import EMBEDDING_BACKWARD
from gluonish.ops.log_softmax_pick import LOG_SOFTMAX_PICK, LOG_SOFTMAX_PICK_BACKWARD
from gluonish.ops.registry import FastKernel, Operator
from gluonish.ops.take import whole_positions

__all__ = ["hang"]

_SMALL = 1 << 9  # elements below which NumPy's calls cost less than compiling pays back
_GRAIN = 1 << 14  # elements that are worth a thread
_COLUMNS = 64  # of an embedding's gradient that are worth a thread

_LANES = 64
_IN_ORDER = ("contract",)  # keeps the order of differences

# Words: data, positions, results, maxima of the rows, logarithms of the sums of exponentials of
# what is left, elements of a row, maxima of each row by its lane. A maximum that minds NaN does not
# vectorize as a sum would; lanes in memory do. The fma keeps the order of the two differences.
_FORWARD = """
def body(begin, end, words):
    x, positions, out = f32(words[0]), i64(words[1]), f32(words[2])
    tops, logs, count, lanes = f32(words[3]), f32(words[4]), words[5], f32(words[6])
    whole = count - count % 64
    for i in range(begin, end):
        at = i * count
        lane = 64 * i
        for j in range(64):
            lanes[lane + j] = x[at]
        for block in range(0, whole, 64):
            for j in range(64):
                independent()
                lanes[lane + j] = maximum(lanes[lane + j], x[at + block + j])
        top = lanes[lane]
        for j in range(64):
            top = maximum(top, lanes[lane + j])
        for j in range(whole, count):
            top = maximum(top, x[at + j])
        total = float32(0)
        for j in range(count):
            total += exp(x[at + j] - top)
        tops[i] = top
        logs[i] = log(total)
        out[i] = fma(float32(1), x[at + positions[i]] - top, -log(total))
"""

# Words: result, gradients, data, positions, maxima, logarithms, elements of a row.
_BACKWARD = """
def body(begin, end, words):
    out, grad, x = f32(words[0]), f32(words[1]), f32(words[2])
    positions, tops, logs, count = i64(words[3]), f32(words[4]), f32(words[5]), words[6]
    for i in range(begin, end):
        at = i * count
        g = grad[i]
        top = tops[i]
        log_total = logs[i]
        for j in range(count):
            independent()
            out[at + j] = -g * exp(x[at + j] - top - log_total)
        out[at + positions[i]] = out[at + positions[i]] + g
"""

# Words: result, gradients, positions, rows of the gradient, columns, rows of the result. Each
# thread has columns of its own, so that rows that come twice need no care.
_EMBEDDING = """
def body(begin, end, words):
    out, grad, positions = f32(words[0]), f32(words[1]), i64(words[2])
    rows, columns, size = words[3], words[4], words[5]
    for i in range(size):
        at = i * columns
        for j in range(begin, end):
            independent()
            out[at + j] = float32(0)
    for i in range(rows):
        at = i * columns
        to = positions[i] * columns
        for j in range(begin, end):
            independent()
            out[to + j] = out[to + j] + grad[at + j]
"""


def _positions(index: Array, extent: int, mode: str = "clip") -> Array:
    return np.ascontiguousarray(whole_positions(np, "pick", index, extent, mode)).reshape(-1)


def _words(*values: Any) -> Array:
    return np.array([address(v) if isinstance(v, np.ndarray) else v for v in values], np.int64)


def _takes_rows(data: Spec, *, axis: int) -> bool:
    along = axis % len(data.shape) == len(data.shape) - 1
    return along and data.dtype == FLOAT32 and data.size >= _SMALL


def _takes_pick(data: Spec, index: Spec, *, axis: int, **_: Any) -> bool:
    return _takes_rows(data, axis=axis)


def _pick(
    xp: ModuleType,
    outputs: tuple[Array, Array, Array],
    data: Array,
    index: Array,
    *,
    axis: int,
    keepdims: bool,
    mode: str,
) -> None:
    data = np.ascontiguousarray(data)
    count = data.shape[-1]
    positions = _positions(index, count, mode)
    lanes = np.empty((len(positions), _LANES), np.float32)
    words = _words(data, positions, *outputs, count, lanes)
    compile_kernel(_FORWARD)(len(positions), words, max(1, _GRAIN // count))


def _takes_pick_backward(grad: Spec, data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
    return grad.dtype == FLOAT32 and _takes_rows(data, axis=axis)


def _pick_backward(
    xp: ModuleType,
    out: Array,
    grad: Array,
    data: Array,
    index: Array,
    top: Array,
    log_total: Array,
    *,
    axis: int,
    keepdims: bool,
    mode: str,
) -> None:
    grad, data, top, log_total = map(np.ascontiguousarray, (grad, data, top, log_total))
    count = data.shape[-1]
    positions = _positions(index, count, mode)
    words = _words(out, grad, data, positions, top, log_total, count)
    compile_kernel(_BACKWARD, _IN_ORDER)(len(positions), words, max(1, _GRAIN // count))


def _takes_embedding(grad: Spec, data: Spec, *, input_dim: int, output_dim: int, **_: Any) -> bool:
    return grad.dtype == FLOAT32 and input_dim * output_dim >= _SMALL


def _embedding_backward(
    xp: ModuleType,
    out: Array,
    grad: Array,
    data: Array,
    *,
    input_dim: int,
    output_dim: int,
    **_: Any,
) -> None:
    grad = np.ascontiguousarray(grad)
    positions = _positions(data, input_dim)
    words = _words(out, grad, positions, len(positions), output_dim, input_dim)
    compile_kernel(_EMBEDDING)(output_dim, words, _COLUMNS)


_KERNELS: tuple[tuple[Operator, Any, Any], ...] = (
    (LOG_SOFTMAX_PICK, _takes_pick, _pick),
    (LOG_SOFTMAX_PICK_BACKWARD, _takes_pick_backward, _pick_backward),
    (EMBEDDING_BACKWARD, _takes_embedding, _embedding_backward),
)


def hang() -> None:
    """Hang the kernels on their operators, in front of those that are there."""
    for op, takes, kernel in _KERNELS:
        fast = FastKernel(f"numba.{op.name[1:]}", takes, kernel, available)
        op.fast_kernels = (fast, *op.fast_kernels)


hang()
