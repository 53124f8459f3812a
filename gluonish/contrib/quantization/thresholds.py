"""Ranges found by calibration, put into a quantized graph, which then needs fewer operators."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.contrib.quantization.fusion import CONV, DENSE
from gluonish.graph.ir import Node, Value, topological_order

__all__ = ["Thresholds", "join_ranges", "put_thresholds", "wanted_names"]

Thresholds = Mapping[str, tuple[float, float]]

_CALIBRATED = ("_contrib_quantize_v2", "_contrib_requantize", "_contrib_quantized_batch_norm")
_JOINED = (CONV, DENSE, "_contrib_quantized_elemwise_add", "_contrib_quantized_elemwise_mul")
_FLOAT_OUTPUT = (DENSE, "_contrib_quantized_elemwise_mul")


def _names(node: Node) -> tuple[str, ...]:
    """Return what the value whose range a node takes may be called in a collector."""
    assert node.op is not None
    if node.op.name == "_contrib_quantize_v2":
        source = node.inputs[0]
        if source.node.op is None:
            return (source.node.name,)
        name = node.name.removesuffix("_quantize")
        stem, _, number = name.rpartition("_")
        if not number.isdigit():
            return (name,)
        return (name, f"{stem}_output" if number == "0" else f"{stem}_output{number}")
    stem = node.name.removeprefix("requantize_").removeprefix("quantized_")
    return (f"{stem}_output",)


def wanted_names(outputs: Sequence[Value]) -> list[str]:
    """Return the names of the values whose ranges a quantized graph needs, in execution order.

    Args:
        outputs: Outputs of the graph.
    """
    found: dict[str, None] = {}
    for node in topological_order(outputs):
        if node.op is not None and node.op.name in _CALIBRATED:
            found[_names(node)[-1]] = None
    return list(found)


def put_thresholds(outputs: Sequence[Value], thresholds: Thresholds) -> list[Value]:
    """Return a quantized graph's outputs after inserting known ranges.

    Args:
        outputs: Outputs of the graph, which is not changed.
        thresholds: Range (min, max) by the name of the value, such as ``data`` or ``fc1_output``.
    """

    def change(node: Node, inputs: Sequence[Value]) -> Node | None:
        if node.op is None or node.op.name not in _CALIBRATED:
            return None
        ends = next((thresholds[name] for name in _names(node) if name in thresholds), None)
        return None if ends is None else _with_range(node, inputs, ends)

    return _rebuilt(outputs, change)


def _with_range(node: Node, inputs: Sequence[Value], ends: Sequence[float]) -> Node:
    low, high = (float(_text(float(end))) for end in ends)
    made = _changed(node, inputs, min_calib_range=low, max_calib_range=high)
    if low < 0 and made.attrs.get("out_type") == "uint8":  # in files; it has no negative numbers
        return _changed(made, inputs, out_type="auto")
    return made


def _text(number: float) -> str:
    """Return a number as MXNet writes it, with six decimals, or with more where these are too few:
    a range below 0.0000005 would be none."""
    text = f"{number:f}"
    return text if abs(float(text) - number) <= 1e-3 * abs(number) else f"{number:.9g}"


def _changed(node: Node, inputs: Sequence[Value], **attrs: Any) -> Node:
    """Return a node with further attributes."""
    texts = {
        key: _text(value) if isinstance(value, float) else str(value)
        for key, value in attrs.items()
    }
    given = {**(node.given or {}), **texts}
    return Node(node.op, node.name, inputs, {**node.attrs, **attrs}, extra=node.extra, given=given)


def _rebuilt(outputs: Sequence[Value], change: Any) -> list[Value]:
    """Return the outputs of a graph whose nodes are changed, or pass one of the others on."""
    made: dict[tuple[int, int], Value] = {}
    for node in topological_order(outputs):
        inputs = [made[value.key] for value in node.inputs]
        new = change(node, inputs)
        if new is None:
            new = node
            if any(a.node is not b.node for a, b in zip(inputs, node.inputs, strict=True)):
                new = Node(
                    node.op, node.name, inputs, node.attrs, extra=node.extra, given=node.given
                )
        for i in range(node.num_outputs):
            made[id(node), i] = Value(new, i)
    return [made[value.key] for value in outputs]


def join_ranges(outputs: Sequence[Value]) -> list[Value]:
    """Return a calibrated graph's outputs after merging requantization into the layers.

    The layers then return quantized or floating data directly.

    Args:
        outputs: Outputs of the graph, which is not changed.
    """
    outputs = _join_requantize(outputs)
    return _join_dequantize(outputs)


def _reads(outputs: Sequence[Value]) -> Counter[tuple[int, int]]:
    counts = Counter(v.key for node in topological_order(outputs) for v in node.inputs)
    counts.update(value.key for value in outputs)
    return counts


def _join_requantize(outputs: Sequence[Value]) -> list[Value]:
    reads = _reads(outputs)

    def change(node: Node, inputs: Sequence[Value]) -> Node | None:
        if node.op is None or node.op.name != "_contrib_requantize":
            return None
        source = inputs[0].node
        if node.attrs["min_calib_range"] is None or reads[node.inputs[0].key] != 1:
            return None
        if source.op is None or source.op.name not in _JOINED:
            return None
        ends = {key: node.attrs[key] for key in ("min_calib_range", "max_calib_range")}
        return _changed(source, source.inputs, **ends)

    return _rebuilt(outputs, change)


def _join_dequantize(outputs: Sequence[Value]) -> list[Value]:
    reads = _reads(outputs)

    def change(node: Node, inputs: Sequence[Value]) -> Node | None:
        if node.op is None or node.op.name != "_contrib_dequantize":
            return None
        source = inputs[0].node
        if source.op is None or source.op.name not in _FLOAT_OUTPUT:
            return None
        if source.attrs["min_calib_range"] is None or reads[node.inputs[0].key] != 1:
            return None
        given = dict(source.given or {})
        attrs = dict(source.attrs)
        for key in ("min_calib_range", "max_calib_range"):
            given.pop(key, None)
            attrs[key] = None
        bare = Node(source.op, source.name, source.inputs, attrs, extra=source.extra, given=given)
        return _changed(bare, bare.inputs, enable_float_output=True)

    return _rebuilt(outputs, change)
