"""Generated kernels of the cross-entropy loss from class indices, for few or many classes.

Scores are float32 or, for many classes, bfloat16; the loss and all sums are float32.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from struct import pack, unpack
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.loops import POSITIONS, WITHIN, readable
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.nn.log_softmax_pick import LOG_SOFTMAX_PICK, LOG_SOFTMAX_PICK_BACKWARD
from gluonish.ops.registry import Attrs, Operator

_SMALL = 1 << 9  # elements below which compiling does not pay
_GRAIN = 1 << 14  # minimum elements for each thread

_FEW = 64  # classes below which the inner loop runs over rows
_ALLOWED = ("contract", "reassoc", "functions")
_IN_ORDER = ("contract", "functions")  # keeps the order of differences

# Params: results, maxima of the rows, logarithms of the sums of shifted exponentials, data, class
# indices; elements of a row, factor. A maximum that propagates NaN does not vectorize as a
# reduction; lanes in memory do. The fma fixes the order of the two differences; the sum with 0
# makes zeros positive.
_FORWARD = """
def body(begin, end, params):
    out, tops, logs = f32(params[0]), f32(params[1]), f32(params[2])
    x, positions, count = f32(params[3]), {view}(params[4]), params[5]
    scale = float32(as_float(params[6]))
    full = count - count % 64
    lanes = scratch()
    for i in range(begin, end):
        at = i * count
        for j in range(64):
            independent()
            lanes[j] = bits_of_float(x[at])
        for block in range(0, full, 64):
            for j in range(64):
                independent()
                lane = float_of_bits(lanes[j])
                lanes[j] = bits_of_float(maximum(lane, x[at + block + j]))
        top = x[at]
        for j in range(64):
            top = maximum(top, float_of_bits(lanes[j]))
        for j in range(full, count):
            top = maximum(top, x[at + j])
        total = float32(0)
        for j in range(count):
            total += exp(x[at + j] - top)
        tops[i] = top
        logs[i] = log(total)
        chosen = {number}
        chosen = {within}
        out[i] = scale * fma(float32(1), x[at + chosen] - top, -log(total)) + float32(0)
"""

# The same for few classes: loops over many rows for each class.
_FORWARD_FEW = """
def body(begin, end, params):
    out, tops, logs = f32(params[0]), f32(params[1]), f32(params[2])
    x, positions, count = f32(params[3]), {view}(params[4]), params[5]
    scale = float32(as_float(params[6]))
    for first in range(begin, end, 64):
        last = min(first + 64, end)
        for i in range(first, last):
            independent()
            tops[i] = x[i * count]
            logs[i] = float32(0)
        for j in range(1, count):
            for i in range(first, last):
                independent()
                tops[i] = maximum(tops[i], x[i * count + j])
        for j in range(count):
            for i in range(first, last):
                independent()
                logs[i] = logs[i] + exp(x[i * count + j] - tops[i])
        for i in range(first, last):
            independent()
            total = log(logs[i])
            logs[i] = total
            chosen = {number}
            chosen = {within}
            out[i] = scale * fma(float32(1), x[i * count + chosen] - tops[i], -total) + float32(0)
"""

# Params: result, gradients, data, class indices, maxima, logarithms; elements of a row, factor.
_BACKWARD = """
def body(begin, end, params):
    out, grad, x = f32(params[0]), f32(params[1]), f32(params[2])
    positions, tops, logs, count = {view}(params[3]), f32(params[4]), f32(params[5]), params[6]
    scale = float32(as_float(params[7]))
    for i in range(begin, end):
        at = i * count
        g = scale * grad[i]
        top = tops[i]
        log_total = logs[i]
        chosen = {number}
        chosen = {within}
        for j in range(count):
            independent()
            out[at + j] = -g * exp(x[at + j] - top - log_total)
        out[at + chosen] = out[at + chosen] + g
"""

# The same for few classes: exponentials of many rows at once.
_BACKWARD_FEW = """
def body(begin, end, params):
    out, grad, x = f32(params[0]), f32(params[1]), f32(params[2])
    positions, tops, logs, count = {view}(params[3]), f32(params[4]), f32(params[5]), params[6]
    scale = float32(as_float(params[7]))
    for first in range(begin, end, 64):
        last = min(first + 64, end)
        for i in range(first, last):
            for j in range(i * count, i * count + count):
                independent()
                out[j] = x[j] - tops[i] - logs[i]
        for j in range(first * count, last * count):
            independent()
            out[j] = exp(out[j])
        for i in range(first, last):
            g = scale * grad[i]
            for j in range(i * count, i * count + count):
                independent()
                out[j] = -g * out[j]
            chosen = {number}
            chosen = {within}
            out[i * count + chosen] = out[i * count + chosen] + g
"""

# Number of params that are addresses.
_ADDRESSES = {_FORWARD: 5, _FORWARD_FEW: 5, _BACKWARD: 6, _BACKWARD_FEW: 6}


def _narrowed(text: str) -> str:
    """Return a kernel's source for bfloat16 scores and gradients."""
    last = text.rindex("        out[at + chosen] =") if text is _BACKWARD else len(text)
    text = re.sub(r"\bx\[(.+?)\]", r"load_bf16(x[\1])", text[:last])
    if last and "out, grad, x = " in text:
        text = text.replace("out, grad, x = f32(params[0]), f32(params[1]), f32(params[2])", _VIEWS)
        text = re.sub(r"out\[at \+ j\] = (.+)", r"out[at + j] = store_bf16(\1)", text)
        before, loop, after = text.partition("        for j in range(count):")
        return before + _CHOSEN_SCORE + loop + after + _CHOSEN
    return text.replace("x, positions, count = f32(", "x, positions, count = u16(")


_VIEWS = "out, grad, x = u16(params[0]), f32(params[1]), u16(params[2])"
# The score of the class is read first, because the gradient may overwrite the scores.
_CHOSEN_SCORE = """        value = load_bf16(x[at + chosen]) - top - log_total
"""
_CHOSEN = """        out[at + chosen] = store_bf16(g - g * exp(value))
"""


def _supports_rows(data: Spec, *, axis: int, wide: bool) -> bool:
    along = axis % len(data.shape) == len(data.shape) - 1
    narrow = wide and data.dtype == BFLOAT16 and data.shape[-1] >= _FEW
    return along and (narrow or data.dtype == FLOAT32) and data.size >= _SMALL


def _supports_pick(data: Spec, index: Spec, *, axis: int, wide: bool, **_: Any) -> bool:
    return _supports_rows(data, axis=axis, wide=wide)


def _plan_pick(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    data, index = inputs
    text = _FORWARD_FEW if data.shape[-1] < _FEW else _FORWARD
    return _plan_rows(text, (*outputs, *inputs), data, index, attrs, _ALLOWED)


def _plan_pick_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    _, data, index, *_rest = inputs
    text = _BACKWARD_FEW if data.shape[-1] < _FEW else _BACKWARD
    return _plan_rows(text, (*outputs, *inputs), data, index, attrs, _IN_ORDER)


def _plan_rows(
    text: str,
    arrays: Sequence[Array],
    data: Array,
    index: Array,
    attrs: Attrs,
    fastmath: tuple[str, ...],
) -> Bound:
    """Return the plan of a kernel with one step per row."""
    contiguous = index.dtype in POSITIONS
    for x in arrays:  # a loop costs no call
        contiguous = contiguous and x.flags.c_contiguous
    if not contiguous:
        raise RefusedError("_log_softmax_pick: expected contiguous arrays, got strided ones")
    count = data.shape[-1]
    rows = data.size // max(1, count)
    number, narrow = attrs["scale"], data.dtype == BFLOAT16
    plan = _rows_plan(text, fastmath, index.dtype, attrs["mode"], number, rows, count, narrow)
    return Bound(plan)


@lru_cache(4096)
def _rows_plan(
    text: str,
    fastmath: tuple[str, ...],
    dtype: np.dtype[Any],
    mode: str,
    scale: float,
    rows: int,
    count: int,
    narrow: bool,
) -> KernelPlan:
    view, number = POSITIONS[dtype]
    source = (_narrowed(text) if narrow else text).format(
        view=view, number=number, within=WITHIN[mode]
    )
    kernel = compile_kernel(source, fastmath)
    addresses = (0,) * _ADDRESSES[text]
    (factor,) = unpack("q", pack("d", scale))
    return KernelPlan(kernel, (*addresses, count, factor), rows, max(1, _GRAIN // max(1, count)))


def _pick(
    xp: ModuleType, outputs: tuple[Array, ...], data: Array, index: Array, **attrs: Any
) -> None:
    inputs = (np.ascontiguousarray(data), readable(index))
    _plan_pick(outputs, inputs, attrs).plan.run(*outputs, *inputs)


def _supports_pick_backward(
    grad: Spec, data: Spec, *rest: Spec, axis: int, wide: bool, **_: Any
) -> bool:
    return grad.dtype == FLOAT32 and _supports_rows(data, axis=axis, wide=wide)


def _pick_backward(
    xp: ModuleType, out: Array, grad: Array, data: Array, index: Array, *saved: Array, **attrs: Any
) -> None:
    grad, data, *saved_rows = map(np.ascontiguousarray, (grad, data, *saved))
    inputs = (grad, data, readable(index), *saved_rows)
    _plan_pick_backward((out,), inputs, attrs).plan.run(out, *inputs)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = tuple(
    (
        op,
        FastKernel(
            *(BackEnd.GENERATED, op.name[1:], supports),
            plan=plan,
            run=run,
            binds=True,
            enabled=available,
            makes=(FLOAT32,),
        ),
    )
    for op, supports, run, plan in (
        (LOG_SOFTMAX_PICK, _supports_pick, _pick, _plan_pick),
        (LOG_SOFTMAX_PICK_BACKWARD, _supports_pick_backward, _pick_backward, _plan_pick_backward),
    )
)
