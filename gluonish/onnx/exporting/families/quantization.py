"""Quantized networks, as QuantizeLinear and DequantizeLinear around operators on floats (QDQ).

Runtimes fuse these three nodes into operators on int8. A node that requantizes the int32 sums of a
layer reads the real values instead, so that runtimes recognize the pattern; the int32 values are
computed too, for other nodes that read them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT8, INT32, UINT8
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.indexing import bounded
from gluonish.onnx.exporting.families.layers import TABLE as LAYERS
from gluonish.onnx.exporting.families.recurrent import TABLE as RECURRENT
from gluonish.onnx.exporting.families.shapes import transpose
from gluonish.onnx.exporting.steps import (
    concat,
    gather,
    reduced,
    reshaped,
    reshaped_to_scalar,
    select,
    to_shape,
)
from gluonish.onnx.exporting.tensors import Tensor
from gluonish.ops.quantization.ranges import STEPS, WIDE_STEPS


def known_value(call: Call, x: Tensor) -> np.ndarray[Any, Any] | None:
    """Return the value of a constant or a weight, or None."""
    found = call.emitter.arrays.get(x.name)
    return call.emitter.weights.get(x.name) if found is None else found


def limit_of(call: Call, low: Any, high: Any) -> Tensor:
    """Return the larger magnitude of a range's ends, of shape ()."""
    ends = [x if isinstance(x, Tensor) else call.constant(x, FLOAT32) for x in (low, high)]
    known = [known_value(call, x) for x in ends]
    if all(x is not None for x in known):
        size = max(float(np.abs(x).reshape(-1)[0]) for x in known if x is not None)
        return call.constant(np.float32(size))
    sizes = [reshaped_to_scalar(call("Abs", reshaped_to_scalar(x))) for x in ends]
    return call("Max", *sizes)


def _divided(call: Call, limit: Tensor, steps: float) -> Tensor:
    """Return the scale of a quantized array; 1 for an empty range."""
    known = known_value(call, limit)
    if known is not None:
        size = float(known) if known > 0 else 1.0
        return call.constant(np.float32(size / steps))
    return select(limit > 0.0, limit, 1.0) / steps


def real_of(call: Call, x: Tensor, low: Tensor, high: Tensor, steps: Any = WIDE_STEPS) -> Tensor:
    """Return the real values of a quantized array; those of int32 sums may be known already."""
    found = call.emitter.reals.get(x.name)
    if found is not None and x.dtype == INT32:
        return Tensor(call.emitter, found.name, found.dtype, x.shape)
    scale = _divided(call, limit_of(call, low, high), steps[x.dtype])
    if x.dtype == INT32:
        return (x.to(FLOAT64) * scale.to(FLOAT64)).to(FLOAT32)
    zero = call.constant(np.zeros((), x.dtype))
    made = call("DequantizeLinear", x, scale, zero, dtype=FLOAT32)
    made.shape = x.shape
    return made


def bytes_of(
    call: Call, real: Tensor, limit: Tensor, dtype: Any, steps: Any = WIDE_STEPS
) -> Tensor:
    """Quantize real numbers; ``limit`` is the larger magnitude of the range's ends."""
    scale = _divided(call, limit, steps[dtype])
    zero = call.constant(np.zeros((), dtype))
    return call("QuantizeLinear", real, scale, zero, dtype=dtype)


def ends_of(call: Call, low: Any, high: Any) -> list[Tensor]:
    """Return the ends of a range, each of shape (1,)."""
    return [_end(call, x) for x in (low, high)]


def _end(call: Call, x: Any) -> Tensor:
    known = known_value(call, x) if isinstance(x, Tensor) else np.asarray(x, np.float32)
    return reshaped(x, [1]) if known is None else call.constant(known.reshape(-1)[:1])


def _symmetric(call: Call, limit: Tensor) -> list[Tensor]:
    known = known_value(call, limit)
    return ends_of(call, -limit if known is None else -known, limit)


def _range_of(call: Call, x: Tensor) -> tuple[Any, Any]:
    if call.attrs.get("min_calib_range") is not None:
        return float(call["min_calib_range"]), float(call["max_calib_range"])
    return reduced("ReduceMin", x), reduced("ReduceMax", x)


def _quantize(call: Call) -> list[Tensor]:
    x, dtype = call.x, call.out.dtype
    if x.dtype in (INT8, UINT8):
        return [x, *ends_of(call, call["min_calib_range"], call["max_calib_range"])]
    given = len(call.inputs) == 3
    low, high = call.inputs[1:3] if given else _range_of(call, x)
    limit = limit_of(call, low, high)
    made = bytes_of(call, x, limit, dtype, STEPS if given else WIDE_STEPS)
    return [made, *(_symmetric(call, limit) if dtype == INT8 else ends_of(call, low, high))]


def _quantize_asym(call: Call) -> list[Tensor]:
    low, high = (
        v if isinstance(v, Tensor) else call.constant(v, FLOAT32) for v in _range_of(call, call.x)
    )
    width = high - low
    scale = select(width > 0.0, 255.0 / select(width > 0.0, width, 1.0), 1.0)
    shift = 255.0 - high * scale
    steps = call("Round", call.x * scale + shift)
    limits = [call.constant(v, FLOAT32) for v in (0, 255)]
    made = call("Clip", steps, *limits).to(UINT8)
    return [made, *ends_of(call, scale, shift)]


def _dequantize(call: Call) -> Tensor:
    data, low, high = call.inputs
    return real_of(call, data, low, high)


def _requantize(call: Call) -> list[Tensor]:
    data, low, high = call.inputs
    real = real_of(call, data, low, high, STEPS)
    limit = limit_of(call, *_range_of(call, real))
    dtype = call.out.dtype
    made = bytes_of(call, real, limit, dtype, STEPS)
    return [made, *(_symmetric(call, limit) if dtype == INT8 else ends_of(call, 0.0, limit))]


def _product(layer: str) -> Callable[[Call], list[Tensor]]:
    def translate(call: Call) -> list[Tensor]:
        names = ["data", "weight", *([] if call["no_bias"] else ["bias"])]
        given = dict(zip(names, call.inputs, strict=False))
        rest = list(call.inputs[len(names) :])
        ends = {name: (rest[2 * i], rest[2 * i + 1]) for i, name in enumerate(names)}
        limits = {name: limit_of(call, *ends[name]) for name in names}
        steps = {n: _divided(call, limits[n], STEPS[given[n].dtype]) for n in ("data", "weight")}
        step = steps["data"] * steps["weight"]
        bias = _bias_steps(call, given, limits) if "bias" in given else None
        sums = _layer_of(call, layer, given["data"], given["weight"], bias, FLOAT32)
        data = real_of(call, given["data"], *ends["data"], steps=STEPS)
        weight = real_of(call, given["weight"], *ends["weight"], steps=STEPS)
        real = _layer_of(call, layer, data, weight, None if bias is None else bias * step, FLOAT32)
        made = sums.to(INT32)
        call.emitter.reals[f"{call.emitter.word}_output"] = real
        limit = limits["data"] / STEPS[given["data"].dtype]
        limit = limit * limits["weight"] * (STEPS[INT32] / STEPS[given["weight"].dtype])
        return [made, *_symmetric(call, limit)]

    return translate


def _bias_steps(call: Call, given: dict[str, Tensor], limits: dict[str, Tensor]) -> Tensor:
    """Return a bias in units of the int32 sums, truncated toward zero, as float32."""
    per = {n: WIDE_STEPS[given[n].dtype] / limits[n].to(FLOAT64) for n in given}
    scaled = given["bias"].to(FLOAT64) * (per["data"] * per["weight"] / per["bias"])
    return select(call("IsNaN", scaled), 0.0, scaled).to(INT32).to(FLOAT32)


def _layer_of(
    call: Call, layer: str, data: Tensor, weight: Tensor, bias: Tensor | None, dtype: Any
) -> Tensor:
    inputs = []
    for x, like in zip((data, weight), call.inputs[:2], strict=True):
        inputs.append(x.to(dtype))
        inputs[-1].shape = like.shape
    attrs = {**call.attrs, "no_bias": bias is None}
    spec = call.out._replace(dtype=dtype)
    extra = [] if bias is None else [bias]
    made = LAYERS[layer](
        replace(call, op=layer, attrs=attrs, inputs=[*inputs, *extra], outputs=[spec])
    )
    assert isinstance(made, Tensor)
    return made


def _passed(inner: Callable[[Call], Tensor]) -> Callable[[Call], list[Tensor]]:
    """Return a translator of an operator that does not change the range."""
    return lambda call: [inner(call), *ends_of(call, *call.inputs[1:3])]


def _relu(call: Call) -> Tensor:
    return call("Max", call.x, call.constant(0, call.x.dtype))


def _pooling(call: Call) -> Tensor:
    data = call.x.to(FLOAT32)
    data.shape = call.x.shape
    inner = replace(call, inputs=[data], outputs=[call.out._replace(dtype=FLOAT32)])
    made = LAYERS["Pooling"](inner)
    assert isinstance(made, Tensor)
    return call("Round", made) if call["pool_type"] != "max" else made


def _add(call: Call) -> list[Tensor]:
    a, b, *ends = call.inputs
    total = real_of(call, a, ends[0], ends[1]) + real_of(call, b, ends[2], ends[3])
    dtype = call.out.dtype
    if call["min_calib_range"] is not None:
        limit = limit_of(call, call["min_calib_range"], call["max_calib_range"])
        made = bytes_of(call, total, limit, dtype)
        return [made, *ends_of(call, call["min_calib_range"], call["max_calib_range"])]
    limit = limit_of(call, *ends[:2]) + limit_of(call, *ends[2:])
    scale = STEPS[INT32] / select(limit > 0.0, limit, 1.0).to(FLOAT64)
    wide = _wide(call, a, ends[:2]) + _wide(call, b, ends[2:])
    made = call("Round", wide * scale)
    call.emitter.reals[f"{call.emitter.word}_output"] = total
    return [saturated(call, made), *_symmetric(call, limit)]


def _wide(call: Call, x: Tensor, ends: Sequence[Tensor]) -> Tensor:
    return x.to(FLOAT64) * (limit_of(call, *ends).to(FLOAT64) / WIDE_STEPS[x.dtype])


def saturated(call: Call, x: Tensor) -> Tensor:
    """Convert integral numbers to int32, saturating."""
    limits = np.iinfo(np.int32)
    return call("Clip", x, *(call.constant(v, FLOAT64) for v in (limits.min, limits.max))).to(INT32)


def _multiply(call: Call) -> list[Tensor]:
    a, b, *ends = call.inputs
    product = a.to(INT32) * b.to(INT32)
    limits = [limit_of(call, *ends[:2]), limit_of(call, *ends[2:])]
    step = limits[0].to(FLOAT64) / STEPS[a.dtype] * (limits[1].to(FLOAT64) / STEPS[b.dtype])
    if call["enable_float_output"]:
        return [(product.to(FLOAT64) * step).to(FLOAT32)]
    if call["min_calib_range"] is None:
        return [product, *_symmetric(call, step.to(FLOAT32) * STEPS[INT32])]
    limit = limit_of(call, call["min_calib_range"], call["max_calib_range"])
    real = (product.to(FLOAT64) * step).to(FLOAT32)
    made = bytes_of(call, real, limit, INT8, STEPS)
    return [made, *ends_of(call, call["min_calib_range"], call["max_calib_range"])]


def _concat(call: Call) -> list[Tensor]:
    count = call["num_args"]
    data, ends = call.inputs[:count], call.inputs[count:]
    low = call("Min", *(reshaped_to_scalar(x) for x in ends[::2]))
    high = call("Max", *(reshaped_to_scalar(x) for x in ends[1::2]))
    chunks = [
        real_of(call, x, ends[2 * i], ends[2 * i + 1], steps=STEPS) for i, x in enumerate(data)
    ]
    made = bytes_of(
        call, concat(chunks, call["dim"]), limit_of(call, low, high), call.out.dtype, STEPS
    )
    return [made, *ends_of(call, low, high)]


def _embedding(call: Call) -> list[Tensor]:
    index, weight, low, high = call.inputs
    return [gather(weight, bounded(index, weight, 0), 0), *ends_of(call, low, high)]


def _batch_norm(call: Call) -> list[Tensor]:
    x, gamma, beta, mean, var, low, high = call.inputs
    root = call("Sqrt", var + float(call["eps"]))
    slope = 1.0 / root if call["fix_gamma"] else gamma / root
    column = [1] * x.rank
    column[call["axis"]] = -1
    offset = reshaped(beta - mean * slope, column)
    real = real_of(call, x, low, high) * reshaped(slope, column) + offset
    limit = limit_of(call, call["min_calib_range"], call["max_calib_range"])
    made = bytes_of(call, real, limit, INT8)
    return [made, *ends_of(call, call["min_calib_range"], call["max_calib_range"])]


def _rnn(call: Call) -> Any:
    x, *rest = call.inputs
    *arrays, scale, shift = rest
    real = (x.to(FLOAT32) - reshaped_to_scalar(shift)) / reshaped_to_scalar(scale)
    real.shape = x.shape
    made = RECURRENT["RNN"](replace(call, op="RNN", inputs=[real, *arrays]))
    return made[: len(call.outputs)]


TABLE: dict[str, Any] = {
    "_contrib_quantize": _quantize,
    "_contrib_quantize_v2": _quantize,
    "_contrib_quantize_asym": _quantize_asym,
    "_contrib_dequantize": _dequantize,
    "_contrib_requantize": _requantize,
    "_contrib_quantized_conv": _product("Convolution"),
    "_contrib_quantized_fully_connected": _product("FullyConnected"),
    "_contrib_quantized_act": _passed(_relu),
    "_contrib_quantized_flatten": _passed(lambda call: call("Flatten", call.x, axis=1)),
    "_npx_quantized_reshape": _passed(
        lambda call: to_shape(call.x, call.x.known_shape, call.out.shape)
    ),
    "_npx_quantized_transpose": _passed(transpose),
    "_contrib_quantized_pooling": _passed(_pooling),
    "_contrib_quantized_elemwise_add": _add,
    "_contrib_quantized_elemwise_mul": _multiply,
    "_contrib_quantized_concat": _concat,
    "_contrib_quantized_embedding": _embedding,
    "_contrib_quantized_batch_norm": _batch_norm,
    "_contrib_quantized_rnn": _rnn,
}
