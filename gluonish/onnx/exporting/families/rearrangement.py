"""Constants, and operators that only move elements, to positions set by shapes and attributes.

The positions are found by running the operator itself on the indices of the elements.
"""

from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.dtype import FLOAT64
from gluonish.ndarray import array, zeros
from gluonish.ndarray.eager import source
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import filled, gather, pad, reduced, reshaped, shape_tensor
from gluonish.onnx.exporting.tensors import OpenExtent, Tensor
from gluonish.ops.registry import apply, find_operator

_SMALL = 1024  # most elements of a constant; larger arrays are expanded when the model runs


def rearranged(call: Call) -> Tensor:
    """Move the elements of the first input to where the operator puts them, with 0 elsewhere."""
    x = call.x
    shape = tuple(x.size(axis) for axis in range(x.rank))
    count = int(np.prod(shape))
    numbers = array(np.arange(1, count + 1).reshape(shape), dtype=FLOAT64)
    made = apply(find_operator(call.op), [numbers], dict(call.attrs))
    indices = (made[0] if isinstance(made, list) else made).asnumpy().astype(np.int64) - 1
    flat = reshaped(x, [-1])
    if (indices < 0).any():
        flat = pad(flat, [0], [1])
        indices = np.where(indices < 0, count, indices)
    return gather(flat, indices.reshape(call.out.fixed), 0)


def constant_of(call: Call) -> Tensor:
    """Return the output of an operator that depends only on shapes and attributes."""
    operator, attrs = find_operator(call.op), dict(call.attrs)
    if call.inputs:
        inputs = [
            zeros(tuple(x.size(axis) for axis in range(x.rank)), dtype=x.dtype) for x in call.inputs
        ]
        return call.constant(apply(operator, inputs, attrs).asnumpy())
    return _constant(call)


def _constant(call: Call) -> Tensor:
    """Return the output of an operator without inputs."""
    made = source(find_operator(call.op), dict(call.attrs), cpu())
    return call.constant((made[0] if isinstance(made, list) else made).asnumpy())


def _filled(call: Call) -> Tensor:
    shape, value = call.out.shape, {"_ones": 1, "_npi_ones": 1}.get(call.op, 0)
    if call.op == "_full":
        value = np.array(call["value"]).astype(call.out.dtype).item()
    if any(isinstance(extent, OpenExtent) for extent in shape):
        return filled(call.emitter, shape, value, call.out.dtype)
    if np.prod(call.out.fixed) > _SMALL:
        return filled(call.emitter, shape, value, call.out.dtype)
    return call.constant(np.full(call.out.fixed, value, call.out.dtype))


def _arange(call: Call) -> Tensor:
    if not isinstance(call.out.shape[0], OpenExtent):
        count, repeat = call.out.shape[0], int(call["repeat"])
        values = np.repeat(np.arange(-(-count // repeat)), repeat)[:count]
        start = call["start"] if call["stop"] is not None or call["infer_range"] else 0.0
        return call.constant((start + values * call["step"]).astype(call.out.dtype))
    count_tensor = reshaped(shape_tensor(call.emitter, call.out.shape), [1])
    limit = call("Squeeze", count_tensor, [0])
    made = call("Range", call.constant(0), limit, call.constant(1))
    return made.to(FLOAT64) * float(call["step"]) + float(call["start"])


def _trace(call: Call) -> Tensor:
    inner = Call(
        call.emitter,
        "_np_diagonal",
        dict(call.attrs),
        call.inputs,
        [_diagonal_spec(call)],
        call.translate,
    )
    diagonal = rearranged(inner)
    return reduced("ReduceSum", diagonal.to(call.out.dtype), [len(inner.out.shape) - 1])


def _diagonal_spec(call: Call) -> Any:
    x = call.x
    sample = np.empty(tuple(x.size(axis) for axis in range(x.rank)), np.bool_)
    shape = np.diagonal(sample, call["offset"], call["axis1"], call["axis2"]).shape
    return call.out._replace(shape=shape)


TABLE: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("diag", "_np_diag", "_np_diagflat", "_np_diagonal"),
            *("_npi_tril", "_npi_triu"),
            *("_linalg_extractdiag", "_linalg_makediag", "_linalg_extracttrian"),
            *("_linalg_maketrian", "im2col", "_image_crop"),
            *("_image_flip_left_right", "_image_flip_top_bottom", "_triangle"),
        ),
        rearranged,
    ),
    **dict.fromkeys(
        (
            *("_linspace", "_eye", "_npi_eye", "_npi_identity", "_npi_indices", "_npi_arange"),
            *("_npi_logspace", "_npi_hanning", "_npi_hamming", "_npi_blackman"),
        ),
        _constant,
    ),
    **dict.fromkeys(
        ("_zeros", "_ones", "_full", "_npi_zeros", "_npi_ones", "_zeros_without_dtype"), _filled
    ),
    "_arange": _arange,
    "_np_trace": _trace,
}
