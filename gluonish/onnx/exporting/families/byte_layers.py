"""Layers with weights of 8 or 4 bits, as DequantizeLinear before a layer on floats.

_int8_convolution and _int8_dense, which come from imported QDQ files, are written as QDQ again.
weight_only_dense is a product of floating data; scales of groups are blocks of opset 21, which has
integers of 4 bits, too.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT4, INT8, INT32, UINT8
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.layers import TABLE as LAYERS
from gluonish.onnx.exporting.families.layers import activated
from gluonish.onnx.exporting.families.quantization import known_value
from gluonish.onnx.exporting.steps import reshaped, reshaped_to_scalar
from gluonish.onnx.exporting.tensors import Tensor
from gluonish.ops.quantization.weight_only import integers_of
from gluonish.ops.support.precision import accumulator


def _on_bytes(layer: str) -> Callable[[Call], Tensor]:
    """Return the translator of a layer; its weight's scale already includes the data's scale."""

    def translate(call: Call) -> Tensor:
        data, weight, scale, bias, step, *addend = call.inputs
        if addend or call["activation"] not in (None, "relu") or call.out.dtype == INT32:
            raise call.refuse("it adds an array, gives int32, or has a function other than relu")
        one = call.constant(1, FLOAT32)
        real = call("DequantizeLinear", data, one, _zero(call, data.dtype), dtype=FLOAT32)
        zeros = call.constant(np.zeros(weight.size(0), INT8))
        rows = call("DequantizeLinear", weight, scale, zeros, axis=0, dtype=FLOAT32)
        real.shape, rows.shape = data.shape, weight.shape
        attrs = {**call.attrs, "no_bias": False}
        spec = call.out._replace(dtype=FLOAT32)
        inner = replace(call, op=layer, attrs=attrs, inputs=[real, rows, bias], outputs=[spec])
        made = LAYERS[layer](inner)
        assert isinstance(made, Tensor)
        made = made if call["activation"] is None else activated(made, "relu")
        known = known_value(call, step)
        scalar = reshaped_to_scalar(step) if known is None else call.constant(known.reshape(()))
        if call.out.dtype == FLOAT32:
            return made / scalar
        zero = _zero(call, call.out.dtype)
        return call("QuantizeLinear", made, scalar, zero, dtype=call.out.dtype)

    return translate


def _weight_only(call: Call) -> Tensor:
    data, weight, scale, *bias = call.inputs
    wide = accumulator(data.dtype)
    if weight.dtype == UINT8:
        weight = _nibbles(call, weight)
    rows = _floating(call, weight, scale.to(wide), call["group_size"])
    rows.shape = weight.shape
    inputs = [data.to(wide), rows, *(x.to(wide) for x in bias)]
    spec = call.out._replace(dtype=wide)
    inner = replace(call, op="FullyConnected", inputs=inputs, outputs=[spec])
    made = LAYERS["FullyConnected"](inner)
    assert isinstance(made, Tensor)
    return made.to(data.dtype)


def _nibbles(call: Call, weight: Tensor) -> Tensor:
    """Return the integers of 4 bits that a weight stores in bytes.

    Raises:
        CannotExportError: The opset has none, or the weight is computed.
    """
    known = known_value(call, weight)
    if call.emitter.opset < 21 or known is None:
        raise call.refuse(
            "weights of 4 bits need opset_version of 21 or more, and are parameters; export so, or "
            "round to int8"
        )
    return call.constant(integers_of(np, known).astype(INT4))


def _floating(call: Call, weight: Tensor, scale: Tensor, group_size: int | None) -> Tensor:
    """Return integers times their scales, in the dtype of these."""
    if scale.dtype == FLOAT32 and group_size is None:
        zeros = call.constant(np.zeros(weight.size(0), weight.dtype))
        return call("DequantizeLinear", weight, scale, zeros, axis=0, dtype=FLOAT32)
    if scale.dtype == FLOAT32 and call.emitter.opset >= 21:
        attrs = {"axis": 1, "block_size": group_size}
        return call("DequantizeLinear", weight, scale, dtype=FLOAT32, **attrs)
    units, features = weight.size(0), weight.size(1)
    grouped = reshaped(weight, [units, -1, group_size or features]).to(scale.dtype)
    return reshaped(grouped * reshaped(scale, [units, -1, 1]), [units, features])


def _zero(call: Call, dtype: np.dtype[Any]) -> Tensor:
    return call.constant(np.zeros((), dtype))


TABLE = {
    "_int8_convolution": _on_bytes("Convolution"),
    "_int8_dense": _on_bytes("FullyConnected"),
    "weight_only_dense": _weight_only,
}
