"""Errors of the layers of a quantized network, compared with the original network."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.contrib.quantization.fusion import CONV, DENSE, fuse
from gluonish.contrib.quantization.nets import traced
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import NDArray
from gluonish.ndarray import contrib as nd_contrib
from gluonish.ndarray.creation import array
from gluonish.symbol import Symbol

_INT32_STEPS = 2147483647.0
_PREFIX = "quantized_"


class LayerError(NamedTuple):
    """The error of a quantized layer's output.

    Attributes:
        name: Name of the node in the original network, after fusion.
        operator: Name of its operator.
        dtype: Dtype of its output in the quantized network.
        low: Minimum of its original output.
        high: Maximum of its original output.
        mean_error: Mean absolute difference.
        max_error: Maximum absolute difference.
        signal_to_noise_db: Signal-to-noise ratio in dB: 10 log10 of the original output's sum of
            squares divided by the difference's; infinite if the outputs are equal.
    """

    name: str
    operator: str
    dtype: str
    low: float
    high: float
    mean_error: float
    max_error: float
    signal_to_noise_db: float


def layer_errors(network: HybridBlock, quantized: SymbolBlock, data: Any) -> list[LayerError]:
    """Return the error of each quantized layer for a batch, in execution order.

    The error of a layer includes the errors of previous layers.

    Args:
        network: The original network.
        quantized: The network that `quantize_net` returned for it.
        data: An array, or a list of arrays, one for each input.

    Raises:
        ArgumentTypeError: ``network`` is not a HybridBlock, or ``quantized`` not a SymbolBlock.
        ArgumentError: The networks have no layer in common.
    """
    if not isinstance(network, HybridBlock) or not isinstance(quantized, SymbolBlock):
        raise ArgumentTypeError(
            "layer_errors: expected a HybridBlock and a quantized SymbolBlock, got "
            f"{type(network).__name__} and {type(quantized).__name__}"
        )
    names = quantized._input_names
    inputs = [data] if isinstance(data, NDArray | np.ndarray) else list(data)
    arrays = dict(zip(names, map(_as_array, inputs), strict=True))
    before = Symbol(fuse(traced(network, names)._values))
    floats = {n.name: n for n in topological_order(before._values) if n.op is not None}
    pairs = [
        (floats[name], node)
        for node in topological_order(quantized._symbol._values)
        if (name := _name_before(node)) in floats
    ]
    if not pairs:
        raise ArgumentError(
            "layer_errors: expected a network and its quantized copy, got networks without a layer "
            "in common"
        )
    originals = _run([Value(old) for old, _ in pairs], network, arrays)
    every = [Value(new, i) for _, new in pairs for i in range(new.num_visible)]
    found = iter(_run(every, quantized, arrays))
    made = [[next(found) for _ in range(new.num_visible)] for _, new in pairs]
    return [
        _compared(old, x.asnumpy(), outputs)
        for (old, _), x, outputs in zip(pairs, originals, made, strict=True)
    ]


def _as_array(x: Any) -> NDArray:
    return x if isinstance(x, NDArray) else array(x, dtype=x.dtype)


def _name_before(node: Node) -> str:
    if node.op is None or not node.name.startswith(_PREFIX):
        return ""
    return node.name.removeprefix(_PREFIX)


def _run(values: Sequence[Value], block: HybridBlock, arrays: dict[str, NDArray]) -> Any:
    """Compute values of a network's graph for the input arrays."""
    symbol = Symbol(values)
    every = {
        p._full_name: p.data() for p in block.collect_params().values() if p._arrays is not None
    }
    every |= arrays
    args = {name: every[name] for name in symbol.list_arguments()}
    states = {name: every[name] for name in symbol.list_auxiliary_states()}
    context = next(iter(arrays.values())).context
    return symbol.bind(context, args, grad_req="null", aux_states=states).forward()


def _real(outputs: Sequence[NDArray]) -> Any:
    """Return a quantized layer's dequantized output."""
    first = outputs[0]
    kind = np.dtype(first.dtype)
    if len(outputs) == 1:
        return first.asnumpy()
    if kind == np.int32:
        limit = max(abs(float(end.asnumpy()[0])) for end in outputs[1:])
        return first.asnumpy() * (limit / _INT32_STEPS)
    return nd_contrib.dequantize(first, outputs[1], outputs[2]).asnumpy()


def _compared(node: Node, expected: Any, outputs: Sequence[NDArray]) -> LayerError:
    assert node.op is not None
    difference = np.abs(_real(outputs).astype(np.float64) - expected)
    signal, noise = float(np.square(expected, dtype=np.float64).sum()), float((difference**2).sum())
    ratio = math.inf if not noise else 10 * math.log10(signal / noise) if signal else -math.inf
    names = {CONV: "convolution", DENSE: "dense"}
    return LayerError(
        node.name,
        names.get(node.op.name, node.op.name),
        np.dtype(outputs[0].dtype).name,
        float(expected.min()),
        float(expected.max()),
        float(difference.mean()),
        float(difference.max()),
        ratio,
    )
