"""LayerNorm, softmax and log_softmax, and their gradients: a launch each along the last axis.

Along another axis arrays are copied before and after. The gradients of LayerNorm's gamma and beta
take two more. Elements of 16 bits are widened as they are read and rounded once; sums are formed in
a fixed order.
"""

from functools import partial
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.gemm import takes_floats
from gluonish.kernels.cupy.source import index, launch, launch_blocks, without_gaps
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD, SOFTMIN
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import accumulator

_SOURCE = "softmax_and_norms"
# As in the source.
_THREADS = 256
_ABREAST = 32

_SHORT = 1024  # elements of a row up to which a warp does it
_BLOCKS = 1024  # that fill any device
_MOST_CHUNKS = 64
_LEAST_ROWS = 64  # of a chunk
_MOST_32 = 2**31


def _launch(
    xp: Any, function: str, arrays: Any, size: int, numbers: Any = (), macros: Any = ()
) -> None:
    """Run a kernel for the rows of the first array, of ``size`` elements each."""
    data = arrays[0]
    lanes = 32 if size <= _SHORT else _THREADS
    rows = data.size // size
    wide = data.size >= _MOST_32
    args = (*arrays, index(rows, wide), index(size, wide), *numbers)
    blocks = (-(-rows * lanes // _THREADS),)
    macros = (("LANES", lanes), *macros)
    launch_blocks(xp, _SOURCE, function, data.dtype, args, blocks, _THREADS, macros, wide=wide)


def _filled(xp: Any, *outputs: Any) -> tuple[Any, ...]:
    """Return what kernels fill for outputs: these, or arrays to copy to them."""
    return tuple(x if x.flags.c_contiguous else xp.empty(x.shape, x.dtype) for x in outputs)


def _deliver(outputs: Any, made: Any) -> None:
    for out, found in zip(outputs, made, strict=True):
        if found is not out:
            out[...] = found


def _moved(axis: int, *arrays: Any) -> tuple[Any, ...]:
    """Return arrays with an axis behind the others."""
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
    data, *outputs = _moved(axis, data, *outputs)
    made = _filled(xp, *outputs)
    arrays = (*map(without_gaps, (data, gamma, beta)), *made)
    numbers = (accumulator(data.dtype).type(eps),)
    _launch(xp, "layer_norm", arrays, data.shape[-1], numbers, _parameters(data, gamma))
    _deliver(outputs, made)


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
    grad, data, mean, std, of_data = _moved(axis, grad, data, mean, std, outputs[0])
    outputs = (of_data, *outputs[1:])
    d_data, d_gamma, d_beta = made = _filled(xp, *outputs)
    grad, data, gamma, mean, std = map(without_gaps, (grad, data, gamma, mean, std))
    size = data.shape[-1]
    macros = _parameters(data, gamma)
    _launch(xp, "layer_norm_data", (grad, data, gamma, mean, std, d_data), size, (), macros)
    rows, tiles = data.size // size, -(-size // _ABREAST)
    wanted = min(_MOST_CHUNKS, -(-_BLOCKS // tiles), -(-rows // _LEAST_ROWS))
    chunk = -(-rows // wanted)
    chunks = -(-rows // chunk)
    sums = xp.empty((chunks, 2, size), np.float64)
    wide = data.size >= _MOST_32
    args = (grad, data, mean, std, sums, *(index(n, wide) for n in (rows, size, chunk)))
    blocks, kind = (tiles, chunks), data.dtype
    launch_blocks(xp, _SOURCE, "layer_norm_sums", kind, args, blocks, _THREADS, macros, wide=wide)
    arrays = (sums, d_gamma, d_beta)
    launch(xp, _SOURCE, "layer_norm_chunks", kind, arrays, size, (np.int32(chunks),), macros)
    _deliver(outputs, made)


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
    out, data = _moved(axis, out, data)
    made = _filled(xp, out)
    factor = accumulator(data.dtype).type(sign / (temperature or 1))
    arrays = (without_gaps(data), *made)
    _launch(xp, "softmax", arrays, data.shape[-1], (factor,), (("LOG", int(log)),))
    _deliver((out,), made)


def _softmax_backward(
    xp: Any, result: Any, grad: Any, out: Any, *, axis: int, factor: float, log: bool, **_: Any
) -> None:
    result, grad, out = _moved(axis, result, grad, out)
    made = _filled(xp, result)
    arrays = (without_gaps(grad), without_gaps(out), *made)
    numbers = (accumulator(out.dtype).type(factor),)
    _launch(xp, "softmax_backward", arrays, out.shape[-1], numbers, (("LOG", int(log)),))
    _deliver((result,), made)


def _takes_norm(count: int, *specs: Spec, **_: Any) -> bool:
    """Whether so many arrays of elements, and parameters like them or like sums, can be read."""
    elements, parameters = specs[:count], specs[count:]
    own, other = elements[0].dtype, parameters[0].dtype
    return (
        takes_floats(*specs)
        and all(spec.size for spec in specs)
        and all(spec.dtype == own for spec in elements)
        and other in (own, accumulator(own))
        and all(spec.dtype == other for spec in parameters)
    )


def _takes_softmax(*specs: Spec, dtype: np.dtype[Any] | None = None, **_: Any) -> bool:
    """Whether there are no lengths, and all is of one type."""
    alike = takes_floats(*specs) and all(spec == specs[0] for spec in specs)
    return alike and dtype in (None, specs[0].dtype) and bool(specs[0].size and specs[0].shape)


def _takes_forward(*specs: Spec, **attrs: Any) -> bool:
    return len(specs) == 1 and _takes_softmax(*specs, **attrs)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (LAYER_NORM, FastKernel(BackEnd.CUPY, "layer_norm", partial(_takes_norm, 1), run=_layer_norm)),
    (
        LAYER_NORM_BACKWARD,
        FastKernel(
            BackEnd.CUPY, "layer_norm_backward", partial(_takes_norm, 2), run=_layer_norm_backward
        ),
    ),
    *(
        (op, FastKernel(BackEnd.CUPY, name, _takes_forward, run=partial(_softmax, sign, log)))
        for op, name, sign, log in (
            (SOFTMAX, "softmax", 1.0, False),
            (LOG_SOFTMAX, "log_softmax", 1.0, True),
            (SOFTMIN, "softmin", -1.0, False),
        )
    ),
    (
        SOFTMAX_BACKWARD,
        FastKernel(BackEnd.CUPY, "softmax_backward", _takes_softmax, run=_softmax_backward),
    ),
)
