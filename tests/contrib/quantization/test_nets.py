"""quantize_net: networks of Gluon, what is calibrated, what is left out, and what is refused."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import quantization as q
from gluonish.gluon import nn

NUMBERS = np.random.default_rng(3)
IMAGES = NUMBERS.uniform(-1, 1, (8, 3, 8, 8)).astype(np.float32)


class Residual(nn.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.first = nn.Conv2D(8, 3, padding=1, use_bias=False)
            self.norm = nn.BatchNorm()
            self.second = nn.Conv2D(8, 3, padding=1)
            self.act = nn.Activation("relu")
            self.dense = nn.Dense(5)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.act(self.norm(self.first(x)))
        return self.dense(self.act(self.second(y) + y))


def residual() -> Residual:
    mx.random.seed(1)
    net = Residual()
    net.initialize(mx.init.Xavier(magnitude=2))
    net(mx.nd.array(IMAGES))
    return net


def loader() -> Any:
    data = mx.gluon.data.ArrayDataset(IMAGES, np.zeros(8, np.float32))
    return mx.gluon.data.DataLoader(data, 4)


def operators(net: Any) -> list[tuple[str, str]]:
    nodes = json.loads(net._symbol.tojson())["nodes"]
    return [(node["op"], node["name"]) for node in nodes if node["op"] != "null"]


def error_of(net: Any, original: Any) -> float:
    x = mx.nd.array(IMAGES)
    expected = original(x).asnumpy()
    return float(np.abs(net(x).asnumpy() - expected).max() / np.abs(expected).max())


SETTINGS = [
    {"calib_mode": "none"},
    {"calib_mode": "naive"},
    {"calib_mode": "entropy"},
    {"calib_mode": "naive", "quantized_dtype": "int8"},
    {"calib_mode": "naive", "quantize_granularity": "channel-wise"},
    {"calib_mode": "naive", "quantize_mode": "smart"},
    {"calib_mode": "naive", "num_calib_examples": 4},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_quantized_network_computes_what_the_network_does(settings: dict[str, Any]) -> None:
    net = residual()
    assert error_of(q.quantize_net_v2(net, calib_data=loader(), **settings), net) < 0.06


def test_layers_that_follow_each_other_stay_in_bytes() -> None:
    found = operators(q.quantize_net(residual(), calib_data=loader(), calib_mode="naive"))
    assert [name for name, _ in found] == [
        "_contrib_quantize_v2",
        "_sg_mkldnn_conv",
        "_sg_mkldnn_conv",
        "_sg_mkldnn_fully_connected",
    ]


def test_network_stays_as_it_is() -> None:
    net = residual()
    before = {name: p.data().asnumpy() for name, p in net.collect_params().items()}
    q.quantize_net(net, calib_data=loader(), calib_mode="naive")
    for name, p in net.collect_params().items():
        np.testing.assert_array_equal(p.data().asnumpy(), before[name])


@pytest.mark.parametrize(
    "leave_out",
    [
        {"exclude_layers": ["conv1_fwd"]},
        {"exclude_layers_match": ["conv1"]},
        {"exclude_operators": ["elemwise_add"]},
    ],
)
def test_what_is_left_out_stays_float(leave_out: dict[str, Any]) -> None:
    original = residual()
    if "exclude_layers" in leave_out:
        leave_out = {"exclude_layers": [f"{original.second.name}_fwd"]}
    net = q.quantize_net(original, calib_data=loader(), calib_mode="naive", **leave_out)
    convolutions = [name for op, name in operators(net) if op == "_sg_mkldnn_conv"]
    assert convolutions[0].startswith("quantized_")
    assert not convolutions[1].startswith("quantized_")


@pytest.mark.parametrize(
    "data",
    [
        loader,
        lambda: mx.io.NDArrayIter(IMAGES, None, 4),
        lambda: mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(IMAGES), 4),
        lambda: [mx.nd.array(IMAGES[:4]), mx.nd.array(IMAGES[4:])],
        lambda: [IMAGES],
    ],
)
def test_data_come_from_whatever_gives_batches(data: Any) -> None:
    net = residual()
    found = q.quantize_net(net, calib_data=data(), calib_mode="naive")
    assert error_of(found, net) < 0.06


@pytest.mark.parametrize(
    "shapes", [[mx.io.DataDesc("data", IMAGES.shape)], [("data", IMAGES.shape)], [IMAGES.shape]]
)
def test_shapes_of_data_may_be_given_instead(shapes: Any) -> None:
    net = residual()
    assert error_of(q.quantize_net(net, data_shapes=shapes), net) < 0.06


def test_exported_network_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    net = q.quantize_net(residual(), calib_data=loader(), calib_mode="naive")
    symbol, params = net.export(str(tmp_path / "net"))
    found = mx.gluon.SymbolBlock.imports(symbol, "data", params)
    x = mx.nd.array(IMAGES)
    np.testing.assert_array_equal(found(x).asnumpy(), net(x).asnumpy())


def test_equal_calls_give_equal_bits() -> None:
    nets = [q.quantize_net(residual(), calib_data=loader(), calib_mode="entropy") for _ in "ab"]
    x = mx.nd.array(IMAGES)
    np.testing.assert_array_equal(nets[0](x).asnumpy(), nets[1](x).asnumpy())


class Own:
    """A collector as users write one: 0.9 of the largest size."""

    def __init__(self) -> None:
        self.min_max_dict: dict[str, tuple[float, float]] = {}
        self.seen: list[str] = []

    def collect(self, name: str, arr: Any) -> None:
        self.seen.append(name)
        size = 0.9 * float(arr.abs().max().asscalar())
        low, high = self.min_max_dict.get(name, (0.0, 0.0))
        self.min_max_dict[name] = (min(low, -size), max(high, size))


def test_collector_of_the_users_own_says_the_ranges() -> None:
    own = Own()
    net = q.quantize_net_v2(
        residual(), calib_data=loader(), calib_mode="customize", LayerOutputCollector=own
    )
    assert "data" in own.seen
    attrs = net._symbol.get_internals()["data_quantize_output0"].list_attr()
    assert float(attrs["max_calib_range"]) == pytest.approx(own.min_max_dict["data"][1], abs=1e-6)


def test_graph_is_calibrated_by_a_program_of_its_own() -> None:
    x = mx.sym.var("data")
    symbol = mx.sym.FullyConnected(x, num_hidden=4, name="fc")
    rows = NUMBERS.uniform(-1, 1, (6, 5)).astype(np.float32)
    weight = NUMBERS.uniform(-1, 1, (4, 5)).astype(np.float32)
    params = {"fc_weight": mx.nd.array(weight), "fc_bias": mx.nd.zeros(4)}
    qsym, args, aux, collector = q.quantize_graph(symbol, params, {}, calib_mode="naive")
    assert sorted(collector.include_layer) == ["data", "fc_output"]
    collector.collect("data", mx.nd.array(rows))
    collector.collect("fc_output", mx.nd.array(rows @ weight.T))
    qsym, args, aux = q.calib_graph(qsym, args, aux, collector, calib_mode="naive")
    bound = qsym.bind(mx.cpu(), {**args, "data": mx.nd.array(rows)}, grad_req="null")
    np.testing.assert_allclose(bound.forward()[0].asnumpy(), rows @ weight.T, atol=0.05)


class _Constants(mx.gluon.HybridBlock):
    """Add joined constants, which get thresholds, to the input, which gets none."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        joined = F.concat(F.arange(1, 3), F.arange(3, 5), dim=0)
        return F.broadcast_add(x, F.reshape(joined, shape=(1, 4)))


def test_thresholds_of_constants_alone() -> None:
    net, x = _Constants(), mx.nd.ones((2, 4))
    net.initialize()
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x), batch_size=2)
    found = q.quantize_net(net, calib_data=data, calib_mode="naive")(x)
    np.testing.assert_allclose(found.asnumpy(), net(x).asnumpy(), rtol=0, atol=0.05)


def test_none_gives_no_collector() -> None:
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc")
    params = {"fc_weight": mx.nd.ones((4, 5)), "fc_bias": mx.nd.zeros(4)}
    assert q.quantize_graph(symbol, params, {}, calib_mode="none")[3] is None


def test_log_tells_how_many_examples_were_seen(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("quantize")
    with caplog.at_level(logging.INFO, "quantize"):
        q.quantize_net(residual(), calib_data=loader(), calib_mode="naive", logger=logger)
    assert "using 8 examples" in caplog.text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "expected calib_data or data_shapes"),
        ({"calib_mode": "naive", "data_shapes": [IMAGES.shape]}, "calib_data must be provided"),
        ({"calib_data": 5, "calib_mode": "naive"}, "expected calib_data as a DataIter"),
        ({"quantized_dtype": "int32"}, "unknown quantized_dtype int32 received"),
        ({"quantize_mode": "all"}, "unknown quantize_mode all received"),
        ({"quantize_granularity": "row"}, "unknown quantize_granularity row received"),
        ({"calib_mode": "kl"}, "unknown calibration mode kl received"),
        ({"calib_mode": "customize"}, "expected LayerOutputCollector"),
        ({"exclude_layers": "conv"}, "expected exclude_layers as a list of names"),
        ({"exclude_operators": "conv"}, "expected excluded_op_names as a list of names"),
    ],
)
def test_wrong_argument_is_refused(settings: dict[str, Any], message: str) -> None:
    given = dict(settings)
    if message not in ("expected calib_data or data_shapes", "calib_data must be provided"):
        given.setdefault("calib_data", loader())
    with pytest.raises((ValueError, TypeError), match=message):
        q.quantize_net_v2(residual(), **given)


def test_values_that_are_not_finite_are_refused() -> None:
    data = [np.full((2, 3, 8, 8), np.nan, np.float32)]
    with pytest.raises(ValueError, match="expected finite values in data"):
        q.quantize_net(residual(), calib_data=data, calib_mode="naive")


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a HybridBlock, got int"):
        q.quantize_net(5)  # type: ignore[arg-type]  # what is tested


def test_empty_data_are_refused() -> None:
    with pytest.raises(ValueError, match="expected data that the network accepts"):
        q.quantize_net(residual(), calib_data=[], calib_mode="naive")


class Standing(nn.HybridBlock):
    """A BatchNorm that no convolution stands before."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.norm = nn.BatchNorm()
            self.conv = nn.Conv2D(4, 3)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.conv(F.Activation(self.norm(x), act_type="relu"))


@pytest.mark.parametrize("mode", ["none", "naive"])
def test_normalization_by_itself(mode: str, tmp_path: Path) -> None:
    mx.random.seed(1)
    net = Standing()
    net.initialize()
    net(mx.nd.array(IMAGES))
    found = q.quantize_net(net, calib_data=loader(), calib_mode=mode)
    assert error_of(found, net) < 0.06
    _, params = found.export(str(tmp_path / "net"))
    assert any(name.startswith("aux:") and "running_mean" in name for name in mx.nd.load(params))
