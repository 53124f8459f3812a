"""contrib.lora: the formula, what trains, merge, and files in peft's layout."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.contrib import lora
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    NotSupportedError,
    ParameterError,
)
from gluonish.gluon import nn

X = np.random.default_rng(0).standard_normal((3, 5, 8)).astype(np.float32)


class Attention(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Dense(8, flatten=False, activation="relu", in_units=8)
        self.key = nn.Dense(8, flatten=False, use_bias=False, in_units=8)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.query(x) * self.key(x)


def network(seed: int = 1) -> Any:
    mx.random.seed(seed)
    net = nn.HybridSequential()
    net.add(Attention(), Attention(), nn.Dense(2))
    net.initialize(mx.init.Normal(0.5))
    net(nd.array(X))
    return net


def randomize(net: Any) -> None:
    random = np.random.default_rng(2)
    for layer in (net[0].query, net[1].query):
        for parameter in (layer.lora_a, layer.lora_b):
            parameter.set_data(nd.array(random.standard_normal(parameter.shape)))


@pytest.mark.parametrize("hybrid", [None, {}, {"static_alloc": True}])
@pytest.mark.parametrize("rslora", [False, True])
def test_formula_training_and_merge(hybrid: Any, rslora: bool) -> None:
    net = network()
    if hybrid is not None:
        net.hybridize(**hybrid)
    before = net(nd.array(X)).asnumpy()
    assert lora.apply(net, r".*\.query", 4, 6.0, use_rslora=rslora) == ["0.query", "1.query"]
    np.testing.assert_array_equal(net(nd.array(X)).asnumpy(), before)  # B is zero
    randomize(net)
    layer = net[0].query
    w, b, down, up = (
        p.data().asnumpy().astype(np.float64)
        for p in (layer.weight, layer.bias, layer.lora_a, layer.lora_b)
    )
    scale = 6 / (2 if rslora else 4)
    want = np.maximum(X @ w.T + b + scale * (X @ down.T) @ up.T, 0)
    np.testing.assert_allclose(layer(nd.array(X)).asnumpy(), want, rtol=0, atol=1e-4)
    frozen = {n: p.data().asnumpy() for n, p in net.collect_params(".*(weight|bias)").items()}
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    with autograd.record():
        loss = (net(nd.array(X)) ** 2).sum()
    loss.backward()
    old = layer.lora_a.data().asnumpy()
    trainer.step(3)
    assert (layer.lora_a.data().asnumpy() != old).any()
    for name, value in frozen.items():
        np.testing.assert_array_equal(net.collect_params()[name].data().asnumpy(), value)
    adapted = net(nd.array(X)).asnumpy()
    assert lora.merge(net) == ["0.query", "1.query"]
    assert type(layer) is nn.Dense
    assert all(p.grad_req == "write" for p in net.collect_params().values())
    assert not any("lora" in name for name in net.collect_params())
    np.testing.assert_allclose(net(nd.array(X)).asnumpy(), adapted, rtol=1e-4, atol=1e-4)
    assert lora.apply(net, "2", 1) == ["2"]  # again
    assert net[2].lora_a.data().shape == (1, 40)  # of an inferred shape


@pytest.mark.parametrize("hybrid", [False, True])
def test_joined_projections_of_self_attention_have_one_adapter(
    tmp_path: Path, hybrid: bool
) -> None:
    mx.random.seed(1)
    net = nn.TransformerEncoder(1, 8, 16, 2)
    net.initialize(mx.init.Normal(0.5))
    net.hybridize(active=hybrid)
    net(nd.array(X))
    net.save_parameters(str(tmp_path / "base.params"))
    path = "layers.0.attention.qkv"
    assert lora.apply(net, r".*\.qkv", 2, 6.0) == [path]
    layer = net.layers[0].attention.qkv
    assert layer.lora_a.shape == (2, 8)
    assert layer.lora_b.shape == (24, 2)
    random = np.random.default_rng(2)
    a, b = (random.standard_normal(x.shape) for x in (layer.lora_a, layer.lora_b))
    layer.lora_a.set_data(nd.array(a))
    layer.lora_b.set_data(nd.array(b))
    weight, bias = (x.data().asnumpy() for x in (layer.weight, layer.bias))
    want = X @ (weight + 3 * b @ a).T + bias
    np.testing.assert_allclose(layer(nd.array(X)).asnumpy(), want, rtol=0, atol=1e-4)
    y = net(nd.array(X)).asnumpy()
    lora.save(net, tmp_path)
    other = nn.TransformerEncoder(1, 8, 16, 2)
    other.load_parameters(str(tmp_path / "base.params"))
    assert lora.load(other, tmp_path) == [path]
    np.testing.assert_allclose(other(nd.array(X)).asnumpy(), y, rtol=0, atol=1e-5)
    assert lora.merge(net) == [path]
    assert type(layer) is type(nn.TransformerEncoder(1, 8, 16, 2).layers[0].attention.qkv)
    np.testing.assert_allclose(layer.weight.data().asnumpy(), weight + 3 * b @ a, atol=1e-5)
    np.testing.assert_allclose(net(nd.array(X)).asnumpy(), y, rtol=0, atol=1e-4)


def test_adapter_of_joined_projections_refuses_keys() -> None:
    layer = nn.MultiHeadAttention(8, 2, in_units=8)
    layer.initialize()
    lora.apply(layer, "qkv", 2)
    with pytest.raises(ArgumentError, match=r"expected no key and value.*fused=False"):
        layer(nd.array(X), nd.array(X))


def test_files_are_those_of_peft(tmp_path: Path) -> None:
    net = network()
    lora.apply(net, r".*\.query", 4, 6.0)
    randomize(net)
    lora.save(net, tmp_path / "adapter", base_model="ours")
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert (config["peft_type"], config["r"], config["lora_alpha"]) == ("LORA", 4, 6.0)
    assert config["target_modules"] == ["0.query", "1.query"]
    arrays: Any = nd.load(str(tmp_path / "adapter" / "adapter_model.safetensors"))
    shapes = {name: value.shape for name, value in arrays.items()}
    assert shapes == {
        f"base_model.model.{i}.query.lora_{word}.weight": shape
        for i in (0, 1)
        for word, shape in (("A", (4, 8)), ("B", (8, 4)))
    }
    other = network()
    assert lora.load(other, tmp_path / "adapter") == ["0.query", "1.query"]
    np.testing.assert_array_equal(other(nd.array(X)).asnumpy(), net(nd.array(X)).asnumpy())
    randomize(net)
    lora.load(net, tmp_path / "adapter")  # into adapters that exist
    np.testing.assert_array_equal(other(nd.array(X)).asnumpy(), net(nd.array(X)).asnumpy())


def test_saved_with_the_network(tmp_path: Path) -> None:
    nets = [network(), network(5)]
    for net in nets:
        lora.apply(net, r".*\.query")
    randomize(nets[0])
    nets[0].save_parameters(str(tmp_path / "all.params"))
    nets[1].load_parameters(str(tmp_path / "all.params"))
    a, b = (net(nd.array(X)).asnumpy() for net in nets)
    np.testing.assert_array_equal(a, b)


def test_dropout_and_bfloat16() -> None:
    net = network()
    lora.apply(net, r".*\.query", dropout=0.5)
    randomize(net)
    with autograd.record():
        first = net(nd.array(X)).asnumpy()
    assert (first != net(nd.array(X)).asnumpy()).any()
    net.cast("bfloat16")
    assert net(nd.array(X, dtype="bfloat16")).dtype != np.float32
    lora.merge(net)


def test_adapters_before_initialization_and_shapes() -> None:
    net = nn.Dense(4)
    lora.apply(net, "", 2)
    net.initialize()
    assert net(nd.ones((2, 3))).shape == (2, 4)
    limit = np.abs(net.lora_a.data().asnumpy())  # type: ignore[attr-defined]
    assert limit.shape == (2, 3)
    assert 0 < limit.max() <= 1 / np.sqrt(3)


def test_two_devices() -> None:
    net = network()
    net.collect_params().reset_ctx([mx.cpu(0), mx.cpu(1)])
    lora.apply(net, r".*\.query")
    a, b = (net(nd.array(X, ctx=mx.cpu(i))).asnumpy() for i in (0, 1))
    np.testing.assert_array_equal(a, b)
    lora.merge(net)


def test_refusals(tmp_path: Path) -> None:
    net = network()
    with pytest.raises(ArgumentError, match=r"match a Dense layer of \['0.query', .* got 'value'"):
        lora.apply(net, "value")
    with pytest.raises(ArgumentError, match="rank of 1 or more, got 0"):
        lora.apply(net, ".*", 0)
    with pytest.raises(ArgumentError, match=r"dropout in \[0, 1\), got 1"):
        lora.apply(net, ".*", dropout=1)
    for call in (lora.merge, lambda net: lora.save(net, tmp_path)):
        with pytest.raises(ParameterError, match="without; call apply"):
            call(net)
    lora.apply(net, r"0\.query", 2)
    with pytest.raises(ArgumentError, match=r"expected Dense layers, got _AdaptedDense at 0.query"):
        lora.apply(net, r"0\.query")
    lora.apply(net, r"1\.query", 3)
    with pytest.raises(ArgumentError, match=r"equal rank, alpha and dropout.* at 1.query"):
        lora.save(net, tmp_path)
    other = network()
    lora.apply(other, r"0\.query", 2)
    lora.save(other, tmp_path)
    made = network()
    lora.apply(made, r"0\.query", 3)
    with pytest.raises(ParameterError, match=r"expected .*lora_a of shape \(3, 8\) at 0.query"):
        lora.load(made, tmp_path)
    with pytest.raises(ParameterError, match=r"expected a Dense layer at 0.query.* NoneType"):
        lora.load(nn.Dense(2), tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    (tmp_path / "adapter_config.json").write_text(json.dumps({**config, "use_dora": True}))
    with pytest.raises(NotSupportedError, match="expected use_dora False"):
        lora.load(network(), tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(FileFormatError, match="expected a configuration of LoRA"):
        lora.load(network(), tmp_path)
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    nd.save(str(tmp_path / "adapter_model.safetensors"), {"x": nd.ones(2)})
    with pytest.raises(FileFormatError, match=r"expected names base_model.* got x"):
        lora.load(network(), tmp_path)
