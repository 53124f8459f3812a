"""Batch, layer, instance and group normalization, and related operators."""

from math import prod
from typing import Any

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32
from gluonish.onnx.importing.arrays import axis_of, dtype_of, op, wide
from gluonish.onnx.importing.elements import ELEMENTS
from gluonish.onnx.importing.nodes import Call, Rule


def _batch_norm(call: Call, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    """Normalize by running statistics, or by those of the batch in training."""
    epsilon, momentum = call.attr("epsilon", 1e-5), call.attr("momentum", 0.9)
    if call.attr("training_mode", 0) or call.wants(1):
        return _train_batch_norm(x, (scale, bias), (mean, variance), epsilon, momentum)
    if call.version < 9 and not call.attr("spatial", 1):
        return (x - mean) / mnp.sqrt(variance + epsilon) * scale + bias
    options = {"eps": epsilon, "momentum": momentum, "fix_gamma": False}
    if {dtype_of(p) for p in (scale, bias, mean, variance)} != {FLOAT32} and dtype_of(x) != FLOAT32:
        scale, bias, mean, variance = (p.astype(FLOAT32) for p in (scale, bias, mean, variance))
    return op("BatchNorm")(x, scale, bias, mean, variance, **options)


def _train_batch_norm(
    x: Any, affine: tuple[Any, Any], running: tuple[Any, Any], epsilon: float, momentum: float
) -> tuple[Any, Any, Any]:
    scale, bias = affine
    axes = (0, *range(2, len(x.shape)))
    shape = (-1, *(1,) * (len(x.shape) - 2))
    found = mnp.mean(x, axis=axes)
    spread = mnp.mean(mnp.square(x - mnp.reshape(found, shape)), axis=axes)
    factor = scale / mnp.sqrt(spread + epsilon)
    y = (x - mnp.reshape(found, shape)) * mnp.reshape(factor, shape) + mnp.reshape(bias, shape)
    kept = [
        old * momentum + new * (1 - momentum)
        for old, new in zip(running, (found, spread), strict=True)
    ]
    return y.astype(x.dtype), kept[0], kept[1]


def _instance_norm(call: Call, x: Any, scale: Any, bias: Any) -> Any:
    return op("InstanceNorm")(x, scale, bias, eps=call.attr("epsilon", 1e-5))


def _layer_norm(call: Call, x: Any, scale: Any, bias: Any = None) -> Any:
    """Normalize over all axes from ``axis`` on."""
    rank = len(x.shape)
    axis, epsilon = axis_of(call.attr("axis", -1), rank), call.attr("epsilon", 1e-5)
    plain = axis == rank - 1 and bias is not None and scale.shape == bias.shape == x.shape[-1:]
    if plain and not call.wants(1):
        return op("LayerNorm")(x, scale, bias, axis=-1, eps=epsilon)
    rows, axes = wide(x), tuple(range(axis, rank))
    mean = mnp.mean(rows, axis=axes, keepdims=True)
    centered = rows - mean
    inverse = 1 / mnp.sqrt(mnp.mean(centered * centered, axis=axes, keepdims=True) + epsilon)
    found = (centered * inverse).astype(x.dtype) * scale
    found = found if bias is None else found + bias
    stash = ELEMENTS[call.attr("stash_type", 1)].dtype
    return found, mean.astype(stash), inverse.astype(stash)


def _rms_norm(call: Call, x: Any, scale: Any) -> Any:
    """Divide by the root mean square over all axes from ``axis`` on."""
    rank = len(x.shape)
    axis, epsilon = axis_of(call.attr("axis", -1), rank), call.attr("epsilon", 1e-5)
    dtypes = (dtype_of(x), FLOAT32)
    if axis == rank - 1 and scale.shape == x.shape[-1:] and dtype_of(scale) in dtypes:
        return op("rms_norm")(x, scale, eps=epsilon).astype(dtype_of(scale))
    rows = wide(x)
    mean = mnp.mean(rows * rows, axis=tuple(range(axis, rank)), keepdims=True)
    return (rows / mnp.sqrt(mean + epsilon)).astype(dtype_of(scale)) * scale


def _group_norm(call: Call, x: Any, scale: Any, bias: Any) -> Any:
    groups, epsilon = call.attr("num_groups"), call.attr("epsilon", 1e-5)
    if call.version < 21:  # one scale for each group
        return op("GroupNorm")(x, scale, bias, num_groups=groups, eps=epsilon)
    one = mnp.ones((groups,), dtype=x.dtype)
    found = op("GroupNorm")(x, one, mnp.zeros_like(one), num_groups=groups, eps=epsilon)
    shape = (-1, *(1,) * (len(x.shape) - 2))
    return found * mnp.reshape(scale, shape) + mnp.reshape(bias, shape)


def _lp_norm(call: Call, x: Any) -> Any:
    axis = call.attr("axis", -1)
    if call.attr("p", 2) == 1:
        size = mnp.sum(mnp.abs(x), axis=axis, keepdims=True)
    else:
        size = mnp.sqrt(mnp.sum(x * x, axis=axis, keepdims=True))
    return mnp.where(
        size == 0, mnp.zeros_like(x), x / mnp.where(size == 0, mnp.ones_like(size), size)
    )


def _lrn(call: Call, x: Any) -> Any:
    options = {"alpha": call.attr("alpha", 1e-4), "beta": call.attr("beta", 0.75)}
    size = call.attr("size")
    if size % 2 == 0 or len(x.shape) != 4:
        return _wide_lrn(call, x, size, options["alpha"], options["beta"])
    return op("LRN")(x, knorm=call.attr("bias", 1.0), nsize=size, **options)


def _wide_lrn(call: Call, x: Any, size: int, alpha: float, beta: float) -> Any:
    before = (size - 1) // 2
    flat = mnp.reshape(x * x, (*x.shape[:2], prod(x.shape[2:])))
    ends = ((0, 0), (before, size - 1 - before), (0, 0))
    squares = mnp.pad(flat, ends, mode="constant", constant_values=0)
    total = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    factor = mnp.power(call.attr("bias", 1.0) + alpha / size * total, beta)
    return x / mnp.reshape(factor, x.shape)


RULES: dict[str, Rule] = {
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "GroupNormalization": _group_norm,
    "LpNormalization": _lp_norm,
    "LRN": _lrn,
}
