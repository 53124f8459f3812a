"""rms_norm and add_rms_norm over the last axis, and their gradients, in one pass over memory.

Elements are float32 or 16-bit floats, and all arithmetic is in float32. The gradient of gamma sums
blocks of `_BLOCK` rows in float32, and the blocks in float64. Each chunk of rows has separate sums;
chunks do not depend on the number of threads, so neither do results.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import pack, unpack
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.loops import is_narrow, narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError, address
from gluonish.ops.normalization.rms_norm import ADD_RMS_NORM, RMS_NORM, RMS_NORM_BACKWARD
from gluonish.ops.registry import Attrs, Operator

_SHORT = 8  # elements per row below which the loops over a row do not pay
_SINGLE_THREAD = 1 << 13  # elements up to which one thread is used
_CHUNKS = 32
_BLOCK = 16

_NORM = """
        total = float32(0)
        for j in range(count):
            total += x[at + j] * x[at + j]
        scale = float32(1) / sqrt(total / divisor + eps)
        scales[i] = scale
        for j in range(count):
            independent()
            out[at + j] = x[at + j] * scale * (gamma[j] + offset)
"""
_SOURCE = f"""
def body(begin, end, params):
    out, scales = f32(params[0]), f32(params[1])
    x, gamma = f32(params[2]), f32(params[3])
    count, eps, offset = params[4], float32(as_float(params[5])), float32(params[6])
    divisor = float32(count)
    for i in range(begin, end):
        at = i * count
{_NORM}
"""
_SUM_SOURCE = f"""
def body(begin, end, params):
    out, x, scales = f32(params[0]), f32(params[1]), f32(params[2])
    data, residual, gamma = f32(params[3]), f32(params[4]), f32(params[5])
    count, eps, offset = params[6], float32(as_float(params[7])), float32(params[8])
    divisor = float32(count)
    for i in range(begin, end):
        at = i * count
        for j in range(count):
            independent()
            x[at + j] = data[at + j] + residual[at + j]
{_NORM}
"""
_NAMES: dict[str, tuple[str, ...]] = {
    RMS_NORM.name: ("out", "scales", "x", "gamma"),
    ADD_RMS_NORM.name: ("out", "x", "scales", "data", "residual", "gamma"),
}
_SOURCES = {RMS_NORM.name: _SOURCE, ADD_RMS_NORM.name: _SUM_SOURCE}

# Arrays of sums are (chunks, elements per row), in float64, and in float32 for a block.
_BACKWARD_NAMES = ("out", "grad", "x", "gamma", "scales", "added")
_BACKWARD_SOURCE = f"""
def body(begin, end, params):
    out, grad, x, gamma = f32(params[0]), f32(params[1]), f32(params[2]), f32(params[3])
    scales, added = f32(params[4]), f32(params[5])
    sums, partial = f64(params[6]), f32(params[7])
    step, rows, count, offset = params[8], params[9], params[10], float32(params[11])
    divisor = float32(count)
    for chunk in range(begin, end):
        first = chunk * count
        for j in range(count):
            independent()
            sums[first + j] = 0.0
            partial[first + j] = float32(0)
        row = chunk * step
        stop = min(row + step, rows)
        while row < stop:
            block = min(row + {_BLOCK}, stop)
            while row < block:
                at = row * count
                scale = scales[row]
                product = float32(0)
                for j in range(count):
                    product += grad[at + j] * (gamma[j] + offset) * (x[at + j] * scale)
                product = product / divisor
                for j in range(count):
                    independent()
                    g = grad[at + j]
                    y = x[at + j] * scale
                    partial[first + j] += g * y
                    made = (g * (gamma[j] + offset) - y * product) * scale
                    out[at + j] = made + added[at + j]
                row += 1
            for j in range(count):
                independent()
                sums[first + j] += float64(partial[first + j])
                partial[first + j] = float32(0)
"""
_BACKWARD_SOURCES = {
    True: _BACKWARD_SOURCE,
    False: _BACKWARD_SOURCE.replace("made + added[at + j]", "made"),
}


@lru_cache(4096)
def _plan_of(
    source: str, arrays: int, count: int, rows: int, eps: float, offset: bool
) -> KernelPlan:
    params = [*(0,) * arrays, count, unpack("q", pack("d", eps))[0], int(offset)]
    return KernelPlan(compile_kernel(source), params, rows, max(1, _SINGLE_THREAD // count))


@lru_cache(64)
def _backward_source(plus: bool, *dtypes: np.dtype[Any]) -> str:
    return narrowed(_BACKWARD_SOURCES[plus], _BACKWARD_NAMES, dtypes)


def _require_contiguous(name: str, arrays: Sequence[Array]) -> None:
    if not all(x.flags.c_contiguous for x in arrays):
        raise RefusedError(f"{name}: expected contiguous arrays, got strided ones")


def _forward(op: Operator) -> FastKernel:
    names, source = _NAMES[op.name], _SOURCES[op.name]

    def plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
        arrays = (*outputs, *inputs)
        _require_contiguous(op.name, arrays)
        count = inputs[-1].size
        rows = inputs[0].size // count
        text = narrowed(source, names, [x.dtype for x in arrays])
        found = _plan_of(text, len(arrays), count, rows, attrs["eps"], attrs["offset"])
        return Bound(found)

    return FastKernel(
        *(BackEnd.GENERATED, op.name, _supports),
        plan=plan,
        enabled=available,
        serial_limit=_SINGLE_THREAD,
        makes=(FLOAT32,),
    )


def _backward(
    xp: ModuleType,
    outputs: tuple[Array, Array],
    grad: Array,
    data: Array,
    gamma: Array,
    inverse: Array,
    *added: Array,
    plus: bool,
    offset: bool,
    **_: Any,
) -> None:
    d_data, d_gamma = outputs
    arrays = (d_data, grad, data, gamma, inverse, *(added or (d_data,)))
    _require_contiguous(RMS_NORM_BACKWARD.name, arrays)
    count = gamma.size
    rows = data.size // count
    step = max(-(-rows // _CHUNKS), _SINGLE_THREAD // count, 1)
    chunks = -(-rows // step)
    sums = np.empty((chunks, count), np.float64)
    partial = np.empty((chunks, count), np.float32)
    addresses = [address(x) for x in (*arrays, sums, partial)]
    params = np.array([*addresses, step, rows, count, int(offset)], np.int64)
    source = _backward_source(plus, *[x.dtype for x in arrays])
    compile_kernel(source)(chunks, params, 1)
    d_gamma[...] = sums.sum(axis=0)


def _supports(*specs: Spec, axis: int, **_: Any) -> bool:
    data = specs[1 if len(specs) > 3 else 0]
    rank = len(data.shape)
    return (
        MXNET_USE_FUSION.value
        and axis % rank == rank - 1
        and data.shape[-1] >= _SHORT
        and data.size > 0
        and (data.dtype == FLOAT32 or is_narrow(data.dtype))
        and all(x.dtype in (FLOAT32, data.dtype) for x in specs)
    )


KERNELS = (
    *((op, _forward(op)) for op in (RMS_NORM, ADD_RMS_NORM)),
    (
        RMS_NORM_BACKWARD,
        FastKernel(
            *(BackEnd.GENERATED, "rms_norm_backward", _supports),
            run=_backward,
            enabled=available,
            serial_limit=_SINGLE_THREAD,
        ),
    ),
)
