"""quantize_weights: what changes, by how much, and what is refused."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.quantization import quantize_weights
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.gluon import nn

_LAYERS = ("feed_forward.hidden", "feed_forward.output", "attention.qkv", "attention.output")


def _encoder(seed: int = 3) -> Any:
    net = nn.TransformerEncoder(2, 64, 128, 4)
    mx.random.seed(seed)
    net.initialize(mx.init.Normal(0.2))
    net(mx.nd.ones((1, 2, 64)))
    return net


def _tokens() -> Any:
    return mx.nd.array(np.random.default_rng(0).standard_normal((2, 5, 64)), dtype="float32")


def _floating(layer: Any) -> Any:
    weight, scale = layer.weight.data().asnumpy(), layer.scale.data().asnumpy()
    if weight.dtype == np.uint8:  # pairs of 4 bits, the first one in the low bits
        pairs = np.stack([weight % 16, weight // 16], axis=-1).reshape(len(weight), -1)
        weight = np.where(pairs < 8, pairs, pairs.astype(np.int8) - 16)
    grouped = weight.astype(np.float64).reshape(*scale.shape, -1) * scale[..., None]
    return grouped.reshape(weight.shape)


def _at(net: Any, path: str) -> Any:
    for name in path.split("."):
        net = net[int(name)] if name.isdigit() else getattr(net, name)
    return net


@pytest.mark.parametrize("group_size", [None, 32, 64])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize(("kind", "largest"), [("int8", 127), ("int4", 7)])
def test_weights_change_by_half_a_scale_at_most(
    group_size: int | None, dtype: str, kind: str, largest: int
) -> None:
    net = _encoder()
    net.cast(dtype)
    paths = [f"layers.{i}.{name}" for i in range(2) for name in _LAYERS]
    before = {p: _at(net, p).weight.data().asnumpy().astype(np.float64) for p in paths}
    assert quantize_weights(net, kind, group_size) == paths
    for path, weight in before.items():
        layer = _at(net, path)
        assert isinstance(layer, nn.WeightOnlyDense)
        scale = layer.scale.data().asnumpy().astype(np.float64)
        grouped = weight.reshape(*scale.shape, -1)
        np.testing.assert_allclose(scale, np.abs(grouped).max(-1) / largest, rtol=1e-6)
        error = np.abs(_floating(layer) - weight).reshape(grouped.shape)
        assert (error <= scale[..., None] * 0.50001).all()


@pytest.mark.parametrize("group_size", [None, 32])
@pytest.mark.parametrize(("kind", "most"), [("int8", 5e-2), ("int4", 1.0)])
def test_outputs_are_those_of_the_rounded_weights(
    group_size: int | None, kind: str, most: float
) -> None:
    net, x = _encoder(), _tokens()
    unrounded = net(x).asnumpy()
    paths = quantize_weights(net, kind, group_size)
    found = net(x).asnumpy()
    wide = _encoder()
    wide.cast("float64")
    for path in paths:
        _at(wide, path).weight.set_data(_floating(_at(net, path)))
    exact = wide(x.astype("float64")).asnumpy()
    assert np.abs(found - exact).max() <= 2e-5 * np.abs(exact).max()
    assert 1e-4 < np.abs(found - unrounded).max() / np.abs(unrounded).max() < most


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_network_changes_in_place_and_hybridized_is_equal(hybrid: bool) -> None:
    net, x = _encoder(), _tokens()
    if hybrid:
        net.hybridize()
        net(x)
    layer = net.layers[0].feed_forward.hidden
    quantize_weights(net, exclude_layers_match=["attention"])
    assert net.layers[0].feed_forward.hidden is layer
    assert type(net.layers[0].attention.output) is nn.Dense
    found = net(x).asnumpy()
    net.hybridize(not hybrid)
    np.testing.assert_array_equal(net(x).asnumpy(), found)


def test_joined_projections_of_separate_keys() -> None:
    layer = nn.MultiHeadAttention(8, 2)
    layer.initialize(mx.init.Normal(0.5))
    q, k, v = (mx.nd.random.normal(shape=(2, n, 8)) for n in (3, 4, 4))
    for arrays in ((q,), (q, k), (q, k, v)):
        layer(*arrays)
    quantize_weights(layer, group_size=4)
    plain = nn.MultiHeadAttention(8, 2)
    plain.initialize()
    for arrays in ((q,), (q, k), (q, k, v)):
        plain(*arrays)
        for name in ("qkv", "output"):
            getattr(plain, name).weight.set_data(_floating(getattr(layer, name)))
        expected = plain(*arrays).asnumpy()
        np.testing.assert_allclose(layer(*arrays).asnumpy(), expected, rtol=1e-4, atol=1e-5)
    assert layer.begin_cache(1, 4).keys.dtype == np.float32
    layer.cast("bfloat16")
    assert layer.begin_cache(1, 4).keys.dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_parameters_return_from_files(tmp_path: Path, kind: str) -> None:
    net, x = _encoder(), _tokens()
    quantize_weights(net, kind, group_size=32)
    expected = net(x).asnumpy()
    net.save_parameters(str(tmp_path / "x.params"))
    other = nn.TransformerEncoder(2, 64, 128, 4)
    quantize_weights(other, kind, group_size=32)
    other.load_parameters(str(tmp_path / "x.params"))
    np.testing.assert_array_equal(other(x).asnumpy(), expected)
    other.hybridize()
    other(x)
    other.export(str(tmp_path / "net"))
    files = [str(tmp_path / name) for name in ("net-symbol.json", "net-0000.params")]
    block = mx.gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_array_equal(block(x).asnumpy(), expected)


def test_a_weight_that_an_embedding_shares_stays_floating_there() -> None:
    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.table = nn.Embedding(10, 8)
                self.head = nn.Dense(10, flatten=False, in_units=8, params=self.table.params)
                self.again = nn.Dense(10, flatten=False, in_units=8, params=self.head.params)

        def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]
            hidden = self.table(x)
            return self.head(hidden) + self.again(hidden)

    net = Net()
    net.initialize(mx.init.Normal(1))
    x = mx.nd.array([[1, 2, 3]])
    before = net(x).asnumpy()
    assert quantize_weights(net) == ["head", "again"]
    assert np.dtype(net.table.weight.dtype) == np.float32
    assert net.head.weight is net.again.weight
    assert len({p.name for p in net.collect_params().values()}) == 4
    after = net(x).asnumpy()
    assert 0 < np.abs(after - before).max() < 0.02 * np.abs(before).max()
    net.hybridize()
    np.testing.assert_array_equal(net(x).asnumpy(), after)


def test_rows_of_zeros_and_two_devices() -> None:
    net = nn.Dense(3, in_units=4)
    contexts = [mx.cpu(0), mx.cpu(1)]
    net.initialize(ctx=contexts)
    weight = np.array([[0, 0, 0, 0], [1, -2, 0.5, 0], [1e-8, 0, 0, 0]], np.float32)
    net.weight.set_data(weight)
    quantize_weights(net)
    found = [net(mx.nd.eye(4, ctx=ctx)).asnumpy() for ctx in contexts]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], weight.T, rtol=1e-6, atol=1 / 127)
    assert net.weight.list_ctx() == contexts


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision_keeps_integers_and_scales(dtype: str) -> None:
    net, x = _encoder(), _tokens()
    quantize_weights(net, group_size=32)
    expected = net(x).asnumpy()
    net.hybridize()
    net(x)
    mixed = mx.contrib.amp.convert_hybrid_block(net, target_dtype=dtype, ctx=mx.cpu())
    found = mixed(x).astype("float32").asnumpy()
    assert 0 < np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_bad_calls_are_refused_and_change_nothing() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=6), nn.Dense(3, in_units=4))
    net.initialize()
    for options, message in (
        ({"quantized_dtype": "uint8"}, "expected quantized_dtype 'int8' or 'int4', got"),
        ({"group_size": 3}, "1: expected group_size that divides in_units 4, got 3"),
        ({"exclude_layers": ["2"]}, r"expected exclude_layers among \['0', '1'\], got \['2'\]"),
        ({"exclude_layers": ["0", "1"]}, "expected a Dense layer to quantize"),
    ):
        with pytest.raises(ArgumentError, match=f"quantize_weights: {message}"):
            quantize_weights(net, **options)  # type: ignore[arg-type]  # of several types
    with pytest.raises(ArgumentTypeError, match="quantize_weights: expected a Block, got int"):
        quantize_weights(3)  # type: ignore[arg-type]  # the test's point
    net[1].weight.set_data(mx.nd.full((3, 4), np.nan))
    with pytest.raises(ParameterError, match="quantize_weights: 1: expected a finite weight"):
        quantize_weights(net)
    assert [type(layer) for layer in net] == [nn.Dense, nn.Dense]
    waiting = nn.Dense(3)
    waiting.initialize()
    with pytest.raises(ParameterError, match="call the network once"):
        quantize_weights(waiting)
    adapted = nn.HybridSequential()
    adapted.add(nn.Dense(4, in_units=6))
    adapted.initialize()
    mx.contrib.lora.apply(adapted, "0")
    with pytest.raises(ArgumentError, match="0: expected a Dense layer, got _AdaptedDense"):
        quantize_weights(adapted)
    quantize_weights(net[0])
    with pytest.raises(ArgumentError, match="expected a Dense layer to quantize"):
        quantize_weights(net[0])
