"""Which function of a fused operator a node applies."""

from collections.abc import Callable, Mapping
from typing import Any

from gluonish.ops.fused.activation import REVERSIBLE

Function = tuple[str, float, float]


def _leaky(attrs: Mapping[str, Any]) -> Function | None:
    kind = attrs["act_type"]
    slope = attrs["slope"] if kind in ("leaky", "elu") else 0.0
    return (kind, slope, 0.0) if kind in ("leaky", "elu", "gelu", "selu") else None


_FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Function | None]] = {
    "Activation": lambda attrs: (
        (attrs["act_type"], 0.0, 0.0) if attrs["act_type"] in REVERSIBLE else None
    ),
    "LeakyReLU": _leaky,
    "clip": lambda attrs: ("clip", attrs["a_min"], attrs["a_max"]),
    "relu": lambda attrs: ("relu", 0.0, 0.0),
    "sigmoid": lambda attrs: ("sigmoid", 0.0, 0.0),
    "tanh": lambda attrs: ("tanh", 0.0, 0.0),
}


def function_of(node: Any) -> Function | None:
    """Return the name and the two numbers of a function of `gluonish.ops.fused.activation`.

    Returns:
        None where the node is no such function.
    """
    found = _FUNCTIONS.get(node.op.name)
    return None if found is None else found(node.attrs)
