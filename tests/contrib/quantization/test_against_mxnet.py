"""Quantized graphs against those that MXNet made of the same ones."""

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx

GOLDEN = Path(__file__).parents[2] / "golden"
_spec = importlib.util.spec_from_file_location("calls", GOLDEN / "quantization_calls.py")
assert _spec is not None
assert _spec.loader is not None
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)
EXPECTED = json.loads(gzip.decompress((GOLDEN / "quantization.json.gz").read_bytes()))
OUTPUTS = np.load(GOLDEN / "quantization.npz")
# There the pooling that MXNet leaves alone gets the range of its input.
MXNET_MIXES_UP = ("residual without fused", "p2_output_quantize")
ENDS = ("min_calib_range", "max_calib_range")
# There uint8 cuts off what is negative, or the layer refuses to run; here the range decides.
DECIDED_BY_RANGE = ("out_type", "uint8"), ("out_type", "auto")


def cases() -> list[str]:
    return [key for key, found in EXPECTED.items() if "nodes" in found]


def without_ends(nodes: list[Any]) -> list[Any]:
    return [[op, name, _plain(attrs), inputs] for op, name, attrs, inputs in nodes]


def _plain(attrs: Any) -> Any:
    kept = [pair for pair in attrs.items() if pair[0] not in ENDS]
    return dict(DECIDED_BY_RANGE[1] if pair == DECIDED_BY_RANGE[0] else pair for pair in kept)


@pytest.mark.parametrize("key", cases())
def test_graph_is_that_of_mxnet(key: str) -> None:
    name, setting, kind = key.split()
    symbol, params, states = calls.run_graph(mx, name, setting, kind == "fused")
    expected = EXPECTED[key]
    nodes = calls.nodes_of(symbol)
    assert without_ends(nodes) == without_ends(expected["nodes"])
    found = {k: [list(v.shape), np.dtype(v.dtype).name] for k, v in params.items()}
    assert found == expected["params"]
    assert sorted(states) == expected["states"]
    for (_, node, attrs, _), (_, _, known, _) in zip(nodes, expected["nodes"], strict=True):
        for end in ENDS:
            if end in known and (key, node) != MXNET_MIXES_UP:
                assert float(attrs[end]) == pytest.approx(float(known[end]), abs=2e-5), node


def test_parts_give_what_mxnet_gives() -> None:
    for found, expected in zip(calls.run_helpers(mx), EXPECTED["helpers"], strict=True):
        assert found[0] == expected[0]
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)
        np.testing.assert_allclose(found[2], expected[2], rtol=1e-6)


GRAPHS_OF_FILES = {"gelu": "gelu", "clip": "clip", "plain": "dense_relu"}


def load(name: str) -> Any:
    prefix = GOLDEN / "quantized" / name
    return mx.gluon.SymbolBlock.imports(f"{prefix}-symbol.json", "data", f"{prefix}-0000.params")


@pytest.mark.parametrize("name", sorted(OUTPUTS.files))
def test_file_of_mxnet_gives_what_it_gave_there(name: str) -> None:
    data = calls.data_of(GRAPHS_OF_FILES.get(name, "residual"))[:4]
    found = load(name)(mx.nd.array(data)).asnumpy()
    expected = OUTPUTS[name]
    # A few steps of bytes: MXNet rounds weights and biases otherwise, in each of the layers.
    np.testing.assert_allclose(found, expected, atol=0.05 * np.abs(expected).max())


@pytest.mark.parametrize("name", sorted(OUTPUTS.files))
def test_file_is_written_as_mxnet_wrote_it(name: str) -> None:
    text = (GOLDEN / "quantized" / f"{name}-symbol.json").read_text()
    written = load(name)._symbol.tojson()

    def forget_versions(nodes: list[Any]) -> list[Any]:
        for node in nodes:
            node["inputs"] = [entry[:2] for entry in node["inputs"]]
            for body in node.get("subgraphs", ()):
                forget_versions(body["nodes"])
        return nodes

    assert forget_versions(json.loads(written)["nodes"]) == forget_versions(
        json.loads(text)["nodes"]
    )
    assert json.loads(written)["node_row_ptr"] == json.loads(text)["node_row_ptr"]
