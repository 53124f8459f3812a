"""Parameters of a quantized graph, from those of the original graph."""

from collections.abc import Mapping

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.ndarray import NDArray
from gluonish.ndarray import contrib as nd_contrib
from gluonish.symbol import Symbol

_ENDS = ("_quantize", "_quantize_min", "_quantize_max")


def quantize_parameters(symbol: Symbol, params: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Return the arrays of a quantized graph's arguments, quantized to int8 where required.

    Args:
        symbol: The quantized graph.
        params: Arrays of the original graph, by name.

    Raises:
        ArgumentError: A parameter is not finite.
    """
    found: dict[str, NDArray] = {}
    for name in symbol.list_arguments():
        if name in params:
            found[name] = params[name]
        elif name.endswith("_quantize") and name.removesuffix("_quantize") in params:
            source = name.removesuffix("_quantize")
            made = _quantized(source, params[source])
            found |= {source + end: x for end, x in zip(_ENDS, made, strict=True)}
    return found


def _quantized(name: str, value: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    numbers = value.astype("float32")
    if not np.isfinite(numbers.asnumpy()).all():
        raise ArgumentError(
            f"quantization: expected finite parameters, got nan or inf in {name}; leave its layer "
            "out with exclude_layers"
        )
    low, high = (end.reshape((1,)) for end in (numbers.min(), numbers.max()))
    made = nd_contrib.quantize(numbers, low, high, out_type="int8")
    return made[0], made[1], made[2]
