"""LayerNorm, softmax, log_softmax and their gradients: one launch each along the last axis.

Along another axis arrays are copied before and after. The gradients of LayerNorm's gamma and beta
take two more launches. 16-bit elements are converted on load and rounded once; sums have a fixed
order.
"""

from functools import partial
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.source import contiguous, index, launch, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD, SOFTMIN
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import accumulator

_SOURCE = "softmax_and_norms"
# The same as in softmax_and_norms.cu.
_THREADS = 256
_ABREAST = 32

_SHORT = 1024  # elements up to which one warp computes a row
_BLOCKS = 1024  # enough blocks to fill any device
_MAX_CHUNKS = 64
_MIN_ROWS = 64  # per chunk
_LIMIT_32 = 2**31


def _launch(
    xp: Any, function: str, arrays: Any, size: int, numbers: Any = (), macros: Any = ()
) -> None:
    """Run a kernel over the rows of the first array; a row has ``size`` elements."""
    data = arrays[0]
    lanes = 32 if size <= _SHORT else _THREADS
    rows = data.size // size
    wide = data.size >= _LIMIT_32
    args = (*arrays, index(rows, wide), index(size, wide), *numbers)
    blocks = (-(-rows * lanes // _THREADS),)
    macros = (("LANES", lanes), *macros)
    launch_blocks(xp, _SOURCE, function, data.dtype, args, blocks, _THREADS, macros, wide=wide)


def _targets(xp: Any, *outputs: Any) -> tuple[Any, ...]:
    """Return contiguous arrays to fill: the outputs themselves, or temporaries to copy from."""
    return tuple(x if x.flags.c_contiguous else xp.empty(x.shape, x.dtype) for x in outputs)


def _copy_back(outputs: Any, made: Any) -> None:
    for out, found in zip(outputs, made, strict=True):
        if found is not out:
            out[...] = found


def _axis_last(axis: int, *arrays: Any) -> tuple[Any, ...]:
    """Return arrays with an axis moved to the end."""
    rank = arrays[0].ndim
    axis %= rank
    if axis == rank - 1:
        return arrays
    order = (*range(axis), *range(axis + 1, rank), axis)
    return tuple(x.transpose(order) for x in arrays)


def _parameters(data: Any, gamma: Any) -> Any:
    return (("WIDE_PARAMETERS", int(gamma.dtype != data.dtype)),)


def _layer_norm(
    xp: Any, outputs: Any, data: Any, gamma: Any, beta: Any, *, axis: int, eps: float, **_: Any
) -> None:
    data, *outputs = _axis_last(axis, data, *outputs)
    made = _targets(xp, *outputs)
    arrays = (*map(contiguous, (data, gamma, beta)), *made)
    numbers = (accumulator(data.dtype).type(eps),)
    _launch(xp, "layer_norm", arrays, data.shape[-1], numbers, _parameters(data, gamma))
    _copy_back(outputs, made)


def _layer_norm_backward(
    xp: Any,
    outputs: Any,
    grad: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    std: Any,
    *,
    axis: int,
    **_: Any,
) -> None:
    grad, data, mean, std, d_data_out = _axis_last(axis, grad, data, mean, std, outputs[0])
    outputs = (d_data_out, *outputs[1:])
    d_data, d_gamma, d_beta = made = _targets(xp, *outputs)
    grad, data, gamma, mean, std = map(contiguous, (grad, data, gamma, mean, std))
    size = data.shape[-1]
    macros = _parameters(data, gamma)
    _launch(xp, "layer_norm_data", (grad, data, gamma, mean, std, d_data), size, (), macros)
    rows, tiles = data.size // size, -(-size // _ABREAST)
    limit = min(_MAX_CHUNKS, -(-_BLOCKS // tiles), -(-rows // _MIN_ROWS))
    chunk = -(-rows // limit)
    chunks = -(-rows // chunk)
    sums = xp.empty((chunks, 2, size), np.float64)
    wide = data.size >= _LIMIT_32
    args = (grad, data, mean, std, sums, *(index(n, wide) for n in (rows, size, chunk)))
    blocks, kind = (tiles, chunks), data.dtype
    launch_blocks(xp, _SOURCE, "layer_norm_sums", kind, args, blocks, _THREADS, macros, wide=wide)
    arrays = (sums, d_gamma, d_beta)
    launch(xp, _SOURCE, "layer_norm_chunks", kind, arrays, size, (np.int32(chunks),), macros)
    _copy_back(outputs, made)


def _softmax(
    sign: float,
    log: bool,
    xp: Any,
    out: Any,
    data: Any,
    *,
    axis: int,
    temperature: float | None,
    **_: Any,
) -> None:
    out, data = _axis_last(axis, out, data)
    made = _targets(xp, out)
    factor = accumulator(data.dtype).type(sign / (temperature or 1))
    arrays = (contiguous(data), *made)
    _launch(xp, "softmax", arrays, data.shape[-1], (factor,), (("LOG", int(log)),))
    _copy_back((out,), made)


def _softmax_backward(
    xp: Any, result: Any, grad: Any, out: Any, *, axis: int, factor: float, log: bool, **_: Any
) -> None:
    result, grad, out = _axis_last(axis, result, grad, out)
    made = _targets(xp, result)
    arrays = (contiguous(grad), contiguous(out), *made)
    numbers = (accumulator(out.dtype).type(factor),)
    _launch(xp, "softmax_backward", arrays, out.shape[-1], numbers, (("LOG", int(log)),))
    _copy_back((result,), made)


def _supports_norm(count: int, *specs: Spec, **_: Any) -> bool:
    """Whether the kernels support ``count`` data arrays, followed by parameters."""
    elements, parameters = specs[:count], specs[count:]
    dtype, parameter_dtype = elements[0].dtype, parameters[0].dtype
    return (
        supports_floats(*specs)
        and all(spec.size for spec in specs)
        and all(spec.dtype == dtype for spec in elements)
        and parameter_dtype in (dtype, accumulator(dtype))
        and all(spec.dtype == parameter_dtype for spec in parameters)
    )


def _supports_softmax(*specs: Spec, dtype: np.dtype[Any] | None = None, **_: Any) -> bool:
    """Whether all specs are equal (so that none is an array of lengths) and not empty."""
    equal = supports_floats(*specs) and all(spec == specs[0] for spec in specs)
    return equal and dtype in (None, specs[0].dtype) and bool(specs[0].size and specs[0].shape)


def _supports_forward(*specs: Spec, **attrs: Any) -> bool:
    return len(specs) == 1 and _supports_softmax(*specs, **attrs)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (
        LAYER_NORM,
        FastKernel(BackEnd.CUPY, "layer_norm", partial(_supports_norm, 1), run=_layer_norm),
    ),
    (
        LAYER_NORM_BACKWARD,
        FastKernel(
            BackEnd.CUPY,
            "layer_norm_backward",
            partial(_supports_norm, 2),
            run=_layer_norm_backward,
        ),
    ),
    *(
        (op, FastKernel(BackEnd.CUPY, name, _supports_forward, run=partial(_softmax, sign, log)))
        for op, name, sign, log in (
            (SOFTMAX, "softmax", 1.0, False),
            (LOG_SOFTMAX, "log_softmax", 1.0, True),
            (SOFTMIN, "softmin", -1.0, False),
        )
    ),
    (
        SOFTMAX_BACKWARD,
        FastKernel(BackEnd.CUPY, "softmax_backward", _supports_softmax, run=_softmax_backward),
    ),
)
