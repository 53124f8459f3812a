"""quantize_weights: weights of Dense layers as integers, activations stay floating."""

from typing import Any

from gluonish.contrib.quantization.graphs import check_names
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.block import Block
from gluonish.gluon.nn.rounding import BITS, round_weights

_NAME = "quantize_weights"


def quantize_weights(
    network: Block,
    quantized_dtype: str = "int8",
    group_size: int | None = None,
    exclude_layers: Any = None,
    exclude_layers_match: Any = None,
) -> list[str]:
    """Round the weights of all Dense layers of a network to integers with scales, in place.

    Each layer becomes a `gluon.nn.WeightOnlyDense`, the projections of
    `gluon.nn.MultiHeadAttention` among them. Nothing else changes: activations, sums and biases
    stay floating, and no data for calibration are needed. A weight takes a quarter of the memory of
    float32. One-token products, which are bound by reading weights, took 0.6 of the time of
    bfloat16 weights in a network of bfloat16, and 0.8 in one of float32, on a core with AVX2.

    Weights are rounded to the nearest multiple of a scale, which is the largest magnitude of their
    row or group divided by 127. So no weight changes by more than 1 / 254 of that magnitude, and an
    output by no more than the sum of ``abs(x) * scale / 2`` over its features. With ``"int4"`` it
    is divided by 7, and a weight takes half of the memory: no weight changes by more than 1 / 14 of
    the largest magnitude of its group, which should be of 32 to 128 elements.

    A weight that a layer of another kind or an excluded layer shares, such as the table of an
    Embedding, stays floating there; the quantized layers have integers of their own, which they
    share. Networks whose parameters have no values yet take them from `load_parameters`.

    Args:
        network: The network, hybridized or not; it is changed in place.
        quantized_dtype: ``"int8"`` or ``"int4"``.
        group_size: Number of elements of a row that share a scale, a divisor of every layer's
            in_units; smaller groups are more exact. 32, 64 and 128 are fast. None for a scale of
            each row.
        exclude_layers: Attribute paths of layers that stay, such as ``["blocks.0.output"]``.
        exclude_layers_match: Substrings of such paths.

    Returns:
        The attribute paths of the layers that changed.

    Raises:
        ArgumentError: An argument is not one of those listed, ``group_size`` does not divide
            in_units, these are odd with ``"int4"``, a layer is a subclass of Dense such as one with
            an adapter, there is no Dense layer, or a name of ``exclude_layers`` is not a path of
            one.
        ArgumentTypeError: ``network`` is not a Block.
        ParameterError: A weight waits for its shape, or is not finite. In case of an error, no
            layer changes.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.HybridSequential()
        >>> net.add(mx.gluon.nn.Dense(4, in_units=64), mx.gluon.nn.Dense(2, in_units=4))
        >>> net.initialize()
        >>> mx.contrib.quantization.quantize_weights(net, group_size=32, exclude_layers=["1"])
        ['0']
        >>> net[0]
        WeightOnlyDense(64 -> 4, linear, int8, group_size=32)
    """
    if not isinstance(network, Block):
        raise ArgumentTypeError(f"{_NAME}: expected a Block, got {type(network).__name__}")
    if not isinstance(quantized_dtype, str) or quantized_dtype not in BITS:
        raise ArgumentError(
            f"{_NAME}: expected quantized_dtype 'int8' or 'int4', got {quantized_dtype!r}"
        )
    excluded = check_names(_NAME, "exclude_layers", exclude_layers)
    patterns = check_names(_NAME, "exclude_layers_match", exclude_layers_match)
    bits = BITS[quantized_dtype]
    return round_weights(_NAME, network, lambda _: group_size, bits, excluded, patterns)
