"""A small encoder, with masks by length, in fixed and dynamic shapes and in 16 bits."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from tests.onnx.exporting.judge import evaluated

nn = mx.gluon.nn


class _Layer(mx.gluon.HybridBlock):
    def __init__(self, units: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        with self.name_scope():
            self.qkv = nn.Dense(3 * units, flatten=False, in_units=units)
            self.projection = nn.Dense(units, flatten=False, in_units=units)
            self.norms = nn.HybridSequential()
            self.norms.add(nn.LayerNorm(in_channels=units), nn.LayerNorm(in_channels=units))
            self.feed = nn.HybridSequential()
            self.feed.add(nn.Dense(4 * units, flatten=False, in_units=units), nn.GELU())
            self.feed.add(nn.Dense(units, flatten=False, in_units=4 * units))
            self.dropout = nn.Dropout(0.1)

    def hybrid_forward(self, F: Any, x: Any, mask: Any) -> Any:
        qkv = self.qkv(x)
        scores = F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=self._heads)
        attention = self.dropout(F.softmax(F.broadcast_add(scores, mask), axis=-1))
        found = F.contrib.interleaved_matmul_selfatt_valatt(qkv, attention, heads=self._heads)
        x = self.norms[0](x + self.projection(found))
        return self.norms[1](x + self.feed(x))


class _Encoder(mx.gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.words = nn.Embedding(50, 16)
            self.first, self.second = _Layer(16, 4), _Layer(16, 4)
            self.classes = nn.Dense(3, in_units=16)

    def hybrid_forward(self, F: Any, tokens: Any, length: Any) -> Any:
        x = F.transpose(self.words(tokens), axes=(1, 0, 2))
        steps = F.reshape(F.contrib.arange_like(tokens, axis=1), (1, -1))
        inside = F.broadcast_lesser(steps, F.reshape(length, (-1, 1)))
        outside = (1 - F.repeat(F.expand_dims(inside, 1), repeats=4, axis=0)) * -1e4
        x = self.second(self.first(x, outside), outside)
        last = F.SequenceLast(x, length, use_sequence_length=True)
        return self.classes(last), F.transpose(x, axes=(1, 0, 2))


def _call(batch: int, length: int) -> list[Any]:
    random = np.random.default_rng(batch)
    tokens = random.integers(0, 50, (batch, length)).astype(np.float32)
    return [tokens, random.integers(1, length + 1, batch).astype(np.float32)]


@pytest.fixture
def encoder() -> Any:
    mx.random.seed(2)
    net = _Encoder()
    net.initialize(mx.init.Normal(0.3))
    return net


def _compare(path: str, net: Any, arrays: list[Any]) -> None:
    wanted = net(*[mx.nd.array(x) for x in arrays])
    for a, b in zip(evaluated(path, arrays), wanted, strict=True):
        np.testing.assert_allclose(a, b.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [13, 16, 18, 21])
def test_an_encoder_gives_the_same(encoder: Any, opset: int, tmp_path: Path) -> None:
    arrays = _call(2, 7)
    path = str(tmp_path / "x.onnx")
    shapes = [x.shape for x in arrays]
    mx.onnx.export_model(encoder, None, shapes, np.float32, path, opset_version=opset)
    _compare(path, encoder, arrays)


def test_dynamic_batch_and_length(encoder: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "x.onnx")
    shapes = [("batch", "length"), ("batch",)]
    mx.onnx.export_model(encoder, None, shapes, np.float32, path, run_shape_inference=True)
    for batch, length in ((2, 7), (3, 5), (1, 1)):
        _compare(path, encoder, _call(batch, length))
    names = [dim.dim_param for dim in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
    assert names == ["batch", "length"]


def test_what_needs_a_size_is_named_where_the_axis_is_dynamic(tmp_path: Path) -> None:
    x = mx.sym.var("x")
    sym = mx.sym.split(x, num_outputs=2, axis=1, name="halves")
    with pytest.raises(NotImplementedError, match=r"node halves.*dynamic; give that axis a size"):
        mx.onnx.export_model(sym, {}, [(2, "even")], np.float32, str(tmp_path / "x.onnx"))


def test_a_network_that_takes_one_size_only_says_so(tmp_path: Path) -> None:
    x = mx.sym.var("x")
    sym = mx.sym.FullyConnected(x, num_hidden=2, name="dense")
    weights = {"dense_weight": mx.nd.ones((2, 6)), "dense_bias": mx.nd.ones(2)}
    with pytest.raises(ValueError, match=r"in_shapes that the network takes.*dense"):
        mx.onnx.export_model(sym, weights, [(1, 2, "wide")], np.float32, str(tmp_path / "x.onnx"))
    weights["dense_weight"] = mx.nd.ones((2, 128))  # fits one of the sizes that are tried
    with pytest.raises(ValueError, match=r"other sizes along dynamic axes.*dense"):
        mx.onnx.export_model(sym, weights, [(1, 2, "wide")], np.float32, str(tmp_path / "x.onnx"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision_gives_the_same(encoder: Any, dtype: str, tmp_path: Path) -> None:
    arrays = _call(2, 7)
    encoder.hybridize()
    encoder(*[mx.nd.array(x) for x in arrays])
    net = mx.contrib.amp.convert_hybrid_block(encoder, target_dtype=dtype)
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(net, None, [x.shape for x in arrays], np.float32, path)
    onnx.checker.check_model(path, full_check=True)
    wanted = net(*[mx.nd.array(x) for x in arrays])[0].asnumpy()
    tolerance = 0.05 if dtype == "float16" else 0.3
    np.testing.assert_allclose(evaluated(path, arrays)[0], wanted, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("opset", [15, 22])
def test_networks_of_16_bits_give_the_same(dtype: str, opset: int, tmp_path: Path) -> None:
    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=3), nn.BatchNorm(in_channels=4), nn.MaxPool2D())
    net.add(nn.Dense(5, in_units=16))
    net.initialize(mx.init.Uniform(0.3))
    net.cast(dtype)
    x = mx.nd.array(np.random.default_rng(0).random((2, 3, 6, 6))).astype(dtype)
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(net, None, [x.shape], dtype, path, opset_version=opset)
    onnx.checker.check_model(path, full_check=True)
    (y,) = evaluated(path, [x.asnumpy()])
    assert y.dtype.name == dtype
    wanted = net(x).astype("float32").asnumpy()
    np.testing.assert_allclose(np.asarray(y, np.float32), wanted, atol=0.03)
