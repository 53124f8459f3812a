"""What users call to read an ONNX file, on models that are made here with the package onnx."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gluonish.autograd as autograd
import gluonish.ndarray as nd
from gluonish.contrib import onnx as contrib_onnx
from gluonish.contrib.onnx.onnx2mx.import_onnx import GraphProto
from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError, MissingFileError, NotSupportedError
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.loss import L2Loss
from gluonish.gluon.trainer import Trainer
from gluonish.onnx.importing import get_model_metadata, import_model, import_to_gluon


def _model(batch: int | str = 2, opset: int = 17) -> onnx.ModelProto:
    """A convolution, batch norm, ReLU, flatten, dense."""
    rng = np.random.default_rng(0)
    tensors = {
        "w": rng.normal(size=(4, 3, 3, 3)),
        "gamma": rng.uniform(0.5, 1, 4),
        "beta": rng.normal(size=4),
        "mean": rng.normal(size=4),
        "var": rng.uniform(0.5, 1, 4),
        "dense": rng.normal(size=(5, 4 * 36)),
        "bias": rng.normal(size=5),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "gamma", "beta", "mean", "var"], ["b"]),
        helper.make_node("Relu", ["b"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "dense", "bias"], ["y"], transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 5])],
        [numpy_helper.from_array(x.astype(np.float32), name) for name, x in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def _expected(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    t = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in model.graph.initializer}
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    conv = np.einsum("nchwij,ocij->nohw", windows, t["w"])
    scale, shift = (v[:, None, None] for v in (t["gamma"] / np.sqrt(t["var"] + 1e-5), t["beta"]))
    norm = (conv - t["mean"][:, None, None]) * scale + shift
    found: np.ndarray[Any, Any] = np.maximum(norm, 0).reshape(len(x), -1) @ t["dense"].T + t["bias"]
    return found


@pytest.fixture
def data() -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).normal(size=(2, 3, 6, 6)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "net.onnx"
    file.write_bytes(_model().SerializeToString())
    return file


def test_a_network_computes_what_the_file_says(path: Path, data: Any) -> None:
    net = import_to_gluon(path, cpu())
    assert isinstance(net, SymbolBlock)
    np.testing.assert_allclose(net(nd.array(data)).asnumpy(), _expected(_model(), data), 1e-4, 1e-4)


def test_a_model_is_a_symbol_with_arguments_and_states(path: Path, data: Any) -> None:
    symbol, arguments, states = import_model(path)
    assert set(symbol.list_arguments()) == {"x", "w", "gamma", "beta", "dense", "bias"}
    assert set(arguments) == {"w", "gamma", "beta", "dense", "bias"}
    assert set(states) == {"mean", "var"}
    executor = symbol.bind(cpu(), {"x": nd.array(data), **arguments}, aux_states=states)
    np.testing.assert_allclose(
        executor.forward()[0].asnumpy(), _expected(_model(), data), rtol=1e-4, atol=1e-4
    )


def test_an_open_batch_size_takes_any(tmp_path: Path, data: Any) -> None:
    model = _model("batch")
    net = import_to_gluon(model.SerializeToString())
    net.hybridize()
    for count in (1, 2):
        found = net(nd.array(data[:count])).asnumpy()
        np.testing.assert_allclose(found, _expected(model, data[:count]), rtol=1e-4, atol=1e-4)


def test_a_network_of_any_batch_size_can_be_exported(tmp_path: Path, data: Any) -> None:
    net = import_to_gluon(_model("batch").SerializeToString())
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    with autograd.record():
        loss = net(nd.array(data)).mean()
    loss.backward()
    trainer.step(1)
    names = net.export(tmp_path / "again")
    again = SymbolBlock.imports(names[0], ["x"], names[1])
    for count in (1, 2):
        x = nd.array(data[:count])
        np.testing.assert_allclose(again(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-5)


def test_one_symbol_is_right_for_all_batch_sizes(tmp_path: Path, data: Any) -> None:
    model = _model("batch")
    symbol, arguments, states = import_model(model.SerializeToString())
    for count in (1, 2):
        given = {"x": nd.array(data[:count]), **arguments}
        (found,) = symbol.bind(cpu(), given, aux_states=states).forward()
        expected = _expected(model, data[:count])
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-4, atol=1e-4)


def test_metadata_are_names_and_shapes(path: Path) -> None:
    expected = {"input_tensor_data": [("x", (2, 3, 6, 6))], "output_tensor_data": [("y", (2, 5))]}
    assert get_model_metadata(path) == expected
    assert contrib_onnx.get_model_metadata(str(path)) == expected
    assert get_model_metadata(_model("n").SerializeToString())["input_tensor_data"][0][1][0] == 0


def test_an_imported_network_trains_on(path: Path, data: Any) -> None:
    net = import_to_gluon(path, cpu())
    parameters = net.collect_params()
    assert [p.grad_req for p in parameters.values() if p.name in ("mean", "var")] == ["null"] * 2
    before = {name: p.data().asnumpy() for name, p in parameters.items()}
    trainer = Trainer(parameters, "sgd", {"learning_rate": 0.01})
    losses = []
    for _ in range(5):
        with autograd.record():
            loss = L2Loss()(net(nd.array(data)), nd.zeros((2, 5))).mean()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss.asscalar()))
    assert losses[-1] < losses[0]
    assert all((p.data().asnumpy() != before[name]).any() for name, p in parameters.items())


def test_what_was_imported_can_be_exported_and_read(path: Path, tmp_path: Path, data: Any) -> None:
    net = import_to_gluon(path, cpu())
    expected = net(nd.array(data)).asnumpy()
    net.export(tmp_path / "again")
    again = SymbolBlock.imports(
        tmp_path / "again-symbol.json", ["x"], tmp_path / "again-0000.params"
    )
    np.testing.assert_array_equal(again(nd.array(data)).asnumpy(), expected)


def test_a_graph_that_onnx_parsed_is_read_by_the_class_of_mxnet(data: Any) -> None:
    reader = GraphProto()
    symbol, arguments, states = reader.from_onnx(_model().graph, 17)
    assert arguments is reader.arg_dict
    assert states is reader.aux_dict
    assert len(symbol.list_outputs()) == 1
    assert reader.opset_version == 17
    assert reader.get_graph_metadata(_model().graph)["output_tensor_data"] == [("y", (2, 5))]
    net = reader.graph_to_gluon(_model().graph, cpu(), 17)
    np.testing.assert_allclose(net(nd.array(data)).asnumpy(), _expected(_model(), data), 1e-4, 1e-4)


def test_an_operator_without_a_rule_is_refused_by_name() -> None:
    node = helper.make_node("StringNormalizer", ["x"], ["y"], name="words")
    model = _model()
    del model.graph.node[:]
    model.graph.node.append(node)
    with pytest.raises(NotSupportedError, match=r"StringNormalizer \(node 'words', opset 17\)"):
        import_to_gluon(model.SerializeToString())


def test_a_missing_file_and_a_broken_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"import_model: .*none\.onnx"):
        import_model(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 64)
    with pytest.raises(FileFormatError, match="import_model: expected an ONNX file"):
        import_model(tmp_path / "bad.onnx")
