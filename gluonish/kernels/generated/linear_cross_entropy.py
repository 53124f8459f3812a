"""cross_entropy and linear_cross_entropy: oneDNN multiplies slices, a generated kernel does a row.

The kernel passes over a row of scores three times: for its maximum, for the sum of exponentials and
the loss, and for the gradient; a row of 50,000 scores stays in a core's cache. Float32 scores, or
bfloat16 ones that are stored.
"""

from functools import lru_cache
from struct import pack, unpack
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.loops import narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn import sgemm
from gluonish.kernels.onednn.binding import require
from gluonish.kernels.onednn.rnn_products import product
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError
from gluonish.ops.nn.cross_entropy import (
    CROSS_ENTROPY,
    CROSS_ENTROPY_BACKWARD,
    Rows,
    Terms,
    run_on_scores,
)
from gluonish.ops.nn.linear_cross_entropy import (
    BACKWARD,
    LINEAR_CROSS_ENTROPY,
    Tools,
    run_backward,
    run_forward,
)

_SMALL = 1 << 12  # scores below which compiling does not pay
_FEW = 32  # classes below which the loops over a row do not pay
_GRAIN = 1 << 14  # minimum scores for each thread

# Params: scores, gradients, classes, factors, losses; elements of a row; factors of the terms. The
# fma fixes the order of two differences.
_LOSS = """
def body(begin, end, params):
    x, out = f32(params[0]), f32(params[1])
    classes, factors, losses = i64(params[2]), f32(params[3]), f32(params[4])
    count = params[5]
    chosen, spread = float32(as_float(params[6])), float32(as_float(params[7]))
    square = float32(as_float(params[8]))
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
        shift = float32(0)
        for j in range(count):
            shifted = x[at + j] - top
            total += exp(shifted)
            shift += shifted
        log_total = log(total)
        log_sum = top + log_total
        factor = factors[i]
        label = max(classes[i], int64(0))
        value = x[at + label] - top
        found = fma(-chosen, value, log_total) + square * log_sum * log_sum
        if spread > float32(0):
            found = found - spread * shift
        losses[i] = select(classes[i] < 0, float32(0), factor * found)
"""
_GRADIENT = """
        if classes[i] < 0:
            for j in range(count):
                independent()
                out[at + j] = float32(0)
        else:
            lead = factor * (float32(1) + float32(2) * square * log_sum)
            less = factor * spread
            of_label = lead * exp(fma(float32(1), value, -log_total)) - less - factor * chosen
            for j in range(count):
                independent()
                out[at + j] = lead * exp(fma(float32(1), x[at + j] - top, -log_total)) - less
            out[at + label] = of_label
"""


def _bits(value: float) -> int:
    (found,) = unpack("q", pack("d", value))
    return int(found)


@lru_cache(256)
def _plan(dtypes: tuple[Any, Any], gradient: bool, rows: int, count: int, terms: Terms) -> Any:
    source = _LOSS + (_GRADIENT if gradient else "")
    kernel = compile_kernel(
        narrowed(source, ("x", "out"), dtypes), ("contract", "reassoc", "functions")
    )
    params = (0,) * 5 + (count, *map(_bits, terms))
    return KernelPlan(kernel, params, rows, max(1, _GRAIN // max(1, count)))


def _fill(
    xp: ModuleType, scores: Array, rows: Rows, losses: Array, grads: Array | None, terms: Terms
) -> None:
    """Compute as `gluonish.ops.nn.cross_entropy.fill_rows` does."""
    out = scores if grads is None else grads
    classes, factors = map(np.ascontiguousarray, rows)
    dtypes = (scores.dtype, out.dtype)
    plan = _plan(dtypes, grads is not None, len(scores), scores.shape[1], terms)
    plan.run(scores, out, classes, factors, losses)


def _product(xp: ModuleType, out: Array, a: Array, b: Array, add: bool) -> None:
    if a.dtype == FLOAT32:
        sgemm.product(out, a, b, add=add)  # 3 % faster than the primitive
    else:
        product(out, a, b, add=add)


_TOOLS = Tools(_product, _fill, narrow=True)


def _supports_scores(data: Spec, label: Spec, **_: Any) -> bool:
    classes = data.shape[-1] if data.shape else 0
    good = data.dtype in (FLOAT32, BFLOAT16) and classes >= _FEW
    return good and data.size >= _SMALL and MXNET_USE_FUSION.value


def _supports_scores_backward(grad: Spec, data: Spec, label: Spec, **_: Any) -> bool:
    return grad.dtype == FLOAT32 and _supports_scores(data, label)


def _require_contiguous(*arrays: Array) -> None:
    """Refuse arrays with gaps.

    Raises:
        RefusedError: An array is not contiguous.
    """
    if not all(array.flags.c_contiguous for array in arrays):
        raise RefusedError("cross_entropy: expected contiguous arrays, got strided ones")


def _cross_entropy(xp: ModuleType, out: Array, data: Array, label: Array, **attrs: Any) -> None:
    _require_contiguous(data)
    run_on_scores(xp, _fill, out, None, data, label, None, attrs)


def _cross_entropy_backward(
    xp: ModuleType, out: Array, grad: Array, data: Array, label: Array, **attrs: Any
) -> None:
    _require_contiguous(out, data)
    run_on_scores(xp, _fill, None, out, data, label, grad, attrs)


def _supports_linear(data: Spec, weight: Spec, *_inputs: Spec, **_attrs: Any) -> bool:
    good = data.dtype in (FLOAT32, BFLOAT16) and weight.shape[0] >= _FEW
    rows = data.size // max(1, weight.shape[1])
    return good and bool(weight.size) and rows * weight.shape[0] >= _SMALL


def _supports_linear_backward(
    grad: Spec, data: Spec, weight: Spec, *_: Spec, **_attrs: Any
) -> bool:
    return grad.dtype == FLOAT32 and _supports_linear(data, weight)


def _linear(xp: ModuleType, outputs: Any, *inputs: Array, train: bool, **attrs: Any) -> None:
    _require_contiguous(*outputs, *inputs)
    require("linear_cross_entropy", *inputs[:2])
    run_forward(xp, _TOOLS, outputs, inputs, attrs, train=train)


def _linear_backward(xp: ModuleType, outputs: Any, *values: Array, **attrs: Any) -> None:
    _require_contiguous(*outputs, *values)
    require("linear_cross_entropy", *values[1:3])
    run_backward(xp, _TOOLS, outputs, values, attrs)


def _multiplies() -> bool:
    return MXNET_USE_FUSION.value and available() and onednn.enabled()


KERNELS = (
    (
        CROSS_ENTROPY,
        FastKernel(
            *(BackEnd.GENERATED, "cross_entropy", _supports_scores),
            run=_cross_entropy,
            enabled=available,
            makes=(FLOAT32,),
        ),
    ),
    (
        CROSS_ENTROPY_BACKWARD,
        FastKernel(
            *(BackEnd.GENERATED, "cross_entropy_backward", _supports_scores_backward),
            run=_cross_entropy_backward,
            enabled=available,
        ),
    ),
    (
        LINEAR_CROSS_ENTROPY,
        FastKernel(
            *(BackEnd.GENERATED, "linear_cross_entropy", _supports_linear),
            run=_linear,
            enabled=_multiplies,
            makes=(FLOAT32, np.dtype(np.int64)),
        ),
    ),
    (
        BACKWARD,
        FastKernel(
            *(BackEnd.GENERATED, "linear_cross_entropy_backward", _supports_linear_backward),
            run=_linear_backward,
            enabled=_multiplies,
        ),
    ),
)
