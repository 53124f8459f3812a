"""Layers between DequantizeLinear and QuantizeLinear, computed in int8.

In a file, this is ``QuantizeLinear(Relu(Conv(DequantizeLinear(x), DequantizeLinear(w), b)))``. If
scales and zero points are tensors of the file, and all zero points are 0, these nodes become one
operator on int8. Its sums of products are exact integers, so that the result differs from that of
floats in the last rounding only, by one step. Other nodes are not changed.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32, INT8, INT32, UINT8
from gluonish.onnx.importing.arrays import op
from gluonish.onnx.importing.elements import element_of
from gluonish.onnx.importing.families.convolution import convolution_options
from gluonish.onnx.importing.nodes import Call, Node
from gluonish.onnx.importing.programs import program_of
from gluonish.onnx.importing.running import Program, reads_of
from gluonish.onnx.importing.tensors import Stored

Array = np.ndarray[Any, Any]


class _Quantized(NamedTuple):
    """The input of a DequantizeLinear, or the output of a QuantizeLinear.

    Attributes:
        name: Name of the quantized value.
        scale: One number, or one for each channel of a weight.
        dtype: Type of the quantized values.
    """

    name: str
    scale: Array
    dtype: np.dtype[Any]


def on_bytes(program: Program) -> Program:
    """Return the program with each such layer merged into one node.

    Args:
        program: A main graph.
    """
    layers = [node for node in program.nodes if node.kind in _LAYERS and not node.domain]
    if not any(node.kind == "QuantizeLinear" for node in program.nodes) or not layers:
        return program
    rewriting = _Rewriting(program)
    for node in layers:
        rewriting.try_layer(node)
    return rewriting.result()


class _Rewriting:
    """Merges quantized layers of a program into int8 nodes.

    Args:
        program: The original program.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._constants = dict(program.constants)
        self._makers = {out: node for node in program.nodes for out in node.outputs if out}
        self._counts = Counter(name for node in program.nodes for name in reads_of(node))
        self._counts.update(program.outputs)
        self._readers = {name: node for node in program.nodes for name in node.inputs}
        self._replaced: dict[int, Node] = {}  # the new node takes the position of a QuantizeLinear
        self._gone: set[int] = set()

    def result(self) -> Program:
        """Return the rewritten program, without nodes that are no longer used."""
        if not self._replaced:
            return self._program
        nodes = [
            self._replaced.get(id(node), node)
            for node in self._program.nodes
            if id(node) not in self._gone
        ]
        read = {*self._program.outputs}
        kept = []
        for node in reversed(nodes):
            if node.kind != "DequantizeLinear" or not read.isdisjoint(node.outputs):
                kept.append(node)
                read |= reads_of(node)
        inputs = set(self._program.inputs)
        constants = {n: x for n, x in self._constants.items() if n in read or n in inputs}
        return program_of(self._program, kept[::-1], constants)

    def try_layer(self, layer: Node) -> None:
        """Merge a layer and its QDQ nodes into one node, if they have the supported form."""
        chain = self._chain(layer)
        if chain is None or len(layer.inputs) < 2:
            return
        *middle, last = chain
        data = self._dequantized(layer.inputs[0])
        result = self._quantized(last, last.inputs[0], last.outputs[0])
        if data is None or result is None or data.scale.size != 1 or result.scale.size != 1:
            return
        weight = self._weight(layer, data.scale)
        bias = None if weight is None else self._bias(layer, len(weight[0]))
        if weight is None or bias is None:
            return
        word = last.outputs[0]
        inputs = [data.name, self._add(f"{word}_weight", weight[0])]
        inputs += [self._add(f"{word}_scale", weight[1])]
        inputs += [self._add(f"{word}_step", result.scale.reshape(1))]
        inputs += ["", bias] if isinstance(bias, str) else [self._add(f"{word}_bias", bias)]
        finish = {"activation": "relu" if middle else None, "out_type": result.dtype.name}
        kind = "_int8_convolution" if layer.kind == "Conv" else "_int8_dense"
        attrs = {**layer.attrs, **finish}
        made = Node(kind, "", layer.version, layer.name, inputs, last.outputs, attrs)
        made.rule = _convolution if layer.kind == "Conv" else _dense
        self._replaced[id(last)] = made
        self._gone |= {id(layer), *map(id, middle)}

    def _weight(self, layer: Node, data_scale: Array) -> tuple[Array, Array] | None:
        """Return the weight with output channels first, and each channel's scale of the sums."""
        weight = self._dequantized(layer.inputs[1])
        numbers = None if weight is None else self._fixed(weight.name)
        if weight is None or numbers is None or {weight.dtype, numbers.dtype} != {INT8}:
            return None
        found = _LAYERS[layer.kind](layer, numbers)
        if found is None or weight.scale.size not in (1, len(found)):
            return None
        if weight.scale.size > 1 and not self._is_by_channel(layer, found.ndim):
            return None
        with np.errstate(over="ignore", under="ignore"):
            scale = data_scale.reshape(1) * weight.scale.reshape(-1)
        if not np.isfinite(scale).all() or (scale <= 0).any():
            return None
        return found, np.ascontiguousarray(np.broadcast_to(scale, len(found)))

    def _chain(self, layer: Node) -> list[Node] | None:
        """Return the only reader of a layer, a QuantizeLinear, preceded by a Relu between both."""
        found: list[Node] = []
        node = layer
        while True:
            name = node.outputs[0] if node.outputs else ""
            if self._counts[name] != 1 or name not in self._readers:
                return None
            node = self._readers[name]
            if node.domain or node.kind not in ("Relu", "QuantizeLinear"):
                return None
            found.append(node)
            if node.kind == "QuantizeLinear":
                fits = node.inputs[0] == name and len(found) <= 2 and len(node.outputs) == 1
                return found if fits else None

    def _dequantized(self, name: str) -> _Quantized | None:
        node = self._makers.get(name)
        if node is None or node.kind != "DequantizeLinear" or node.domain:
            return None
        return self._quantized(node, node.inputs[0], node.inputs[0])

    def _quantized(self, node: Node, real: str, name: str) -> _Quantized | None:
        """Return the quantized side of a QDQ node with known scale and zero points of 0."""
        scale = self._fixed(node.inputs[1])
        zero = self._fixed(node.inputs[2]) if len(node.inputs) > 2 else None
        if scale is None or zero is None or scale.dtype != FLOAT32 or zero.any():
            return None
        if zero.dtype not in (INT8, UINT8) or node.attrs.get("block_size", 0) or scale.ndim > 1:
            return None
        if not np.isfinite(scale).all() or (scale <= 0).any():
            return None
        if node.attrs.get("output_dtype", 0) or node.attrs.get("precision", 0):
            return None
        return _Quantized(name, scale, zero.dtype)

    def _fixed(self, name: str) -> Array | None:
        """Return the numbers of a constant tensor in the file, or None."""
        stored = self._constants.get(name)
        if stored is None or name in self._program.inputs or stored.element.is_narrow:
            return None
        return stored.numbers

    def _is_by_channel(self, layer: Node, rank: int) -> bool:
        """Whether the scales of a layer's weight apply to its output channels."""
        axis = self._makers[layer.inputs[1]].attrs.get("axis", 1)
        at = 0 if layer.kind == "Conv" or layer.attrs.get("transB", 0) else 1
        return isinstance(axis, int) and axis % rank == at

    def _bias(self, layer: Node, channels: int) -> Array | str | None:
        """Return a layer's bias: numbers, or the name of a float32 tensor, which can be trained."""
        name = layer.inputs[2] if len(layer.inputs) > 2 else ""
        if not name:
            return np.zeros(channels, FLOAT32)
        own = self._fixed(name)
        if own is not None:
            return name if own.dtype == FLOAT32 and own.shape == (channels,) else None
        node = self._makers.get(name)
        if node is None or node.kind != "DequantizeLinear" or node.domain:
            return None
        sums, scale = self._fixed(node.inputs[0]), self._fixed(node.inputs[1])
        zero = self._fixed(node.inputs[2]) if len(node.inputs) > 2 else np.zeros(1)
        if sums is None or scale is None or zero is None or zero.any():
            return None
        if sums.dtype != INT32 or sums.shape != (channels,) or scale.dtype != FLOAT32:
            return None
        if scale.size not in (1, channels) or node.attrs.get("block_size", 0):
            return None
        return (sums.astype(FLOAT32) * scale.reshape(-1)).astype(FLOAT32)

    def _add(self, name: str, numbers: Array) -> str:
        while name in self._constants or name in self._makers or name in self._program.inputs:
            name += "_"
        self._constants[name] = Stored(numbers, element_of(numbers))
        return name


def _of_conv(node: Node, weight: Array) -> Array | None:
    return weight if 3 <= weight.ndim <= 5 else None


def _of_gemm(node: Node, weight: Array) -> Array | None:
    attrs: Mapping[str, Any] = node.attrs
    plain = attrs.get("alpha", 1.0) == 1 and attrs.get("beta", 1.0) == 1
    if not plain or attrs.get("transA", 0) or weight.ndim != 2:
        return None
    return weight if attrs.get("transB", 0) else np.ascontiguousarray(weight.T)


def _of_mat_mul(node: Node, weight: Array) -> Array | None:
    return np.ascontiguousarray(weight.T) if weight.ndim == 2 else None


# Each function returns a weight with output channels first, or None.
_LAYERS = {"Conv": _of_conv, "Gemm": _of_gemm, "MatMul": _of_mat_mul}


def _convolution(call: Call, x: Any, weight: Any, *rest: Any) -> Any:
    x, options = convolution_options(call, x, weight)
    return _applied("_int8_convolution", call, x, weight, rest, options)


def _dense(call: Call, x: Any, weight: Any, *rest: Any) -> Any:
    options = {"num_hidden": weight.shape[0], "flatten": False}
    if len(x.shape) > 1:
        return _applied("_int8_dense", call, x, weight, rest, options)
    row = _applied("_int8_dense", call, mnp.expand_dims(x, 0), weight, rest, options)
    return mnp.reshape(row, (-1,))


def _applied(
    name: str, call: Call, x: Any, weight: Any, rest: Any, options: Mapping[str, Any]
) -> Any:
    scale, step, *biases = rest
    finish = {key: call.attr(key) for key in ("activation", "out_type")}
    return op(name)(x, weight, scale, biases[-1], step, no_bias=False, **options, **finish)
