"""LayerNorm, softmax, log_softmax and their gradients: one launch each along the last axis.

Along another axis arrays are copied before and after. The gradients of LayerNorm's gamma and beta
take two more launches. 16-bit elements are converted on load and rounded once; sums have a fixed
order.
"""

from functools import partial
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous
from gluonish.kernels.cupy.gemm import supports_floats
from gluonish.kernels.cupy.rows import (
    LIMIT_32,
    THREADS,
    accesses,
    copy_back,
    held_row,
    launch_rows,
    targets,
)
from gluonish.kernels.cupy.source import Macros, index, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD, SOFTMIN
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import accumulator

_ABREAST = 32  # the same as in layer_norm_sums.cu

# Sums of columns: enough blocks to fill any device, and rows per chunk, of which a thread adds an
# eighth one by one.
_BLOCKS = 1024
_MIN_ROWS = 32
_MAX_ROWS = 512
_MAX_CHUNKS = 2**15  # blocks along an axis; then chunks have more rows


def _launch(
    xp: Any,
    name: str,
    function: str,
    arrays: Any,
    size: int,
    numbers: Any = (),
    macros: Macros = (),
) -> None:
    """Run a kernel of a source over the rows of the first array; a row has ``size`` elements."""
    data = arrays[0]
    lanes, held = held_row(size, data.dtype, arrays)
    shape = (data.size // size, size)
    macros = (*held, *macros)
    launch_rows(xp, name, function, arrays, shape, lanes, numbers, macros, data=data)


def _axis_last(axis: int, *arrays: Any) -> tuple[Any, ...]:
    """Return arrays with an axis moved to the end."""
    rank = arrays[0].ndim
    axis %= rank
    if axis == rank - 1:
        return arrays
    order = (*range(axis), *range(axis + 1, rank), axis)
    return tuple(x.transpose(order) for x in arrays)


def parameter_macros(data: Any, gamma: Any) -> Macros:
    """Return macros for the dtype of LayerNorm's parameters."""
    return (("WIDE_PARAMETERS", int(gamma.dtype != data.dtype)),)


def _layer_norm(
    xp: Any, outputs: Any, data: Any, gamma: Any, beta: Any, *, axis: int, eps: float, **_: Any
) -> None:
    data, *outputs = _axis_last(axis, data, *outputs)
    made = targets(xp, *outputs)
    arrays = (*[contiguous(xp, x) for x in (data, gamma, beta)], *made)
    kind, size = accumulator(data.dtype).type, data.shape[-1]
    numbers = (kind(eps), kind(1 / size))
    _launch(xp, "layer_norm", "layer_norm", arrays, size, numbers, parameter_macros(data, gamma))
    copy_back(xp, outputs, made)


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
    d_data, d_gamma, d_beta = made = targets(xp, *outputs)
    grad, data, gamma, mean, std = [contiguous(xp, x) for x in (grad, data, gamma, mean, std)]
    size = data.shape[-1]
    macros, numbers = parameter_macros(data, gamma), (accumulator(data.dtype).type(1 / size),)
    arrays = (grad, data, gamma, mean, std, d_data)
    _launch(xp, "layer_norm", "layer_norm_data", arrays, size, numbers, macros)
    sum_columns(xp, grad, data, (mean, std), (d_gamma, d_beta), macros)
    copy_back(xp, outputs, made)


def sum_columns(
    xp: Any,
    grad: Any,
    data: Any,
    statistics: Any,
    outputs: Any,
    macros: Macros,
    other: Any = None,
) -> None:
    """Compute the gradients of gamma and beta: sums of chunks of rows, and of the chunks.

    Args:
        grad: The head gradient, or the first term of it.
        data: The data (..., size).
        statistics: Mean and standard deviation of each row.
        outputs: Contiguous arrays for the gradients.
        macros: Macros of the source.
        other: The second term; None without one.
    """
    kind, size = data.dtype, data.shape[-1]
    rows = data.size // size
    grads = (grad,) if other is None else (grad, other)
    inputs = (grad, np.uint64(0) if other is None else other, data, *statistics)
    width, access = accesses(size, kind, (*grads, data))
    macros = (*macros, ("TWO", len(grads) - 1))
    tiles = -(-size // (_ABREAST * width))
    chunk = min(_MAX_ROWS, max(_MIN_ROWS, -(-rows // -(-_BLOCKS // tiles))))
    chunk = max(chunk, -(-rows // _MAX_CHUNKS))
    chunks = -(-rows // chunk)
    sums = xp.empty((chunks, 2, size), accumulator(kind))
    wide = data.size >= LIMIT_32
    args = (*inputs, sums, *(index(n, wide) for n in (rows, size, chunk)))
    macros = (*access, *macros)
    blocks = (tiles, chunks)
    launch_blocks(
        xp, "layer_norm_sums", "layer_norm_sums", kind, args, blocks, THREADS, macros, wide=wide
    )
    args = (sums, *outputs, index(size, wide), index(chunks, wide))
    blocks = (-(-size // _ABREAST), 2)
    launch_blocks(
        xp, "layer_norm_sums", "layer_norm_chunks", kind, args, blocks, THREADS, macros, wide=wide
    )


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
    made = targets(xp, out)
    factor = accumulator(data.dtype).type(sign / (temperature or 1))
    arrays = (contiguous(xp, data), *made)
    _launch(xp, "softmax", "softmax", arrays, data.shape[-1], (factor,), (("LOG", int(log)),))
    copy_back(xp, (out,), made)


def _softmax_backward(
    xp: Any, result: Any, grad: Any, out: Any, *, axis: int, factor: float, log: bool, **_: Any
) -> None:
    result, grad, out = _axis_last(axis, result, grad, out)
    made = targets(xp, result)
    arrays = (contiguous(xp, grad), contiguous(xp, out), *made)
    numbers = (accumulator(out.dtype).type(factor),)
    _launch(xp, "softmax", "softmax_backward", arrays, out.shape[-1], numbers, (("LOG", int(log)),))
    copy_back(xp, (result,), made)


def supports_norm(count: int, *specs: Spec, **_: Any) -> bool:
    """Return whether the kernels support ``count`` data arrays, followed by parameters."""
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


def _supports_forward(*specs: Spec, temperature: float | None, **attrs: Any) -> bool:
    factor = 1 / (temperature or 1)
    return factor != 0 and len(specs) == 1 and _supports_softmax(*specs, **attrs)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (
        LAYER_NORM,
        FastKernel(BackEnd.CUPY, "layer_norm", partial(supports_norm, 1), run=_layer_norm),
    ),
    (
        LAYER_NORM_BACKWARD,
        FastKernel(
            BackEnd.CUPY,
            "layer_norm_backward",
            partial(supports_norm, 2),
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
