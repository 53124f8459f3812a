"""Ranges of quantized values: naive (minimum and maximum), or by relative entropy.

Naive ranges include all values of the calibration data. Ranges by relative entropy clip the largest
values, for a finer resolution; the effect on accuracy depends on the network.
"""

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.contrib.quantization.collectors import Histogram
from gluonish.contrib.quantization.fusion import CONV, DENSE
from gluonish.contrib.quantization.parameters import quantize_parameters
from gluonish.core.context import Context
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import NDArray
from gluonish.ndarray.creation import zeros
from gluonish.symbol import Symbol

Thresholds = Mapping[str, tuple[float, float]]

_CALIBRATED = ("_contrib_quantize_v2", "_contrib_requantize", "_contrib_quantized_batch_norm")
_JOINED = (CONV, DENSE, "_contrib_quantized_elemwise_add", "_contrib_quantized_elemwise_mul")
_FLOAT_OUTPUT = (DENSE, "_contrib_quantized_elemwise_mul")


def _names(node: Node) -> tuple[str, ...]:
    """Return the names under which a collector may store the range that a node needs."""
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
    if low < 0 and made.attrs.get("out_type") == "uint8":  # from a file; uint8 is never negative
        return _changed(made, inputs, out_type="auto")
    return made


def _text(number: float) -> str:
    """Return a number with six decimals, as in MXNet, or with more if it would be inaccurate."""
    text = f"{number:f}"
    return text if abs(float(text) - number) <= 1e-3 * abs(number) else f"{number:.9g}"


def _changed(node: Node, inputs: Sequence[Value], **attrs: Any) -> Node:
    """Return a copy of a node with new inputs and additional attributes."""
    texts = {
        key: _text(value) if isinstance(value, float) else str(value)
        for key, value in attrs.items()
    }
    given = {**(node.given or {}), **texts}
    return Node(node.op, node.name, inputs, {**node.attrs, **attrs}, extra=node.extra, given=given)


def _rebuilt(outputs: Sequence[Value], change: Any) -> list[Value]:
    """Return the outputs of a graph after replacing each node for which ``change`` returns one."""
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

    The layers then return quantized or floating-point data directly.

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


Ranges = Mapping[str, tuple[float, float]]

# Networks are compared on the first batches, up to this total size.
_MAX_BYTES = 32 << 20


def naive_ranges(histograms: Mapping[str, Histogram]) -> dict[str, tuple[float, float]]:
    """Return the minimum and maximum of each output.

    Args:
        histograms: Histograms, as `LayerHistogramCollector` collects them.
    """
    return {name: (float(found[2]), float(found[3])) for name, found in histograms.items()}


class FirstBatches:
    """Copies of the first calibration batches, all with the shapes of the first batch."""

    def __init__(self) -> None:
        self.batches: list[list[NDArray]] = []
        self._nbytes = 0

    def add(self, batch: Sequence[NDArray]) -> None:
        """Copy a batch, unless its shapes differ or the total size would exceed the limit."""
        nbytes = sum(x.size * np.dtype(x.dtype).itemsize for x in batch)
        same = not self.batches or [x.shape for x in batch] == [x.shape for x in self.batches[0]]
        if same and (not self.batches or self._nbytes + nbytes <= _MAX_BYTES):
            self.batches.append([x.copy() for x in batch])
            self._nbytes += nbytes


def warn_of_outputs(
    what: str,
    symbol: Symbol,
    quantized: tuple[Symbol, Symbol],
    arrays: Mapping[str, NDArray],
    data_names: Sequence[str],
    first_batches: FirstBatches,
    context: Context,
) -> None:
    """Warn if a network quantized by entropy has a larger error than one by minimum and maximum.

    Args:
        what: Name of the calling function.
        symbol: The original graph.
        quantized: The graph quantized by entropy, and the one quantized by minimum and maximum.
        arrays: Parameters and auxiliary states of the original graph, by name.
        data_names: Names of the variables that are inputs.
        first_batches: Batches of the calibration data.
        context: Device to run on.
    """

    def run(graph: Symbol) -> list[Any]:
        return list(_outputs(graph, arrays, data_names, first_batches.batches, context))

    expected = run(symbol)
    entropy, naive = (_relative_error(run(graph), expected) for graph in quantized)
    _warn(what, "outputs", entropy, naive)


def warn_of_histograms(what: str, histograms: Mapping[str, Histogram], found: Ranges) -> None:
    """Warn if the ranges by entropy have a larger error on the histograms than the naive ones.

    Args:
        what: Name of the calling function.
        histograms: Histograms, as `LayerHistogramCollector` collects them.
        found: The ranges found by entropy.
    """

    def error(ranges: Ranges) -> float:
        noise = [_noise(histograms[name], ranges[name]) for name in histograms]
        return math.sqrt(sum(noise) / len(noise)) if noise else 0.0

    _warn(what, "values of layers", error(found), error(naive_ranges(histograms)))


def _warn(what: str, of: str, entropy: float, naive: float) -> None:
    first, second = (f"{100 * error:.3g}" for error in (entropy, naive))
    if entropy > naive and first != second:  # False for NaN
        warnings.warn(
            f"{what}: expected entropy calibration to lose no more than naive, got {of} with a "
            f"relative error of {first} % on the calibration data, against {second} %; use "
            "calib_mode 'naive'",
            UserWarning,
            stacklevel=5,
        )


def _relative_error(found: Iterable[Any], expected: Sequence[Any]) -> float:
    noise = sum(float(np.square(x - y).sum()) for x, y in zip(found, expected, strict=True))
    signal = sum(float(np.square(y).sum()) for y in expected)
    return math.sqrt(noise / signal) if signal else math.nan


def _outputs(
    graph: Symbol,
    arrays: Mapping[str, NDArray],
    data_names: Sequence[str],
    batches: Sequence[Sequence[NDArray]],
    context: Context,
) -> Iterable[Any]:
    """Yield each output of a graph for each batch, as float64."""
    every = {**arrays, **quantize_parameters(graph, arrays)}
    every |= dict(zip(data_names, batches[0], strict=False))
    every |= _missing(graph, every, context)
    args = {name: every[name] for name in graph.list_arguments()}
    states = {name: every[name] for name in graph.list_auxiliary_states()}
    executor = graph.bind(context, args, grad_req="null", aux_states=states)
    inputs = set(args)
    for batch in batches:
        pairs = zip(data_names, batch, strict=False)
        data: Any = {name: x for name, x in pairs if name in inputs}
        for output in executor.forward(**data):
            yield output.asnumpy().astype(np.float64)


def _missing(graph: Symbol, every: Mapping[str, NDArray], context: Context) -> dict[str, NDArray]:
    """Return zeros for the variables without values, such as labels."""
    names = graph.list_arguments()
    if all(name in every for name in names):
        return {}
    shapes, _, _ = graph.infer_shape(**{n: every[n].shape for n in names if n in every})
    pairs = zip(names, shapes, strict=True)
    return {name: zeros(shape, ctx=context) for name, shape in pairs if name not in every}


def _noise(histogram: Histogram, ends: tuple[float, float]) -> float:
    """Return the sum of squared quantization errors of a histogram, relative to its values."""
    counts, edges, low = histogram[:3]
    values = (np.asarray(edges[:-1], np.float64) + edges[1:]) / 2
    limit = max(map(abs, ends))
    first, last = (0, 255) if low >= 0 else (-127, 127)
    step = limit / last or 1.0
    made = np.clip(np.rint(values / step), first, last) * step
    signal = float((counts * values**2).sum())
    return float((counts * (made - values) ** 2).sum()) / signal if signal else 0.0
