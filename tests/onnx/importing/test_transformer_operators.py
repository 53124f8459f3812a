"""Attention, RMSNormalization and RotaryEmbedding of files, against ONNX Runtime (golden file)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import gluonish as mx
from gluonish.core.errors import FileFormatError
from gluonish.onnx.importing import import_to_gluon
from tests.onnx.exporting.judge import ATTENTION_OPSETS

GOLDEN = Path(__file__).parents[2] / "golden/onnx_transformer.npz"
with np.load(GOLDEN) as stored:
    ARRAYS = dict(stored)
CASES = sorted({name.split(".")[0] for name in ARRAYS})


def _arrays(case: str, role: str) -> list[np.ndarray[Any, Any]]:
    names = sorted(n for n in ARRAYS if n.startswith(f"{case}.{role}"))
    return [ARRAYS[name] for name in names]


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_files_compute_what_onnxruntime_does(case: str, hybridized: bool) -> None:
    net = import_to_gluon(ARRAYS[f"{case}.model"].tobytes())
    if hybridized:
        net.hybridize()
    found = net(*(mx.np.array(x, dtype=x.dtype) for x in _arrays(case, "x")))
    outputs = _arrays(case, "y")
    found = list(found) if isinstance(found, list | tuple) else [found]
    tolerance = 2e-3 if outputs[0].dtype == np.float16 else 2e-6
    for got, wanted in zip(found, outputs, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("opset", ATTENTION_OPSETS)
@pytest.mark.parametrize(
    ("attrs", "others"),
    [
        ({"causal": True, "softcap": 1.5, "scale": 0.5}, set()),
        ({"causal": True, "layout": "NTHC"}, {"_np_reshape"}),
        ({"causal": True, "window": 3}, set()),
        ({"window": 3, "layout": "NTHC"}, {"_np_reshape"}),
    ],
)
def test_attention_comes_back_as_one_operator(
    attrs: Any, others: Any, opset: int, tmp_path: Path
) -> None:
    shapes = [(2, 4, 5, 8), (2, 2, 5, 8), (2, 2, 5, 6)]
    if "layout" in attrs:
        shapes = [(n, t, h, c) for n, h, t, c in shapes]
    inputs: list[Any] = [mx.sym.var(name) for name in "qkv"]
    symbol = mx.sym.scaled_dot_product_attention(*inputs, **attrs)
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(symbol, {}, shapes, np.float32, path, opset_version=opset)
    returned, *_ = mx.contrib.onnx.import_model(path)
    kinds = {node["op"] for node in json.loads(returned.tojson())["nodes"]} - {"null"}
    assert kinds == {"scaled_dot_product_attention", *others}
    arrays: list[Any] = [mx.nd.array(np.random.default_rng(0).standard_normal(x)) for x in shapes]
    wanted = mx.nd.scaled_dot_product_attention(*arrays, **attrs).asnumpy()
    found = import_to_gluon(path)(*arrays).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)


def _model(shapes: Any, inputs: Any, **attrs: Any) -> bytes:
    kind = onnx.TensorProto.FLOAT
    values = [helper.make_tensor_value_info(n, kind, x) for n, x in zip("qkv", shapes, strict=True)]
    output = helper.make_tensor_value_info("y", kind, None)
    node = helper.make_node("Attention", inputs, ["y"], **attrs)
    graph = helper.make_graph([node], "one", values, [output])
    opset = helper.make_opsetid("", 23)
    data: bytes = helper.make_model(graph, opset_imports=[opset]).SerializeToString()
    return data


@pytest.mark.parametrize(
    "attrs", [{"q_num_heads": 4}, {"q_num_heads": 4, "kv_num_heads": 3}, {"kv_num_heads": 2}, {}]
)
def test_heads_that_do_not_divide_the_widths_are_refused(attrs: Any) -> None:
    model = _model([(2, 5, 32), (2, 5, 16), (2, 5, 12)], "qkv", **attrs)
    with pytest.raises(FileFormatError, match=r"Attention.*expected q_num_heads and kv_num_heads"):
        import_to_gluon(model)


def test_one_of_two_caches_is_refused() -> None:
    model = _model([(2, 4, 5, 8)] * 3, ["q", "k", "v", "", "k"])
    with pytest.raises(FileFormatError, match="expected past_key and past_value, or neither"):
        import_to_gluon(model)
