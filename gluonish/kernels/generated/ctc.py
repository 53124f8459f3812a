"""CTCLoss in float32: forward and backward recursions; a thread runs one sequence at a time.

Probabilities are logarithms; log(0) is a large negative number, so that the loops over states need
no special case.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import compile_kernel
from gluonish.kernels.generated.support import enabled
from gluonish.ops.kernel import BackEnd, FastKernel, address
from gluonish.ops.outputs.ctc_loss import CTC_LOSS, lengths_of, states_of, whole_labels

_SMALL = 1 << 9  # states, over all time steps, below which compiling does not pay
_GRAIN = 1 << 12  # minimum states for each thread
_LOW = -1e30  # the logarithm of 0

# Params: loss, gradient, data, states (N, S), skips (N, S + 2), steps (N), labels (N), buffer for
# all forward logarithms (N, T, S + 2), buffer for three rows (N, 3, S + 2); T, N, classes, S.
# The gradient holds log probabilities until the backward recursion has used them.
_SOURCE = """
def body(begin, end, params):
    loss, grad, data = f32(params[0]), f32(params[1]), f32(params[2])
    states, skips = i64(params[3]), f32(params[4])
    lengths, counts = i64(params[5]), i64(params[6])
    alpha, rows = f32(params[7]), f32(params[8])
    steps, batch, classes, width = params[9], params[10], params[11], params[12]
    low = float32(-1e30)
    zero = float32(0)
    long = width + 2
    for n in range(begin, end):
        state = n * width
        skip = n * long
        live = lengths[n]
        last = 2 * counts[n]
        beta = 3 * n * long
        after = beta + long
        share = after + long
        for t in range(live):
            at = (t * batch + n) * classes
            top = data[at]
            for c in range(1, classes):
                top = maximum(top, data[at + c])
            total = zero
            for c in range(classes):
                total += exp(data[at + c] - top)
            norm = top + log(total)
            for c in range(classes):
                independent()
                grad[at + c] = data[at + c] - norm
            now = (n * steps + t) * long
            before = now - long
            alpha[now] = low
            alpha[now + 1] = low
            if t == 0:
                for s in range(width):
                    independent()
                    alpha[now + 2 + s] = low
                alpha[now + 2] = grad[at + states[state]]
                if width > 1:
                    alpha[now + 3] = grad[at + states[state + 1]]
            else:
                for s in range(width):
                    independent()
                    x = alpha[before + 2 + s]
                    y = alpha[before + 1 + s]
                    z = alpha[before + s] + skips[skip + s]
                    m = maximum(maximum(x, y), z)
                    alpha[now + 2 + s] = m + log(exp(x - m) + exp(y - m) + exp(z - m))
                for s in range(width):
                    alpha[now + 2 + s] += grad[at + states[state + s]]
        log_total = low
        if live > 0:
            now = (n * steps + live - 1) * long + 1 + last
            m = maximum(alpha[now + 1], alpha[now])
            log_total = m + log(exp(alpha[now + 1] - m) + exp(alpha[now] - m))
        if log_total < float32(-1e29):
            live = 0
            log_total = zero
        loss[n] = zero - log_total
        for i in range(2 * long):
            independent()
            rows[beta + i] = low
        for k in range(live):
            t = live - 1 - k
            at = (t * batch + n) * classes
            now = (n * steps + t) * long + 2
            if k == 0:
                rows[beta + last] = zero
                if last > 0:
                    rows[beta + last - 1] = zero
            else:
                for s in range(width):
                    independent()
                    x = rows[after + s]
                    y = rows[after + s + 1]
                    z = rows[after + s + 2] + skips[skip + s + 2]
                    m = maximum(maximum(x, y), z)
                    rows[beta + s] = m + log(exp(x - m) + exp(y - m) + exp(z - m))
            for s in range(width):
                independent()
                rows[share + s] = exp(alpha[now + s] + rows[beta + s] - log_total)
            for s in range(width):
                rows[after + s] = rows[beta + s] + grad[at + states[state + s]]
            for c in range(classes):
                independent()
                grad[at + c] = exp(grad[at + c])
            for s in range(width):
                grad[at + states[state + s]] -= rows[share + s]
        for t in range(live, steps):
            at = (t * batch + n) * classes
            for c in range(classes):
                independent()
                grad[at + c] = zero
"""


def _supports(data: Spec, label: Spec, *_: Spec, **_attrs: Any) -> bool:
    states = data.shape[0] * data.shape[1] * (2 * label.shape[1] + 1)
    return data.dtype == FLOAT32 and data.size > 0 and states >= _SMALL


def _kernel(
    xp: ModuleType, outputs: tuple[Any, Any], data: Any, label: Any, *optional: Any, **attrs: Any
) -> None:
    loss, grad = outputs
    kernel = compile_kernel(_SOURCE, ("contract", "reassoc", "functions"))
    data = np.ascontiguousarray(data)
    steps, batch, classes = data.shape
    lengths, counts = lengths_of(xp, data, label, optional, attrs)
    labels = whole_labels(xp, label, counts, classes)
    states, may_skip, _ = states_of(xp, labels, counts, attrs["blank_label"], classes)
    width = states.shape[1]
    skips = np.full((batch, width + 2), _LOW, FLOAT32)
    skips[:, :width][may_skip] = 0
    alpha = np.empty((batch, steps, width + 2), FLOAT32)
    rows = np.empty((batch, 3, width + 2), FLOAT32)
    arrays = (loss, grad, data, states, skips, lengths, counts, alpha, rows)
    params = np.array([*map(address, arrays), steps, batch, classes, width], dtype=np.int64)
    kernel(batch, params, max(1, _GRAIN // (steps * width)))


KERNELS = (
    (CTC_LOSS, FastKernel(BackEnd.GENERATED, "ctc_loss", _supports, run=_kernel, enabled=enabled)),
)
