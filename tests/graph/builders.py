"""Small graphs for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.graph.ir import Graph, Value, append, variable
from gluonish.ops.registry import find_operator

# Passes that only back ends of GPUs offer; tests/kernels/cupy have their tests.
ONLY_ON_GPUS = {
    *("cast_weights", "drop_bias", "fuse_add_layer_norm", "fuse_attention"),
    *("fuse_bias_gradient", "fuse_gradient_sum"),
    *("fuse_residual_gradient", "join_weight_gradients", "redraw_masks", "reserve_rnn"),
}


def spec(*shape: int, dtype: str = "float32") -> Spec:
    return Spec(shape, np.dtype(dtype))


def inputs(*shapes: tuple[int, ...]) -> list[Value]:
    """Return variables a, b, .. of these shapes."""
    return [variable(chr(ord("a") + i), spec(*shape)) for i, shape in enumerate(shapes)]


def call(name: str, *values: Any, **attrs: Any) -> Any:
    """Apply an operator to values, with attributes as a user writes them."""
    op = find_operator(name)
    runtime = {key: attrs.pop(key) for key in ("train", "key") if key in attrs}
    if op.variadic is not None:
        attrs[op.variadic] = len(values)
    return append(op, values, {**op.schema.parse(name, attrs), **runtime})  # type: ignore[dict-item]


def graph(variables: Sequence[Value], *outputs: Value) -> Graph:
    return Graph([value.node for value in variables], outputs)


def text(lines: str) -> str:
    """Return a printed graph without the indentation it has in a test."""
    return "\n".join(line.strip() for line in lines.strip().splitlines())
