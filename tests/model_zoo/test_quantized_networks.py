"""quantize_weights of language models: texts, files, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from gluonish.model_zoo import from_pretrained

GOLDEN = Path(__file__).parents[1] / "golden" / "text_networks"
PROMPT = [5, 3, 9, 5]


def _network(name: str) -> Any:
    net = from_pretrained(GOLDEN / name, mx.current_context(), dtype="float32")
    net.generation_config = {}
    return net


def _at(net: Any, path: str) -> Any:
    for name in path.split("."):
        net = net[int(name)] if name.isdigit() else getattr(net, name)
    return net


def _floating(layer: Any) -> Any:
    """Return the weights that a quantized layer computes with."""
    weight, scale = layer.weight.data().asnumpy(), layer.scale.data().asnumpy()
    if weight.dtype == np.uint8:  # pairs of 4 bits, the first one in the low bits
        pairs = np.stack([weight % 16, weight // 16], axis=-1).reshape(len(weight), -1)
        weight = np.where(pairs < 8, pairs, pairs.astype(np.int8) - 16)
    grouped = weight.astype(np.float32).reshape(*scale.shape, -1) * scale[..., None]
    return grouped.reshape(weight.shape)


def _scores(net: Any) -> Any:
    return net(mx.nd.array([PROMPT], dtype="int32")).asnumpy()


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma3"])
@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_texts_are_those_of_the_rounded_weights(name: str, kind: str) -> None:
    net, exact = _network(name), _network(name)
    before = _scores(net), net.generate(PROMPT, 8)
    paths = net.quantize_weights(kind, group=16, exclude_layers=["head"])
    assert "body.layers.1.attention.qkv" in paths
    for path in paths:
        assert isinstance(_at(net, path), nn.WeightOnlyDense)
        _at(exact, path).weight.set_data(_floating(_at(net, path)))
    expected = _scores(exact)
    np.testing.assert_allclose(_scores(net), expected, atol=2e-5 * np.abs(expected).max())
    assert np.abs(before[0] - expected).max() > 1e-4 * np.abs(expected).max()
    assert net.generate(PROMPT, 8) == exact.generate(PROMPT, 8)


def test_a_tied_head_gets_integers_and_the_table_stays() -> None:
    net = _network("llama_tied")
    table = net.body.embedding.weight.data().asnumpy()
    assert "head" in net.quantize_weights(group=32)
    assert net.head.weight.dtype == np.int8
    np.testing.assert_array_equal(net.body.embedding.weight.data().asnumpy(), table)
    largest = np.abs(table).max(-1, keepdims=True)
    assert (np.abs(_floating(net.head) - table) <= largest / 253).all()


def test_groups_divide_the_features_of_each_layer() -> None:
    net = _network("llama")
    for path in net.quantize_weights(group=24):  # 32 and 48 input features, or more
        layer = _at(net, path)
        size = layer.weight.shape[1] // layer.scale.shape[1]
        assert layer.weight.shape[1] % size == 0
        assert size == max(n for n in range(1, 25) if layer.weight.shape[1] % n == 0)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_integers_are_saved_and_loaded(tmp_path: Path, given: bool, kind: str) -> None:
    net = _network("llama_tied")
    net.quantize_weights(kind, group=32)
    file = tmp_path / "net.params"
    net.save_parameters(str(file))
    other = _network("llama_tied") if given else _without_values("llama_tied")
    other.quantize_weights(kind, group=32)
    other.load_parameters(str(file), ctx=mx.current_context())
    np.testing.assert_array_equal(_scores(other), _scores(net))
    assert other.generate(PROMPT, 8) == net.generate(PROMPT, 8)


def _without_values(name: str) -> Any:
    """Return a network whose parameters have no values, made with the arguments of another one."""
    net = _network(name)
    for parameter in net.collect_params().values():
        parameter._arrays = None
    return net


def test_wrong_arguments_are_refused_and_change_nothing() -> None:
    net = _network("gpt2")
    for arguments, error, message in (
        ({"dtype": "int3"}, ArgumentError, "expected dtype 'int8' or 'int4', got 'int3'"),
        ({"group": 0}, ArgumentError, "expected group of 1 or more, got 0"),
        ({"group": 1.5}, ArgumentTypeError, "group"),
        ({"exclude_layers": "head"}, ArgumentTypeError, "as a list, got 'head'"),
        ({"exclude_layers": ["tail"]}, ArgumentError, r"exclude_layers among .* got \['tail'\]"),
    ):
        with pytest.raises(error, match=f"quantize_weights: .*{message}"):
            net.quantize_weights(**arguments)
    assert all(p.dtype == np.float32 for p in net.collect_params().values())
    net.quantize_weights()
    with pytest.raises(ArgumentError, match="expected a Dense layer to quantize"):
        net.quantize_weights()
