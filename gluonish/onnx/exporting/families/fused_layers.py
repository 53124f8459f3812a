"""Fused layers of MXNet's quantized networks, as QDQ.

The node's body is a layer, then possibly a BatchNorm, an activation, a sum and another activation.
The BatchNorm is folded into the weights, these are written as int8 with a scale for each channel,
and the rest is computed in floating point between DequantizeLinear and QuantizeLinear.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT8, INT32, UINT8
from gluonish.graph.ir import Node, Value, variable
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.quantization import (
    bytes_of,
    ends_of,
    known_value,
    limit_of,
    real_of,
    saturated,
)
from gluonish.onnx.exporting.tensors import Tensor
from gluonish.ops.quantization.ranges import STEPS, WIDE_STEPS

_LAYERS = ("Convolution", "FullyConnected")


@dataclass(eq=False)
class _Body:
    """A graph made here: the attributes of a control-flow body that `Walk` reads."""

    inputs: Sequence[Node]
    outputs: Sequence[Value]


def _chain(body: Any) -> tuple[Node, list[Node]]:
    """Return the layer, and the nodes after it in order."""
    node, rest = body.outputs[0].node, []
    while node.op.name not in _LAYERS:
        rest.append(node)
        node = next(value.node for value in node.inputs if value.node.op is not None)
    return node, rest[::-1]


def _fused(call: Call) -> list[Tensor]:
    (body,) = call["subgraphs"]
    count = body.num_inputs
    if not call["quantized"]:
        return call.translate(call.emitter, body, call.inputs[:count])
    layer, rest = _chain(body)
    given = {id(node): x for node, x in zip(body.inputs, call.inputs[:count], strict=True)}
    data, *weights = (given[id(value.node)] for value in layer.inputs)
    ends = list(call.inputs[count:])
    real = _dequantized(call, _flat(call, layer, data, weights[0]), ends)
    sum_ends = [ends.pop(0), ends.pop(0)] if call["with_sum"] else []
    if weights[0].dtype == INT8:
        step = limit_of(call, *ends[:2]) / STEPS[INT8]
        arrays = [_dequantized(call, weight, ends, STEPS) for weight in weights]
    else:
        arrays, steps = _in_bytes(call, weights, rest, given)
        step = call.constant(steps.max(), FLOAT32)
        rest = [node for node in rest if node.op is not None and node.op.name != "BatchNorm"]
    others = {
        key: _dequantized(call, x, list(sum_ends)) if x.dtype in (INT8, UINT8) else x
        for key, x in given.items()
        if key not in {id(v.node) for v in layer.inputs}
    }
    value = _computed(call, layer, rest, [real, *arrays], others)
    return _outputs(call, value, data, step)


def _flat(call: Call, layer: Node, data: Tensor, weight: Tensor) -> Tensor:
    """Flatten the data of a dense layer before DequantizeLinear, so that runtimes can fuse both.

    int32 data are not changed, since their real values are looked up by the tensor's name.
    """
    if layer.attrs.get("flatten") is not True or data.rank == 2 or data.dtype == INT32:
        return data
    made = call("Flatten", data, axis=1)
    made.shape = (data.known_shape[0], weight.size(1))
    return made


def _dequantized(call: Call, x: Tensor, ends: list[Tensor], steps: Any = WIDE_STEPS) -> Tensor:
    """Dequantize an array; the ends of its range are removed from the list."""
    return real_of(call, x, ends.pop(0), ends.pop(0), steps)


def _in_bytes(
    call: Call, weights: Sequence[Tensor], rest: Sequence[Node], given: dict[int, Tensor]
) -> tuple[list[Tensor], np.ndarray[Any, Any]]:
    """Return int8 weight and bias with a BatchNorm folded in, and the scale of each channel."""
    weight, *biases = (_array(call, x) for x in weights)
    bias = biases[0] if biases else np.zeros(len(weight), np.float32)
    column = (-1, *(1,) * (weight.ndim - 1))
    for node in rest:
        if node.op is not None and node.op.name == "BatchNorm":
            gamma, beta, mean, var = (_array(call, given[id(v.node)]) for v in node.inputs[1:5])
            gamma = np.ones_like(gamma) if node.attrs["fix_gamma"] else gamma
            factor = gamma / np.sqrt(var + np.float32(node.attrs["eps"]))
            weight, bias = weight * factor.reshape(column), (bias - mean) * factor + beta
    sizes = np.abs(weight).reshape(len(weight), -1).max(axis=1)
    steps = (np.where(sizes > 0, sizes, 1) / np.float32(STEPS[INT8])).astype(np.float32)
    rows = np.clip(np.rint(weight / steps.reshape(column)), -128, 127).astype(np.int8)
    zeros = call.constant(np.zeros(len(weight), np.int8))
    scale = call.constant(steps)
    made = call("DequantizeLinear", call.constant(rows), scale, zeros, axis=0, dtype=FLOAT32)
    made.shape = weight.shape
    return [made, call.constant(bias.astype(np.float32))], steps


def _array(call: Call, x: Tensor) -> np.ndarray[Any, Any]:
    found = known_value(call, x)
    if found is None:
        raise call.refuse(f"its weight {x.name} is computed; give the weights in params")
    return found


def _computed(
    call: Call,
    layer: Node,
    rest: Sequence[Node],
    inputs: Sequence[Tensor],
    others: dict[int, Tensor],
) -> Tensor:
    """Write the layer and the operators fused to it in floating point."""
    word = call.emitter.word
    values = [variable(f"{word}_in{i}") for i in range(len(inputs))]
    tensors = list(inputs)
    attrs = {**layer.attrs, "no_bias": len(inputs) == 2}
    value = Value(Node(layer.op, f"{word}_sums", values, attrs))
    nodes = [v.node for v in values]
    for node in rest:
        own = []
        for read in node.inputs:
            if read.node.op is not None:
                own.append(value)
                continue
            own.append(variable(f"{word}_in{len(nodes)}"))
            nodes.append(own[-1].node)
            tensors.append(others[id(read.node)])
        value = Value(Node(node.op, f"{word}_{node.name}", own, node.attrs))
    (made,) = call.translate(call.emitter, _Body(nodes, [value]), tensors)  # type: ignore[arg-type]  # reads inputs and outputs only
    call.emitter.word = word
    return made


def _outputs(call: Call, real: Tensor, data: Tensor, step: Tensor) -> list[Tensor]:
    """Return the outputs of the node; ``step`` is the largest scale of the weight."""
    if call["enable_float_output"]:
        return [real]
    low, high = call["min_calib_range"], call["max_calib_range"]
    if low is not None:
        made = bytes_of(call, real, limit_of(call, low, high), call.out.dtype)
        return [made, *ends_of(call, low, high)]
    ends = call.inputs[call["subgraphs"][0].num_inputs :]
    limit = limit_of(call, *ends[:2]) * step * float(STEPS[INT32] / WIDE_STEPS[data.dtype])
    call.emitter.reals[f"{call.emitter.word}_output"] = real
    whole = call("Round", real.to(FLOAT64) / limit.to(FLOAT64) * STEPS[INT32])
    return [saturated(call, whole), *ends_of(call, -limit, limit)]


TABLE = {"_sg_mkldnn_conv": _fused, "_sg_mkldnn_fully_connected": _fused}
