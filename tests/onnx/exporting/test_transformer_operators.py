"""Operators of transformers in opset 23, which has some of them, and in the default one."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from tests.onnx.exporting.judge import evaluated
from tests.onnx.exporting.subjects import LAYERS, build

EXPECTED = {
    "RMSNorm": "RMSNormalization",
    "RMSNorm-axis": "ReduceMean",
    "GELU-tanh": "Gelu",
    "GELU-sigmoid": "Sigmoid",
    "swiglu": "Sigmoid",
    "geglu-tanh": "Gelu",
    "RotaryEmbedding": "RotaryEmbedding",
    "RotaryEmbedding-part": "Concat",
    "RotaryEmbedding-positions": "Gather",
    "MultiHeadAttention": "Attention",
    "MultiHeadAttention-grouped": "Attention",
    "MultiHeadAttention-rotary": "Attention",
    "MultiHeadAttention-memory": "Attention",
    "TransformerEncoder": "Attention",
    "TransformerDecoder": "Attention",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_opset_23(name: str, tmp_path: Path) -> None:
    make, arrays = LAYERS[name]
    block, wanted = build(make, arrays)
    path = str(tmp_path / "x.onnx")
    shapes = [x.shape for x in arrays]
    mx.onnx.export_model(block, None, shapes, np.float32, path, opset_version=23)
    assert EXPECTED[name] in [node.op_type for node in onnx.load(path).graph.node]
    found: list[Any] = [evaluated(path, arrays)[0]]
    found.append(
        mx.contrib.onnx.import_to_gluon(path, mx.cpu())(*map(mx.nd.array, arrays)).asnumpy()
    )
    for got in found:
        np.testing.assert_allclose(got, wanted[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("opset", [17, 23])
def test_sums_before_the_norm_and_positions_by_sample(
    dtype: str, opset: int, tmp_path: Path
) -> None:
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, y: Any, positions: Any) -> Any:  # type: ignore[override]
            normed, joined = F.add_rms_norm(x, y, F.ones((4,), dtype=dtype), offset=True)
            return F.rotary_embedding(normed + joined, positions, pairing="neighbours")

    random = np.random.default_rng(0)
    arrays = [random.standard_normal((2, 3, 5, 4)).astype(dtype) for _ in "xy"]
    arrays.append(random.integers(0, 60_000, (2, 5)).astype(np.int64))
    net = Net()
    net.hybridize()
    wanted = net(*[mx.nd.array(x, dtype=x.dtype) for x in arrays]).asnumpy()
    path = str(tmp_path / "x.onnx")
    shapes, types = [x.shape for x in arrays], [x.dtype for x in arrays]
    mx.onnx.export_model(net, None, shapes, types, path, opset_version=opset)
    tolerance = 2e-3 if dtype == "float16" else 1e-5
    got = evaluated(path, arrays)[0]
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
