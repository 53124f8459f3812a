"""Layers of QDQ files that are computed on bytes, and those that have to stay as they are."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gluonish as mx
from gluonish.graph.ir import topological_order
from tests.onnx.exporting.judge import evaluated

_NUMBERS = np.random.default_rng(6)
LAYERS = {"Conv": "_int8_convolution", "Gemm": "_int8_dense", "MatMul": "_int8_dense"}
SHAPES = {"Conv": (2, 4, 7, 6), "Gemm": (30, 4), "MatMul": (4, 8, 4)}


def weights(kind: str, transposed: bool) -> Any:
    """Return a weight of 6 channels, and the axis of these."""
    if kind == "Conv":
        return _NUMBERS.integers(-127, 128, (6, 4, 3, 2), np.int8), 0
    shape, axis = ((6, 4), 0) if transposed else ((4, 6), 1)
    return _NUMBERS.integers(-127, 128, shape, np.int8), axis


def qdq(kind: str, **case: Any) -> Any:
    """Return a model: numbers as bytes, a layer between them, and numbers again.

    ``case`` may say: ``data`` and ``out``, dtypes; ``data_zero`` and ``weight_zero``; ``channels``,
    a scale for each; ``bias``, None, "float32" or "int32"; ``relu``; ``attrs`` of the layer;
    ``reread``, whether the layer's numbers are an output, too.
    """
    attrs = case.get("attrs", {})
    weight, axis = weights(kind, bool(attrs.get("transB")))
    count = 6 if case.get("channels") else 1
    scale = _NUMBERS.uniform(0.001, 0.01, count).astype(np.float32)
    data, out = case.get("data", "int8"), case.get("out", "int8")
    tensors = {
        "x_scale": np.float32(0.02),
        "x_zero": np.array(case.get("data_zero", 0), data),
        "w": weight,
        "w_scale": scale if count > 1 else scale[0],
        "w_zero": np.full(count if count > 1 else (), case.get("weight_zero", 0), np.int8),
        "y_scale": np.float32(0.03),
        "y_zero": np.array(0, out),
    }
    step = helper.make_node
    nodes = [
        step("QuantizeLinear", ["x", "x_scale", "x_zero"], ["x_bytes"]),
        step("DequantizeLinear", ["x_bytes", "x_scale", "x_zero"], ["x_real"]),
        step("DequantizeLinear", ["w", "w_scale", "w_zero"], ["w_real"], axis=axis),
    ]
    inputs = ["x_real", "w_real"]
    if case.get("bias") == "float32":
        tensors["b"] = _NUMBERS.normal(0, 0.3, 6).astype(np.float32)
        inputs.append("b")
    elif case.get("bias") == "int32":
        tensors["b_bytes"] = _NUMBERS.integers(-2000, 2000, 6, np.int32)
        tensors["b_scale"] = (np.float32(0.02) * scale).reshape(-1)[: count if count > 1 else 1]
        tensors["b_zero"] = np.zeros(count if count > 1 else (), np.int32)
        if count == 1:
            tensors["b_scale"] = tensors["b_scale"][0]
        given = ["b_bytes", "b_scale", "b_zero"]
        nodes.append(step("DequantizeLinear", given, ["b"], axis=0))
        inputs.append("b")
    nodes.append(step(kind, inputs, ["sums"], **attrs))
    last = "sums"
    if case.get("relu"):
        nodes.append(step("Relu", ["sums"], ["positive"]))
        last = "positive"
    nodes.append(step("QuantizeLinear", [last, "y_scale", "y_zero"], ["y_bytes"]))
    nodes.append(step("DequantizeLinear", ["y_bytes", "y_scale", "y_zero"], ["y"]))
    outputs = ["y", *(["sums"] if case.get("reread") else [])]
    open_shape = [None] * len(SHAPES[kind])
    graph = helper.make_graph(
        nodes,
        "qdq",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPES[kind])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, open_shape) for name in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def imported(model: Any, path: Path) -> Any:
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return mx.contrib.onnx.import_to_gluon(str(path), mx.cpu())


def numbers(kind: str) -> Any:
    return _NUMBERS.normal(0, 1, SHAPES[kind]).astype(np.float32)


def layers_on_bytes(net: Any, x: Any) -> list[str]:
    """Return the operators on bytes in the graph of a call."""
    net.hybridize()
    net(x)
    (graph,) = net._graphs.values()
    names = [node.op.name for node in _nodes(graph.symbol())]
    return [name for name in names if name.startswith("_int8_")]


def _nodes(sym: Any) -> Any:
    return [node for node in topological_order(sym._values) if node.op is not None]


CASES: list[tuple[str, dict[str, Any]]] = [
    ("Conv", {}),
    ("Conv", {"bias": "float32", "relu": True, "channels": True, "data": "uint8"}),
    ("Conv", {"bias": "int32", "relu": True, "channels": True, "out": "uint8"}),
    ("Conv", {"bias": "int32", "out": "uint8", "attrs": {"strides": [2, 1], "pads": [1, 0, 1, 0]}}),
    ("Conv", {"attrs": {"pads": [2, 0, 1, 1]}, "relu": True}),
    ("Conv", {"attrs": {"auto_pad": "SAME_UPPER", "dilations": [2, 1]}, "channels": True}),
    ("Gemm", {"attrs": {"transB": 1}, "bias": "float32", "channels": True, "out": "uint8"}),
    ("Gemm", {"bias": "int32", "channels": True, "relu": True}),
    ("Gemm", {"data": "uint8", "out": "uint8"}),
    ("MatMul", {"channels": True}),
    ("MatMul", {"relu": True, "data": "uint8"}),
]


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_a_layer_is_computed_on_bytes_within_one_step(
    kind: str, case: dict[str, Any], tmp_path: Path
) -> None:
    net = imported(qdq(kind, **case), tmp_path / "x.onnx")
    x = numbers(kind)
    (wanted,) = evaluated(tmp_path / "x.onnx", [x])
    for _ in range(2):
        got = net(mx.nd.array(x)).asnumpy()
        steps = np.round(np.abs(got - wanted) / 0.03)
        assert steps.max() <= 1
        assert np.mean(steps == 0) > 0.95
        net.hybridize()
    assert len(np.unique(wanted)) > 10
    assert layers_on_bytes(net, mx.nd.array(x)) == [LAYERS[kind]]


@pytest.mark.parametrize(
    ("kind", "case"),
    [
        ("Conv", {"data_zero": 3}),
        ("Conv", {"data_zero": 128, "data": "uint8"}),
        ("Conv", {"weight_zero": 2}),
        ("Conv", {"reread": True}),
        ("Gemm", {"attrs": {"alpha": 0.5}}),
        ("Gemm", {"attrs": {"beta": 0.5}, "bias": "float32"}),
    ],
)
def test_what_cannot_be_computed_on_bytes_stays_as_it_is(
    kind: str, case: dict[str, Any], tmp_path: Path
) -> None:
    net = imported(qdq(kind, **case), tmp_path / "x.onnx")
    x = numbers(kind)
    wanted = evaluated(tmp_path / "x.onnx", [x])
    got = net(mx.nd.array(x))
    for a, b in zip(got if isinstance(got, list) else [got], wanted, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b, rtol=0, atol=0.03 + 1e-4)
    assert not layers_on_bytes(net, mx.nd.array(x))


@pytest.mark.parametrize("kind", LAYERS)
def test_it_goes_back_to_onnx_and_to_files(kind: str, tmp_path: Path) -> None:
    case = {"bias": "float32"} if kind != "MatMul" else {}
    net = imported(qdq(kind, channels=True, relu=True, **case), tmp_path / "x.onnx")
    x = numbers(kind)
    wanted = net(mx.nd.array(x)).asnumpy()
    again = str(tmp_path / "again.onnx")
    mx.onnx.export_model(net, None, [x.shape], np.float32, again, opset_version=19)
    onnx.checker.check_model(again, full_check=True)
    (got,) = evaluated(again, [x])
    assert np.round(np.abs(got - wanted) / 0.03).max() <= 1
    back = mx.contrib.onnx.import_to_gluon(again, mx.cpu())
    np.testing.assert_array_equal(back(mx.nd.array(x)).asnumpy(), wanted)
    files = net.export(str(tmp_path / "net"))
    loaded = mx.gluon.SymbolBlock.imports(files[0], "x", files[1])
    np.testing.assert_array_equal(loaded(mx.nd.array(x)).asnumpy(), wanted)
    sym, args, aux = mx.contrib.onnx.import_model(str(tmp_path / "x.onnx"))
    bound = sym.bind(mx.cpu(), {**args, "x": mx.nd.array(x)}, aux_states=aux, grad_req="null")
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), wanted)


@pytest.mark.parametrize("hybrid", [False, True])
def test_gradients_are_those_of_rounding(hybrid: bool, tmp_path: Path) -> None:
    """What is rounded has none; a record of such a network does not fail."""
    net = imported(qdq("Conv", bias="float32"), tmp_path / "x.onnx")
    net.hybridize(hybrid)
    x = mx.nd.array(numbers("Conv"))
    with mx.autograd.record():
        loss = net(x).sum()
    loss.backward()
    bias = net.collect_params()["b"]
    assert not bias.grad().asnumpy().any()


@pytest.mark.parametrize("kind", LAYERS)
def test_one_graph_serves_batches_of_all_sizes(kind: str, tmp_path: Path) -> None:
    model = qdq(kind, channels=True)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    net = imported(model, tmp_path / "x.onnx")
    sym, args, aux = mx.contrib.onnx.import_model(str(tmp_path / "x.onnx"))
    assert any(node.op.name == LAYERS[kind] for node in _nodes(sym))
    for count in (1, 3):
        x = numbers(kind)[:count] if count == 1 else np.concatenate([numbers(kind)] * 3)
        (wanted,) = evaluated(tmp_path / "x.onnx", [x])
        got = net(mx.nd.array(x)).asnumpy()
        assert np.round(np.abs(got - wanted) / 0.03).max() <= 1
        bound = sym.bind(mx.cpu(), {**args, "x": mx.nd.array(x)}, aux_states=aux, grad_req="null")
        np.testing.assert_array_equal(bound.forward()[0].asnumpy(), got)
