"""Weights of 8 and 4 bits in ONNX files: DequantizeLinear before a product, equal on return."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from gluonish.gluon import nn
from gluonish.onnx.exporting import proto
from tests.onnx.exporting.judge import evaluated


def _network(dtype: str, group_size: int | None, kind: str = "int8") -> Any:
    net = nn.HybridSequential()
    net.add(nn.Dense(8, "relu", flatten=False, in_units=4), nn.Dense(3, in_units=24))
    net.initialize(mx.init.Normal(1))
    mx.contrib.quantization.quantize_weights(net, kind, group_size)
    net.cast(dtype)
    net.hybridize()
    return net


@pytest.mark.parametrize("group_size", [None, 4])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("opset", [19, 21, 23])
def test_files_compute_the_same_and_come_back(
    opset: int, dtype: str, group_size: int | None, tmp_path: Path
) -> None:
    net = _network(dtype, group_size)
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(dtype)
    wanted = net(mx.nd.array(x, dtype=dtype)).asnumpy()
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(net, None, [x.shape], np.dtype(dtype), path, opset_version=opset)
    model = onnx.load(path)
    kinds = [node.op_type for node in model.graph.node]
    integers = [w for w in model.graph.initializer if w.data_type == onnx.TensorProto.INT8]
    assert sum(len(w.raw_data) for w in integers if len(w.dims) == 2) == 8 * 4 + 3 * 24
    if dtype != "float64" and (group_size is None or opset >= 21):
        assert kinds.count("DequantizeLinear") == 2
    tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    block = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    returned = block(mx.nd.array(x, dtype=dtype)).asnumpy()
    for found in (evaluated(path, [x])[0], returned):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("group_size", [None, 4])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_weights_of_4_bits_are_int4_in_files(
    dtype: str, group_size: int | None, outside: bool, tmp_path: Path, monkeypatch: Any
) -> None:
    if outside:
        monkeypatch.setattr(proto, "LARGEST_MESSAGE", 100)
        monkeypatch.setattr(proto, "SMALLEST_OUTSIDE", 16)
    net = _network(dtype, group_size, "int4")
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(dtype)
    wanted = net(mx.nd.array(x, dtype=dtype)).asnumpy()
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(net, None, [x.shape], np.dtype(dtype), path, opset_version=21)
    assert Path(f"{path}.data").exists() == outside
    model = onnx.load(path)
    integers = [w for w in model.graph.initializer if w.data_type == onnx.TensorProto.INT4]
    sizes = [(tuple(w.dims), len(w.raw_data)) for w in integers if len(w.dims) == 2]
    assert sorted(sizes) == [((3, 24), 36), ((8, 4), 16)]
    assert all(w.data_type != onnx.TensorProto.UINT8 for w in model.graph.initializer)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("DequantizeLinear") == (0 if dtype == "float64" else 2)
    tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    block = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    returned = block(mx.nd.array(x, dtype=dtype)).asnumpy()
    for found in (evaluated(path, [x])[0], returned):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_opsets_without_integers_of_4_bits_are_refused(tmp_path: Path) -> None:
    net = _network("float32", None, "int4")
    net(mx.nd.ones((2, 3, 4)))
    message = "weights of 4 bits need opset_version of 21 or more, .* or round to int8"
    with pytest.raises(NotImplementedError, match=message):
        mx.onnx.export_model(
            *(net, None, [(2, 3, 4)], np.float32, str(tmp_path / "x.onnx")), opset_version=20
        )


def test_files_of_opset_17_come_back(tmp_path: Path) -> None:
    net = _network("float32", 4)
    x = mx.nd.random.normal(shape=(2, 3, 4))
    path = str(tmp_path / "x.onnx")
    wanted = net(x).asnumpy()
    mx.onnx.export_model(net, None, [x.shape], np.float32, path, opset_version=17)
    found = mx.contrib.onnx.import_to_gluon(path, mx.cpu())(x).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
