"""Networks in bytes are QuantizeLinear and DequantizeLinear around operators on floats."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from tests.onnx.exporting.judge import evaluated

contrib = mx.sym.contrib


def _range(name: str) -> list[Any]:
    return [mx.sym.var(f"{name}_min"), mx.sym.var(f"{name}_max")]


def _network() -> tuple[Any, dict[str, Any]]:
    """A convolution, relu and dense layer in bytes; with weights and their ranges."""
    random = np.random.default_rng(0)
    weights: dict[str, Any] = {}
    for name, shape, limit in (
        *(("conv_weight", (4, 3, 3, 3), 0.6), ("conv_bias", (4,), 0.3)),
        *(("dense_weight", (5, 64), 0.4), ("dense_bias", (5,), 0.2)),
    ):
        weights[name] = mx.nd.array(random.integers(-127, 128, shape), dtype="int8")
        weights[f"{name}_min"] = mx.nd.array([-limit])
        weights[f"{name}_max"] = mx.nd.array([limit])
    x = contrib.quantize_v2(
        mx.sym.var("data"), min_calib_range=0.0, max_calib_range=1.0, out_type="uint8"
    )
    weight, bias = mx.sym.var("conv_weight"), mx.sym.var("conv_bias")
    x = contrib.quantized_conv(
        *(x[0], weight, bias, x[1], x[2], *_range("conv_weight"), *_range("conv_bias")),
        kernel=(3, 3),
        num_filter=4,
    )
    x = contrib.requantize(x[0], x[1], x[2], min_calib_range=-3.0, max_calib_range=3.0)
    x = contrib.quantized_act(x[0], x[1], x[2], act_type="relu")
    x = contrib.quantized_flatten(x[0], x[1], x[2])
    weight, bias = mx.sym.var("dense_weight"), mx.sym.var("dense_bias")
    x = contrib.quantized_fully_connected(
        *(x[0], weight, bias, x[1], x[2], *_range("dense_weight"), *_range("dense_bias")),
        num_hidden=5,
    )
    x = contrib.requantize(x[0], x[1], x[2], min_calib_range=-40.0, max_calib_range=40.0)
    return contrib.dequantize(x[0], x[1], x[2]), weights


@pytest.fixture
def picture() -> Any:
    return np.random.default_rng(1).random((2, 3, 6, 6)).astype(np.float32)


def test_a_network_in_bytes_gives_the_same(picture: Any, tmp_path: Path) -> None:
    sym, weights = _network()
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(sym, weights, [picture.shape], np.float32, path, opset_version=19)
    (got,) = evaluated(path, [picture])
    executor = sym.bind(mx.cpu(), {**weights, "data": mx.nd.array(picture)}, grad_req="null")
    wanted = executor.forward()[0].asnumpy()
    # A step, where what lies between two numbers of bytes is rounded the other way.
    np.testing.assert_allclose(got, wanted, atol=40 / 127 + 1e-4)
    assert np.mean(got == wanted) > 0.7


def test_runtimes_find_the_pattern_that_they_fuse(picture: Any, tmp_path: Path) -> None:
    """No int32 is left where only the next requantization asks for it, and scales are constants."""
    sym, weights = _network()
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(sym, weights, [picture.shape], np.float32, path)
    graph = onnx.load(path).graph
    counts = Counter(node.op_type for node in graph.node)
    assert (counts["QuantizeLinear"], counts["DequantizeLinear"]) == (3, 5)
    assert counts["Conv"] == counts["Gemm"] == 1
    constants = {tensor.name for tensor in graph.initializer}
    made = {node.output[0]: node.op_type for node in graph.node}
    for node in graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            assert set(node.input[1:]) <= constants
    (convolution,) = (node for node in graph.node if node.op_type == "Conv")
    assert [made[name] for name in convolution.input[:2]] == ["DequantizeLinear"] * 2
    readers = [node.op_type for node in graph.node if convolution.output[0] in node.input]
    assert readers == ["QuantizeLinear"]
