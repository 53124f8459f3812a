"""Random convolutional networks for hypothesis: what the passes on layers and layouts are for.

Arrays are large enough for kernels to be generated. Parameters are variables behind the data.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gluonish.graph.ir import Value, variable
from tests.graph.builders import call, spec
from tests.graph.random_graphs import RandomGraph

_POINTWISE: tuple[Callable[[Value], Value], ...] = (
    lambda x: call("Activation", x, act_type="relu"),
    lambda x: call("Activation", x, act_type="tanh"),
    lambda x: call("sigmoid", x) * x,
    lambda x: call("LeakyReLU", x, act_type="leaky", slope=0.1),
    lambda x: call("clip", x, a_min=-1.0, a_max=2.0),
    lambda x: call("Dropout", x, p=0.3),
    lambda x: x * 0.5 + 1.0,
)
_WINDOWS: tuple[Callable[[Value], Value], ...] = (
    lambda x: call("Pooling", x, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type="max"),
    lambda x: call("Pooling", x, kernel=(2, 2), stride=(1, 1), pad=(0, 0), pool_type="avg"),
    lambda x: call("LRN", x, nsize=3),
)


class _Network:
    """A network in the making.

    Attributes:
        variables: Data, then parameters.
        pool: Images made so far.
    """

    def __init__(self, data: Value) -> None:
        self.variables = [data]
        self.pool = [data]

    def parameter(self, *shape: int) -> Value:
        made = variable(f"x{len(self.variables)}", spec(*shape, dtype=str(self.pool[0].spec.dtype)))
        self.variables.append(made)
        return made

    def statistic(self, channels: int) -> Value:
        made = variable(f"x{len(self.variables)}", spec(channels))
        self.variables.append(made)
        return made

    def convolved(self, x: Value, filters: int, kernel: int, groups: int, bias: bool) -> Value:
        weight = self.parameter(filters, x.shape[1] // groups, kernel, kernel)
        made: Value = call(
            "Convolution",
            *(x, weight, *([self.parameter(filters)] if bias else [])),
            kernel=(kernel, kernel),
            pad=(kernel // 2, kernel // 2),
            num_filter=filters,
            num_group=groups,
            no_bias=not bias,
        )
        return made

    def normalized(self, x: Value) -> Value:
        channels = [self.statistic(x.shape[1]) for _ in range(4)]
        made: Value = call("BatchNorm", x, *channels, fix_gamma=False)
        return made


def _layer(draw: st.DrawFn, net: _Network) -> Value:
    x = draw(st.sampled_from(net.pool))
    kind = draw(st.sampled_from(["convolution"] * 2 + ["norm", "pointwise", "window", "pair"]))
    if kind == "convolution":
        groups = draw(st.sampled_from([1, 1, 2])) if x.shape[1] % 2 == 0 else 1
        filters, kernel = draw(st.sampled_from([6, 8])), draw(st.sampled_from([1, 3]))
        return net.convolved(x, filters, kernel, groups, draw(st.booleans()))
    if kind == "norm":
        return net.normalized(x)
    if kind == "pair":
        alike = [y for y in net.pool if y.shape == x.shape]
        if draw(st.booleans()):
            return x + draw(st.sampled_from(alike))
        beside = [y for y in net.pool if y.shape[2:] == x.shape[2:]]
        made: Value = call("Concat", x, draw(st.sampled_from(beside)), dim=1)
        return made
    return draw(st.sampled_from(_POINTWISE if kind == "pointwise" else _WINDOWS))(x)


def _head(draw: st.DrawFn, net: _Network, x: Value) -> Value:
    if draw(st.booleans()):
        x = call("Pooling", x, global_pool=True, pool_type="avg")
    units = int(np.prod(x.shape[1:]))
    weight, bias = net.parameter(5, units), net.parameter(5)
    dense: Value = call("FullyConnected", x, weight, bias, num_hidden=5)
    if draw(st.booleans()):
        dense = call("pick", call("log_softmax", dense), call("_zeros", shape=(2,)))
    return dense


@st.composite
def random_networks(draw: st.DrawFn, dtype: str = "float32") -> RandomGraph:
    """Draw a network of two to eight layers and a head, on images of one dtype."""
    net = _Network(
        variable(
            "x0",
            spec(2, draw(st.sampled_from([3, 8])), 10, 9, dtype=dtype),
        )
    )
    for _ in range(draw(st.integers(2, 8))):
        net.pool.append(_layer(draw, net))
    outputs = [_head(draw, net, net.pool[-1])] if draw(st.booleans()) else [net.pool[-1]]
    if draw(st.booleans()):
        outputs.append(draw(st.sampled_from(net.pool[1:])))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    return RandomGraph(net.variables, outputs, [_values(random, v) for v in net.variables])


def _values(random: np.random.Generator, value: Value) -> Any:
    """Return numbers that keep the size of what goes through a layer."""
    shape = value.shape
    if len(shape) == 1:
        return random.uniform(0.5, 1.5, shape).astype(value.spec.dtype)
    inner = 1 if value.node.name == "x0" else int(np.prod(shape[1:]))
    return (random.standard_normal(shape) / np.sqrt(inner)).astype(value.spec.dtype)
