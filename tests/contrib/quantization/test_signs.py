"""uint8 holds what is never negative; what may be negative is int8 or goes by its range."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.quantization import (
    CalibrationCollector,
    calib_graph,
    quantize_graph,
    quantize_model,
    quantize_model_mkldnn,
    quantize_net,
    quantize_net_v2,
)
from gluonish.contrib.quantization.graph_pass import never_negative
from gluonish.core.errors import OperatorError
from gluonish.gluon import nn
from gluonish.graph.ir import topological_order

SHAPE = (2, 4, 8, 8)


class Branches(nn.HybridBlock):
    """Two convolutions, summed or joined, and one more."""

    def __init__(self, join: bool, act: bool) -> None:
        super().__init__()
        self._join, self._act = join, act
        with self.name_scope():
            self.left = nn.Conv2D(4, 3, padding=1)
            self.right = nn.Conv2D(4, 3, padding=1)
            self.last = nn.Conv2D(3, 1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        left, right = self.left(x), self.right(x)
        if self._act:
            left = F.relu(left)
        joined = F.concat(left, right, dim=1) if self._join else left + right
        return self.last(F.relu(joined) if self._act else joined)


def chain(*layers: Any) -> Any:
    net = nn.HybridSequential()
    net.add(*layers)
    return net


NETWORKS: dict[str, Callable[[], Any]] = {
    "dense": lambda: chain(nn.Dense(8), nn.Dense(5)),
    "dense relu": lambda: chain(nn.Dense(8, activation="relu"), nn.Dense(5)),
    "rows": lambda: chain(nn.Dense(8, flatten=False), nn.Dense(5)),
    "convolution": lambda: chain(nn.Conv2D(4, 3), nn.Conv2D(4, 3)),
    "batch norm": lambda: chain(
        nn.Conv2D(4, 3), nn.BatchNorm(), nn.Activation("relu"), nn.BatchNorm(), nn.Conv2D(4, 3)
    ),
    "max pooling": lambda: chain(nn.Conv2D(4, 3), nn.MaxPool2D(2), nn.Conv2D(4, 1)),
    "mean pooling": lambda: chain(nn.Conv2D(4, 3), nn.AvgPool2D(2), nn.Flatten(), nn.Dense(3)),
    "sigmoid": lambda: chain(nn.Conv2D(4, 3, activation="sigmoid"), nn.Conv2D(4, 1)),
    "tanh": lambda: chain(nn.Conv2D(4, 3, activation="tanh"), nn.Conv2D(4, 1)),
    "leaky": lambda: chain(nn.Conv2D(4, 3), nn.LeakyReLU(0.2), nn.Conv2D(4, 1)),
    "sum": lambda: Branches(join=False, act=False),
    "sum relu": lambda: Branches(join=False, act=True),
    "join": lambda: Branches(join=True, act=False),
    "join relu": lambda: Branches(join=True, act=True),
    "embedding": lambda: chain(nn.Embedding(10, 6), nn.Flatten(), nn.Dense(5)),
}


def network(name: str) -> tuple[Any, Any]:
    """Return a network and data with negative numbers for it."""
    mx.random.seed(4)
    random = np.random.default_rng(4)
    net = NETWORKS[name]()
    net.initialize(mx.init.Normal(0.3))
    data = random.standard_normal(SHAPE)
    x = mx.nd.array(random.integers(0, 10, (4, 3)) if name == "embedding" else data)
    net(x)
    return net, x


def error(found: Any, expected: Any) -> float:
    found, expected = found.asnumpy(), expected.asnumpy()
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def dtypes(symbol: Any) -> list[str]:
    """Return the out_type of each node that has one."""
    nodes = topological_order(symbol._values)
    found = [node.attrs["out_type"] for node in nodes if "out_type" in node.attrs]
    return [name for name in found if name != "float32"]


@pytest.mark.parametrize("mode", ["none", "naive"])
@pytest.mark.parametrize("name", list(NETWORKS))
def test_uint8_network_is_as_exact_as_an_int8_one(name: str, mode: str) -> None:
    net, x = network(name)
    given: dict[str, Any] = {"calib_mode": mode, "calib_data": [x]}
    signed = error(quantize_net_v2(net, "int8", **given)(x), net(x))
    for smart in ("full", "smart"):
        made = quantize_net_v2(net, "uint8", quantize_mode=smart, **given)
        assert error(made(x), net(x)) < max(0.03, 1.5 * signed)


@pytest.mark.parametrize("name", ["dense", "convolution", "sum relu"])
def test_quantized_network_is_the_same_hybridized_and_reloaded(name: str, tmp_path: Path) -> None:
    net, x = network(name)
    made = quantize_net(net, "uint8", calib_data=[x], calib_mode="none")
    expected = made(x)
    assert error(expected, net(x)) < 0.03
    made.export(str(tmp_path / "net"))
    files = (str(tmp_path / "net-symbol.json"), "data", str(tmp_path / "net-0000.params"))
    again = mx.gluon.SymbolBlock.imports(*files)
    np.testing.assert_array_equal(again(x).asnumpy(), expected.asnumpy())
    made.hybridize()
    for _ in range(2):
        np.testing.assert_array_equal(made(x).asnumpy(), expected.asnumpy())


def test_what_relu_gives_is_uint8_without_ranges() -> None:
    net, x = network("dense relu")
    made = quantize_net_v2(net, "uint8", calib_mode="none", calib_data=[x])
    assert dtypes(made._symbol) == ["auto", "uint8", "auto"]


def run(symbol: Any, args: Any, states: Any, x: Any) -> Any:
    every = {**args, "data": x}
    args = {name: every[name] for name in symbol.list_arguments()}
    return symbol.bind(mx.cpu(), args, aux_states=states, grad_req="null").forward()[0]


def graph(name: str) -> tuple[Any, dict[str, Any], Any, Any]:
    net, x = network(name)
    params = {p.name: p.data() for p in net.collect_params().values()}
    return net(mx.sym.var("data")), params, x, net(x)


@pytest.mark.parametrize("mode", ["none", "naive"])
@pytest.mark.parametrize("quantized", [quantize_model, quantize_model_mkldnn])
@pytest.mark.parametrize("name", ["dense", "convolution", "sum", "join relu", "mean pooling"])
def test_uint8_model_is_exact_too(name: str, quantized: Any, mode: str) -> None:
    symbol, params, x, expected = graph(name)
    made = quantized(symbol, params, {}, calib_mode=mode, calib_data=[x], quantized_dtype="uint8")
    assert error(run(made[0], made[1], made[2], x), expected) < 0.03


class Named(CalibrationCollector):
    """A user's collector that leaves the data out."""

    def collect(self, name: str, arr: Any) -> None:
        if name != "data":
            self.min_max_dict[name] = (
                -float(abs(arr).max().asscalar()),
                float(arr.max().asscalar()),
            )


@pytest.mark.parametrize("own", [True, False])
def test_uint8_graph_calibrated_by_hand_is_exact(own: bool) -> None:
    symbol, params, x, expected = graph("dense relu")
    mode = "customize" if own else "naive"
    given: dict[str, Any] = {"LayerOutputCollector": Named()} if own else {}
    qsym, args, states, collector = quantize_graph(
        symbol, params, {}, calib_mode=mode, quantized_dtype="uint8", **given
    )
    inner = symbol.get_internals()
    for name, value in zip(inner.list_outputs(), inner, strict=True):
        known = run(value, params, {}, x) if name not in params else None
        if known is not None and (own or name in collector.include_layer):
            collector.collect(name, known)
    made = calib_graph(qsym, args, states, collector, mode, "uint8")
    assert error(run(made[0], made[1], made[2], x), expected) < 0.04


def test_range_of_a_file_that_says_uint8_decides() -> None:
    data = mx.sym.var("data")
    qsym = mx.sym.contrib.quantize_v2(data, out_type="uint8", name="data_quantize")
    back = mx.sym.contrib.dequantize(*qsym, name="back")
    collector = Named()
    collector.min_max_dict = {"data": (-1.0, 1.0)}
    made, _, _ = calib_graph(back, {}, {}, collector, "customize", "uint8")
    x = mx.nd.array([-1, -0.5, 0, 1])
    np.testing.assert_allclose(run(made, {}, {}, x).asnumpy(), x.asnumpy(), atol=0.01)


@pytest.mark.parametrize("name", ["dense", "convolution"])
def test_layer_refuses_unsigned_data_of_a_signed_range(name: str) -> None:
    net, x = network(name)
    made = quantize_net(net, calib_data=[x], calib_mode="none")
    text = made._symbol.tojson().replace('"out_type": "auto"', '"out_type": "uint8"')
    args = {p.name: p.data() for p in made.collect_params().values()}
    with pytest.raises(OperatorError, match="expected int8 data for a range below 0"):
        run(mx.sym.load_json(text), args, {}, x).wait_to_read()


def test_values_that_are_never_negative() -> None:
    x = mx.sym.var("x")
    relu = mx.sym.relu(x)
    cases: Sequence[tuple[Any, bool]] = [
        (x, False),
        (relu, True),
        (mx.sym.Pooling(relu, kernel=(2, 2), pool_type="avg"), True),
        (mx.sym.Pooling(x, kernel=(2, 2), pool_type="max"), False),
        (relu + relu, True),
        (relu + x, False),
        (relu - relu, False),
        (mx.sym.concat(relu, mx.sym.sigmoid(x)), True),
        (mx.sym.concat(relu, x), False),
        (mx.sym.clip(x, 0, 6), True),
        (mx.sym.clip(x, -1, 6), False),
        (mx.sym.clip(relu, -1, 6), True),
        (mx.sym.clip(relu, -2, -1), False),
        (mx.sym.Activation(relu, act_type="tanh"), True),
        (mx.sym.Activation(x, act_type="tanh"), False),
        (mx.sym.LeakyReLU(relu, act_type="leaky"), True),
        (mx.sym.LeakyReLU(x, act_type="leaky"), False),
        (mx.sym.BatchNorm(relu), False),
        (mx.sym.FullyConnected(relu, num_hidden=2), False),
    ]
    for symbol, expected in cases:
        value = symbol._values[0]
        assert (value.key in never_negative([value])) is expected, symbol
