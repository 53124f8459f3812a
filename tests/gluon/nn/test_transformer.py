"""Transformer layers: options, caches, dtypes, files, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from gluonish.gluon.block.hybrid_block import HybridBlock

RANDOM = np.random.default_rng(4)
N, T, S, UNITS, HIDDEN, HEADS = 2, 5, 7, 8, 12, 2
SIZES = (UNITS, HIDDEN, HEADS)


def normal(*shape: int) -> Any:
    return mx.nd.array(RANDOM.standard_normal(shape).astype(np.float32))


def started(net: Any) -> Any:
    net.initialize(mx.init.Normal(0.4))
    return net


def close(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_language_model_of_one_token_at_a_time(layout: str, hybridize: bool) -> None:
    net = started(nn.TransformerEncoder(2, *SIZES, causal=True, norm_first=True, layout=layout))
    x, axis = normal(N, T, UNITS), layout.index("T")
    x = x.swapaxes(0, 1) if axis == 0 else x
    wanted = net(x)
    net.hybridize(hybridize)
    cache = net.begin_cache(N, 9)
    assert len({id(held.position) for held in cache}) == 1
    found = []
    for i in range(T):
        part = mx.nd.slice_axis(x, axis=axis, begin=i, end=i + 1)
        found.append(net(part, cache=cache))
        cache[0].position[:] += 1
    close(mx.nd.concat(*found, dim=axis), wanted)
    if hybridize:
        assert len(net._graphs) == 1


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_decoder_of_one_token_at_a_time(layout: str, hybridize: bool) -> None:
    net = started(nn.TransformerDecoder(2, *SIZES, layout=layout))
    x, memory, axis = normal(N, T, UNITS), normal(N, S, UNITS), layout.index("T")
    if axis == 0:
        x, memory = x.swapaxes(0, 1), memory.swapaxes(0, 1)
    lengths = mx.nd.array([4, 7])
    wanted = net(x, memory, memory_valid_length=lengths)
    net.hybridize(hybridize)
    cache = net.begin_cache(memory, 9)
    found = []
    for i in range(T):
        part = mx.nd.slice_axis(x, axis=axis, begin=i, end=i + 1)
        found.append(net(part, memory_valid_length=lengths, cache=cache))
        cache[0][0].position[:] += 1
    close(mx.nd.concat(*found, dim=axis), wanted)


@pytest.mark.parametrize("hybridize", [False, True])
def test_layer_is_what_its_parts_are(hybridize: bool) -> None:
    for first in (False, True):
        net = started(nn.TransformerEncoderLayer(*SIZES, norm_first=first, norm="rms"))
        x = normal(N, T, UNITS)
        one, two = net.attention_norm, net.feed_forward_norm
        if first:
            y = x + net.attention(one(x))
            wanted = y + net.feed_forward(two(y))
        else:
            y = one(x + net.attention(x))
            wanted = two(y + net.feed_forward(y))
        net.hybridize(hybridize)
        close(net(x), wanted)
        assert isinstance(one, nn.RMSNorm)


def test_options_of_attention() -> None:
    options = {"num_kv_heads": 1, "window": 2, "qk_norm": True}
    net = started(nn.TransformerEncoderLayer(*SIZES, attention_options=options))
    assert net(normal(N, T, UNITS)).shape == (N, T, UNITS)
    assert net.attention.qkv.weight.shape == (UNITS + 2 * (UNITS // HEADS), UNITS)
    assert net.attention.query_norm is not None
    decoder = nn.TransformerDecoderLayer(*SIZES, memory_options={"num_kv_heads": 1})
    started(decoder)(normal(N, T, UNITS), normal(N, S, 5))
    assert decoder.memory_attention.key.weight.shape == (UNITS // HEADS, 5)


class WithLoss(HybridBlock):
    """A feed-forward network that returns a loss, too."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * 2, F.mean(x)


@pytest.mark.parametrize("hybridize", [False, True])
def test_losses_of_feed_forward_networks_are_added_up(hybridize: bool) -> None:
    net = started(nn.TransformerEncoder(2, *SIZES, dropout=0.0, feed_forward=WithLoss))
    x = normal(N, T, UNITS)
    first, one = net.layers[0](x)
    second, two = net.layers[1](first)
    net.hybridize(hybridize)
    y, loss = net(x)
    close(y, second)
    close(loss, one + two)


def test_masks_and_lengths_reach_the_attention() -> None:
    net = started(nn.TransformerEncoder(1, *SIZES))
    x = normal(N, T, UNITS)
    seen = np.tril(np.ones((T, T), bool))
    causal = nn.TransformerEncoder(1, *SIZES, causal=True, params=net.collect_params())
    close(net(x, mxbool(seen)), causal(x))
    lengths = np.array([3, 5])
    visible = (np.arange(T) < lengths[:, None])[:, None, None]
    close(net(x, valid_length=mx.nd.array(lengths)), net(x, mxbool(visible)))
    decoder = started(nn.TransformerDecoder(1, *SIZES))
    memory = normal(N, T, UNITS)
    close(
        decoder(x, memory, memory_valid_length=mx.nd.array(lengths)),
        decoder(x, memory, memory_mask=mxbool(visible)),
    )


def mxbool(values: np.ndarray) -> Any:
    return mx.nd.array(values, dtype=bool)


RATES = ("dropout", "attention_dropout", "activation_dropout")


@pytest.mark.parametrize("name", RATES)
def test_each_dropout_acts_while_training_only(name: str) -> None:
    rates: dict[str, Any] = {**dict.fromkeys(RATES, 0.0), name: 0.5}
    net = started(nn.TransformerEncoderLayer(*SIZES, **rates))
    x = normal(N, T, UNITS)
    wanted, results = net(x).asnumpy(), []
    for _ in range(2):
        mx.random.seed(1)
        with mx.autograd.record():
            results.append(net(x).asnumpy())
    np.testing.assert_array_equal(*results)
    assert not np.allclose(results[0], wanted)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits(dtype: str, hybridize: bool) -> None:
    net, x = started(nn.TransformerEncoder(2, *SIZES, activation="gelu")), normal(N, T, UNITS)
    wanted = net(x)
    net.cast(dtype)
    net.hybridize(hybridize)
    found = net(x.astype(dtype))
    assert found.dtype == x.astype(dtype).dtype
    close(found.astype("float32"), wanted, 6e-2)


def test_mixed_precision_and_bytes() -> None:
    net, x = started(nn.TransformerEncoder(1, *SIZES)), normal(N, T, UNITS)
    wanted = net(x)
    for hybridize in (False, True):
        net.hybridize(hybridize)
        with mx.contrib.amp.autocast("bfloat16"):
            close(net(x).astype("float32"), wanted, 6e-2)
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x), batch_size=1)
    settings: dict[str, Any] = {"calib_data": data, "calib_mode": "naive"}
    close(mx.contrib.quantization.quantize_net(net, **settings)(x), wanted, 0.2)


def test_save_load_and_export(tmp_path: Path) -> None:
    net, x, memory = started(nn.TransformerDecoder(2, *SIZES)), normal(N, T, 8), normal(N, S, 6)
    net.hybridize()
    wanted = net(x, memory).asnumpy()
    net.save_parameters(str(tmp_path / "net.params"))
    other = nn.TransformerDecoder(2, *SIZES)
    other.load_parameters(str(tmp_path / "net.params"))
    other.hybridize()
    np.testing.assert_array_equal(other(x, memory).asnumpy(), wanted)
    files = net.export(str(tmp_path / "net"))
    again = nn.SymbolBlock.imports(files[0], ["data0", "data1"], files[1])
    np.testing.assert_array_equal(again(x, memory).asnumpy(), wanted)


def test_names_of_parameters_are_paths_of_parts() -> None:
    net = nn.TransformerEncoder(1, *SIZES, norm_first=True)
    layer = "layers.0."
    parts = ("attention.qkv", "attention.output", "feed_forward.hidden", "feed_forward.output")
    norms = (f"{layer}attention_norm", f"{layer}feed_forward_norm", "norm")
    names = {f"{layer}{part}.{kind}" for part in parts for kind in ("weight", "bias")}
    names |= {f"{norm}.{kind}" for norm in norms for kind in ("gamma", "beta")}
    assert set(net._collect_params_with_prefix()) == names


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"num_heads": 3}, ArgumentError, "expected num_heads that divides units 8, got 3"),
    ({"units": 0}, ArgumentError, "expected units of 1 or more, got 0"),
    ({"hidden_units": 1.5}, ArgumentTypeError, "expected hidden_units to be an int, got 1.5"),
    ({"dropout": 1.0}, ArgumentError, r"expected dropout in \[0, 1\), got 1.0"),
    (
        {"activation_dropout": -1},
        ArgumentError,
        r"expected activation_dropout in \[0, 1\), got -1",
    ),
    ({"norm": "batch"}, ArgumentError, "expected norm layer or rms, got 'batch'"),
    ({"layout": "NCT"}, ArgumentError, "expected layout NTC or TNC, got 'NCT'"),
]


@pytest.mark.parametrize("kind", [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer])
@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_wrong_options_are_refused(
    kind: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    sizes = {"units": UNITS, "hidden_units": HIDDEN, "num_heads": HEADS}
    with pytest.raises(error, match=message):
        kind(**{**sizes, **options})


def test_wrong_calls_are_refused() -> None:
    net, x = started(nn.TransformerDecoder(2, *SIZES)), normal(N, T, UNITS)
    with pytest.raises(ArgumentError, match="expected either memory or a cache, got neither"):
        net(x)
    cache = net.begin_cache(normal(N, S, UNITS), 9)
    with pytest.raises(ArgumentError, match="expected either memory or a cache, got both"):
        net(x, x, cache=cache)
    with pytest.raises(ArgumentError, match="expected a cache for each of 2 layers, got 1"):
        net(x, cache=cache[:1])
    with pytest.raises(ArgumentError, match="expected num_layers of 1 or more, got 0"):
        nn.TransformerEncoder(0, *SIZES)
