"""``gluonish onnx import``."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gluonish.ndarray as nd
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.tools.cli import main


@pytest.fixture
def file(tmp_path: Path) -> Path:
    weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(3, 2), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path = tmp_path / "a.onnx"
    onnx.save(model, path)
    return path


def test_a_file_becomes_a_network_of_ours(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["onnx", "import", str(file), "-o", str(tmp_path / "net")]) == 0
    told = capsys.readouterr().out
    assert "inputs: x (0, 3)" in told
    assert "1 arguments, 0 auxiliary states" in told
    net = SymbolBlock.imports(tmp_path / "net-symbol.json", ["x"], tmp_path / "net-0000.params")
    for count in (1, 4):
        found = net(nd.ones((count, 3))).asnumpy()
        np.testing.assert_array_equal(found, [[6, 9]] * count)


def test_a_wrong_shape_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["onnx", "import", str(file), "--shape", "x=2,4"]) != 0
    assert "expected a shape like ('n', 3) for 'x', got (2, 4)" in capsys.readouterr().err
    assert main(["onnx", "import", str(file), "--shape", "x=a"]) != 0
    assert "expected --shape NAME=N,C,.." in capsys.readouterr().err
    assert main(["onnx", "import", str(file), "--shape", "2,3"]) != 0
    assert "expected --shape NAME=N,C,.. in numbers, got '2,3'" in capsys.readouterr().err
