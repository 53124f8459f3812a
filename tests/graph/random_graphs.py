"""Random graphs for hypothesis: operators of every kind that a plan treats in its own way."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from gluonish.core.context import Context
from gluonish.graph.ir import Value, variable
from gluonish.ndarray import NDArray, array
from tests.graph.builders import call, spec


class RandomGraph(NamedTuple):
    """Variables, outputs, and values for the variables."""

    variables: list[Value]
    outputs: list[Value]
    values: list[Any]

    def arrays(self, context: Context | None = None) -> list[NDArray]:
        return [array(value, ctx=context) for value in self.values]


Make = Callable[..., Any]

_UNARY: tuple[Make, ...] = (
    lambda x: call("relu", x),
    lambda x: call("tanh", x),
    lambda x: call("sin", x),
    lambda x: x * 0.5,
    lambda x: 1.0 - x,
    lambda x: call("_copy", x),
    lambda x: call("BlockGrad", x),
    lambda x: call("Reshape", x, shape=(-1,)),
    lambda x: call("expand_dims", x, axis=0),
    lambda x: call("Flatten", x),
    lambda x: call("transpose", x),
    lambda x: call("sum", x, axis=0, keepdims=True),
    lambda x: call("mean", x, axis=-1),
    lambda x: call("softmax", x),
    lambda x: call("Dropout", x, p=0.5),
    lambda x: call("argmax", x, axis=-1),
    lambda x: call("Cast", call("Cast", x, dtype="float64"), dtype="float32"),
    lambda x: call("Concat", x, x, dim=0),
    lambda x: call("SliceChannel", call("Concat", x, x, dim=0), num_outputs=2, axis=0),
    lambda x: call("_random_uniform", shape=x.shape) * x,
)
_BINARY: tuple[Make, ...] = (
    lambda x, y: x + y,
    lambda x, y: x * y,
    lambda x, y: x - y,
    lambda x, y: call("broadcast_maximum", x, y),
)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) == len(b) and all(m == n or 1 in (m, n) for m, n in zip(a, b, strict=True))


@st.composite
def random_graphs(draw: st.DrawFn) -> RandomGraph:
    """Draw a graph of up to 14 operators on up to three float32 variables."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    shapes = [(rows, columns), (1, columns), (rows, columns)][: draw(st.integers(1, 3))]
    variables = [variable(f"x{i}", spec(*shape)) for i, shape in enumerate(shapes)]
    pool = list(variables)
    for _ in range(draw(st.integers(0, 14))):
        x = draw(st.sampled_from(pool))
        fitting = [y for y in pool if _broadcast(x.shape, y.shape)]
        if draw(st.booleans()):
            made = draw(st.sampled_from(_BINARY))(x, draw(st.sampled_from(fitting)))
        elif len(x.shape) == 2 and draw(st.booleans()):
            made = _with_weight(draw, x, variables)
        else:
            made = draw(st.sampled_from(_UNARY))(x)
        pool += made if isinstance(made, list) else [made]
    outputs = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    values = [random.standard_normal(v.shape).astype(np.float32) for v in variables]
    return RandomGraph(variables, [pool[-1], *outputs], values)


def _with_weight(draw: st.DrawFn, x: Value, variables: list[Value]) -> Value:
    """Apply an operator with a parameter of its own, which becomes another variable."""
    if draw(st.booleans()):
        gamma, beta, mean, deviation = (
            variable(f"x{len(variables) + i}", spec(x.shape[1])) for i in range(4)
        )
        variables += [gamma, beta, mean, deviation]
        normalized: Value = call("BatchNorm", x, gamma, beta, mean, deviation, fix_gamma=False)
        return normalized
    weight = variable(f"x{len(variables)}", spec(3, x.shape[1]))
    variables.append(weight)
    dense: Value = call("FullyConnected", x, weight, num_hidden=3, no_bias=True)
    return dense
