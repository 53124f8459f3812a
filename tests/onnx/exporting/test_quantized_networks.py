"""Networks that quantize_net makes are QDQ graphs in ONNX, which compute the same and come back."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from gluonish.contrib import quantization
from gluonish.gluon import nn
from tests.onnx.exporting.judge import evaluated

_NUMBERS = np.random.default_rng(4)
IMAGES = _NUMBERS.uniform(-1, 1, (6, 3, 8, 8)).astype(np.float32)
ROWS = _NUMBERS.normal(0, 1, (6, 12)).astype(np.float32)


class Pictures(nn.HybridBlock):
    """Convolutions with BatchNorm and relu, a sum around one of them, pooling, a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(8, 3, padding=1, use_bias=False)
        self.norm = nn.BatchNorm()
        self.pool = nn.MaxPool2D(2)
        self.second = nn.Conv2D(8, 3, padding=1)
        self.act = nn.Activation("relu")
        self.end = nn.GlobalAvgPool2D()
        self.dense = nn.Dense(5)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.pool(self.act(self.norm(self.first(x))))
        return self.dense(self.end(self.act(self.second(y) + y)))


class Rows(nn.HybridBlock):
    """Dense layers around a LayerNorm, which stays in floating numbers, and a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(16)
        self.norm = nn.LayerNorm()
        self.second = nn.Dense(16, activation="relu")
        self.dense = nn.Dense(5)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.norm(self.first(x))
        return self.dense(self.second(y) + y)


NETWORKS: dict[str, tuple[Any, Any]] = {"pictures": (Pictures, IMAGES), "rows": (Rows, ROWS)}
MAKERS: dict[str, dict[str, Any]] = {
    "net": {},
    "net_v2": {"quantize_granularity": "tensor-wise"},
    "net_v2-channels": {"quantize_granularity": "channel-wise"},
}


def quantized(kind: str, maker: str, dtype: str, **settings: Any) -> tuple[Any, Any]:
    """Return a network in bytes, and what it is called with."""
    make, data = NETWORKS[kind]
    mx.random.seed(2)
    net = make()
    net.initialize(mx.init.Xavier(magnitude=2))
    x = mx.nd.array(data)
    with mx.autograd.record():  # so that the moving statistics are not those of the start
        net(x)
    function = quantization.quantize_net_v2 if MAKERS[maker] else quantization.quantize_net
    settings = {"calib_mode": "naive", "calib_data": [x], **settings}
    return function(net, quantized_dtype=dtype, **MAKERS[maker], **settings), data


def _step(wanted: Any) -> float:
    """Return the step that the output would have in bytes, and what float32 rounds of it."""
    return float(np.abs(wanted).max()) / 127 * (1 + 1e-5)


@pytest.mark.parametrize("mode", ["naive", "none"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "auto"])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_file_computes_what_the_network_does(
    kind: str, maker: str, dtype: str, mode: str, tmp_path: Path
) -> None:
    net, data = quantized(kind, maker, dtype, calib_mode=mode)
    wanted = net(mx.nd.array(data)).asnumpy()
    path = str(tmp_path / "x.onnx")
    # 19 is the first opset whose DequantizeLinear the evaluator of onnx has.
    mx.onnx.export_model(net, None, [data.shape], np.float32, path, opset_version=19)
    onnx.checker.check_model(path, full_check=True)
    (got,) = evaluated(path, [data])
    np.testing.assert_allclose(got, wanted, rtol=0, atol=_step(wanted))
    back = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    for _ in range(2):
        again = back(mx.nd.array(data)).asnumpy()
        np.testing.assert_allclose(again, wanted, rtol=0, atol=_step(wanted))
        back.hybridize()


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", NETWORKS)
def test_every_layer_reads_bytes(kind: str, maker: str, tmp_path: Path) -> None:
    net, data = quantized(kind, maker, "auto")
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(net, None, [data.shape], np.float32, path)
    graph = onnx.load(path).graph
    made = {name: node.op_type for node in graph.node for name in node.output}
    found = [node for node in graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]
    assert len(found) == 3
    for node in found:
        assert [made[name] for name in node.input[:2]] == ["DequantizeLinear"] * 2
    kinds = Counter(made.values())
    assert kinds["QuantizeLinear"] >= 3
    fixed = {tensor.name for tensor in graph.initializer}
    scales = [n.input[1] for n in graph.node if n.op_type in ("QuantizeLinear", "DequantizeLinear")]
    assert fixed.issuperset(scales)


@pytest.mark.parametrize("kind", NETWORKS)
def test_batches_of_any_size_may_be_given(kind: str, tmp_path: Path) -> None:
    net, data = quantized(kind, "net_v2", "auto")
    path = str(tmp_path / "x.onnx")
    shape = (None, *data.shape[1:])
    mx.onnx.export_model(net, None, [shape], np.float32, path, opset_version=19)
    for count in (2, 5):
        wanted = net(mx.nd.array(data[:count])).asnumpy()
        (got,) = evaluated(path, [data[:count]])
        np.testing.assert_allclose(got, wanted, rtol=0, atol=_step(wanted))
