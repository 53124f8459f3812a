"""Normalization with running statistics or over axes or groups of the data."""

from collections.abc import Sequence

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import axis_of, reduced, to_shape, transposed
from gluonish.onnx.exporting.tensors import Tensor


def _batch_norm(call: Call) -> list[Tensor | None]:
    x, gamma, beta, mean, var = call.inputs[:5]
    axis = axis_of(call.attrs.get("axis", 1), x.rank)
    if call["fix_gamma"]:
        gamma = call.constant(np.ones(gamma.size(0)), gamma.dtype)
    order = [i for i in range(x.rank) if i != axis]
    order.insert(1 if x.rank > 1 else 0, axis)
    data = transposed(x, order)
    given = [data, gamma, beta, mean, var]
    if call.emitter.opset < 15:
        given = [data, *(v.to(x.dtype) for v in given[1:])]
    made = call("BatchNormalization", *given, epsilon=float(call["eps"]))
    made = transposed(made, [order.index(i) for i in range(x.rank)])
    if call.op == "_contrib_BatchNormWithReLU":
        made = call("Relu", made)
    spread = var if call.op == "BatchNorm_v1" else 1.0 / call("Sqrt", var + float(call["eps"]))
    outputs: list[Tensor | None] = [made, mean, spread]
    if not call.attrs.get("output_mean_var"):
        outputs[1:] = [None, None]
    return [*outputs, *[None] * (len(call.outputs) - 3)]


def _wide(x: Tensor) -> Tensor:
    return x.to(FLOAT32) if x.dtype in (FLOAT16, BFLOAT16) else x


def _standardized(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return x normalized to mean 0 and variance 1 along axes, the mean, and the deviation."""
    mean = reduced("ReduceMean", x, axes, keepdims=True)
    centred = x - mean
    variance = reduced("ReduceMean", centred * centred, axes, keepdims=True)
    deviation = x.emitter("Sqrt", variance + float(eps))
    return centred / deviation, mean, deviation


def _layer_norm(call: Call) -> list[Tensor | None]:
    x, gamma, beta = call.inputs
    axis = axis_of(call["axis"], x.rank)
    if call.emitter.opset >= 17 and axis == x.rank - 1 and not call["output_mean_var"]:
        data = x.to(gamma.dtype)  # in mixed precision the weights are wider
        made = call("LayerNormalization", data, gamma, beta, axis=-1, epsilon=float(call["eps"]))
        return [made, None, None]
    along = (*gamma.known_shape, *(1,) * (x.rank - 1 - axis))
    unit, mean, deviation = _standardized(_wide(x), [axis], call["eps"])
    made = unit * to_shape(_wide(gamma), gamma.known_shape, along)
    made = made + to_shape(_wide(beta), beta.known_shape, along)
    return [made.to(x.dtype), mean, deviation]


def _rms_norm(call: Call) -> list[Tensor | None]:
    return [_divided_by_root_mean_square(call, call.x), None]


def _add_rms_norm(call: Call) -> list[Tensor | None]:
    joined = call.inputs[0] + call.inputs[1]
    joined.shape = call.x.shape
    return [_divided_by_root_mean_square(call, joined), joined, None]


def _divided_by_root_mean_square(call: Call, x: Tensor) -> Tensor:
    """Return rms_norm of an array; the standard's operator has statistics in float32."""
    gamma = call.inputs[-1]
    axis, eps = axis_of(call["axis"], x.rank), float(call["eps"])
    narrow = x.dtype in (FLOAT16, BFLOAT16)
    factor = _wide(gamma) + 1.0 if call["offset"] else _wide(gamma)
    if call.emitter.opset >= 23 and axis == x.rank - 1 and (narrow or x.dtype == FLOAT32):
        made = call("RMSNormalization", _wide(x), factor, axis=-1, epsilon=eps)
        return made.to(x.dtype)
    wide = _wide(x)
    root = call("Sqrt", reduced("ReduceMean", wide * wide, [axis], keepdims=True) + eps)
    along = (*gamma.known_shape, *(1,) * (x.rank - 1 - axis))
    return (wide / root * to_shape(factor, gamma.known_shape, along)).to(x.dtype)


def _instance_norm(call: Call) -> list[Tensor | None]:
    x, gamma, beta = call.inputs
    data = x.to(gamma.dtype)
    made = call("InstanceNormalization", data, gamma, beta, epsilon=float(call["eps"]))
    return [made, None, None]


def _group_norm(call: Call) -> list[Tensor | None]:
    x, gamma, beta = call.inputs
    groups = int(call["num_groups"])
    wide = _wide(x)
    channels = x.size(1)
    # The elements of a group are one row, with a common mean and deviation.
    if gamma.size(0) == groups and groups != channels:
        rows = call("Reshape", wide, [0, groups, -1])
        unit, mean, deviation = _standardized(rows, [2], call["eps"])
        made = unit * to_shape(_wide(gamma), gamma.known_shape, (groups, 1))
        made = made + to_shape(_wide(beta), beta.known_shape, (groups, 1))
        made = call("Reshape", made, call("Shape", x))
    else:
        rows = call("Reshape", wide, [0, groups, -1])
        unit, mean, deviation = _standardized(rows, [2], call["eps"])
        unit = call("Reshape", unit, call("Shape", x))
        along = (channels, *(1,) * (x.rank - 2))
        made = unit * to_shape(_wide(gamma), gamma.known_shape, along)
        made = made + to_shape(_wide(beta), beta.known_shape, along)
    shape = call.constant([0, groups])
    moments = [call("Reshape", v, shape) for v in (mean, deviation)]
    return [made.to(x.dtype), *moments]


def _l2_normalization(call: Call) -> list[Tensor | None]:
    x = _wide(call.x)
    axes = {
        "instance": range(1, x.rank),
        "channel": [1],
        "spatial": range(2, x.rank),
    }[call["mode"]]
    square = reduced("ReduceSum", x * x, list(axes), keepdims=True)
    return [(x / call("Sqrt", square + float(call["eps"]))).to(call.x.dtype), None]


def _lrn(call: Call) -> list[Tensor | None]:
    size = int(call["nsize"])
    odd = size - 1 + size % 2  # an even size counts as one less, but in the mean
    made = call(
        "LRN",
        call.x,
        alpha=float(call["alpha"]) * odd / size,
        beta=float(call["beta"]),
        bias=float(call["knorm"]),
        size=odd,
    )
    return [made, None]


TABLE = {
    **dict.fromkeys(
        (
            *("BatchNorm", "BatchNorm_v1", "_contrib_BatchNormWithReLU"),
            "_contrib_SyncBatchNorm",
        ),
        _batch_norm,
    ),
    "LayerNorm": _layer_norm,
    "rms_norm": _rms_norm,
    "add_rms_norm": _add_rms_norm,
    "InstanceNorm": _instance_norm,
    "GroupNorm": _group_norm,
    "L2Normalization": _l2_normalization,
    "LRN": _lrn,
}
