"""Files that break ONNX's rules, or would do harm: each is refused, and says why."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gluonish.ndarray as nd
from gluonish.core.errors import FileFormatError, GluonishError, NotSupportedError
from gluonish.onnx.importing import import_model, import_to_gluon

FLOAT = TensorProto.FLOAT
Edit = Callable[[onnx.ModelProto], Any]


def _model(*nodes: Any, tensors: Any = ()) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes or [helper.make_node("Add", ["x", "w"], ["y"], name="sum")],
        "net",
        [helper.make_tensor_value_info("x", FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        tensors or [numpy_helper.from_array(np.ones((2, 3), np.float32), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _recursive() -> onnx.ModelProto:
    model = _model(helper.make_node("F", ["x"], ["y"], domain="own"))
    body = [helper.make_node("F", ["a"], ["b"], domain="own")]
    versions = [helper.make_opsetid("own", 1)]
    model.functions.append(helper.make_function("own", "F", ["a"], ["b"], body, versions))
    model.opset_import.extend(versions)
    return model


def _external(location: str, **entries: int) -> onnx.ModelProto:
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[2, 3])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return _model(tensors=[tensor])


_EDITS: dict[str, tuple[Edit, str]] = {
    "an input that nobody makes": (
        lambda m: m.graph.node[0].input.__setitem__(1, "nowhere"),
        r"expected each value to be made, got none for \['nowhere'\]",
    ),
    "an output that nobody makes": (
        lambda m: m.graph.node[0].output.__setitem__(0, "z"),
        r"expected each value to be made, got none for \['y'\]",
    ),
    "a value that is made twice": (
        lambda m: m.graph.node.append(helper.make_node("Neg", ["x"], ["y"])),
        "expected one value 'y', got several",
    ),
    "a cycle": (
        lambda m: (
            m.graph.node[0].input.__setitem__(1, "z"),
            m.graph.node.append(helper.make_node("Neg", ["y"], ["z"])),
        ),
        "expected no cycle, got one at ONNX Add",
    ),
    "too few bytes": (
        lambda m: setattr(m.graph.initializer[0], "raw_data", b"1234"),
        r"expected 24 bytes for FLOAT\(2, 3\), got 4",
    ),
    "a huge tensor": (
        lambda m: m.graph.initializer[0].dims.extend([1 << 30]),
        "expected 25769803776 bytes",
    ),
    "an absurd shape": (
        lambda m: m.graph.initializer[0].dims.extend([1 << 62, 1 << 62]),
        "expected a shape of at most 32 axes",
    ),
    "a negative extent": (
        lambda m: m.graph.initializer[0].dims.__setitem__(0, -2),
        "expected a shape of at most 32 axes",
    ),
    "an unknown type": (
        lambda m: setattr(m.graph.initializer[0], "data_type", 99),
        "expected one of ONNX's element types, got 99",
    ),
    "too many inputs": (
        lambda m: m.graph.node[0].input.append("x"),
        r"ONNX Add \(node 'sum', opset 17\): expected 2 to 2 inputs",
    ),
    "no opset": (lambda m: m.ClearField("opset_import"), "with a graph, outputs and opsets"),
    "no graph": (lambda m: m.ClearField("graph"), "with a graph, outputs and opsets"),
    "two inputs of one name": (
        lambda m: m.graph.input.append(m.graph.input[0]),
        "expected inputs of different names",
    ),
}


@pytest.mark.parametrize("what", _EDITS)
def test_a_broken_model_is_refused_and_says_why(what: str, tmp_path: Path) -> None:
    edit, message = _EDITS[what]
    model = _model()
    edit(model)
    path = tmp_path / "bad.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(FileFormatError, match=message) as caught:
        import_to_gluon(path)
    assert str(path) in str(caught.value)


def test_a_function_that_calls_itself_is_refused() -> None:
    with pytest.raises(FileFormatError, match="expected a body without itself, got a recursion"):
        import_to_gluon(_recursive().SerializeToString())


def test_graphs_deep_in_each_other_are_refused() -> None:
    with pytest.raises(FileFormatError, match=r"deep in each other|broken"):
        import_to_gluon(_nested(30).SerializeToString())
    net = import_to_gluon(_nested(3).SerializeToString())
    np.testing.assert_array_equal(net(nd.ones((2, 3))).asnumpy(), -np.ones((2, 3)))


def _nested(depth: int) -> onnx.ModelProto:
    out = [helper.make_empty_tensor_value_info("n")]
    leaf = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "leaf", [], out)
    branch = leaf
    for _ in range(depth):
        node = helper.make_node("If", ["c"], ["n"], then_branch=branch, else_branch=leaf)
        branch = helper.make_graph([node], "b", [], out)
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=leaf)
    return _model(node, tensors=[numpy_helper.from_array(np.array(True), "c")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "models"
    inner.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    (inner / "data.bin").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    (inner / "link.bin").symlink_to(tmp_path / "secret.bin")
    (inner / "out").symlink_to(tmp_path)
    return inner


@pytest.mark.parametrize(
    "location",
    [
        "../secret.bin",
        "sub/../../secret.bin",
        "link.bin",
        "out/secret.bin",
        "absolute",
        "",
        ".",
        "none",
    ],
)
def test_external_data_never_leave_the_folder(folder: Path, location: str) -> None:
    where = str(folder.parent / "secret.bin") if location == "absolute" else location
    (folder / "m.onnx").write_bytes(_external(where).SerializeToString())
    with pytest.raises(FileFormatError, match="expected external data in a file in the model's"):
        import_to_gluon(folder / "m.onnx")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": 16}, "expected 24 bytes at byte 16 of 'data.bin', got a file of 32"),
        ({"offset": 1 << 60}, "got a file of 32"),
        ({"offset": -4}, "expected 24 bytes of external data, got 24 at byte -4"),
        ({"length": 1 << 40}, "expected 24 bytes of external data, got 1099511627776"),
    ],
)
def test_external_data_lie_inside_of_their_file(
    folder: Path, entries: dict[str, int], message: str
) -> None:
    (folder / "m.onnx").write_bytes(_external("data.bin", **entries).SerializeToString())
    with pytest.raises(FileFormatError, match=message):
        import_to_gluon(folder / "m.onnx")


def test_external_data_in_the_folder_are_read(folder: Path) -> None:
    (folder / "m.onnx").write_bytes(_external("data.bin", offset=8).SerializeToString())
    net = import_to_gluon(os.fspath(folder / "m.onnx"))
    expected = 1 + np.arange(2, 8, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(net(nd.ones((2, 3))).asnumpy(), expected)
    with pytest.raises(FileFormatError, match="expected a model from a file"):
        import_to_gluon(_external("data.bin", offset=8).SerializeToString())


@pytest.mark.parametrize(
    ("kind", "attrs", "numbers"),
    [
        ("Expand", {}, [1 << 40, 2, 3]),
        ("Tile", {}, [1 << 20, 1 << 20]),
        ("Pad", {"mode": "edge"}, [1 << 40, 0, 0, 0]),
        ("Pad", {}, [1 << 40, 0, 0, 0]),
    ],
)
def test_a_few_numbers_of_a_file_make_no_huge_array(
    kind: str, attrs: dict[str, Any], numbers: list[int]
) -> None:
    given = numpy_helper.from_array(np.array(numbers, np.int64), "n")
    model = _model(helper.make_node(kind, ["x", "n"], ["y"], **attrs), tensors=[given])
    with pytest.raises(NotSupportedError, match=r"expected (an array|windows and sizes) of"):
        import_model(model.SerializeToString())


def test_inputs_of_absurd_extents_are_not_traced() -> None:
    model = _model(helper.make_node("Split", ["x"], ["y"], num_outputs=1 << 40))
    with pytest.raises(FileFormatError, match="expected num_outputs to be the 1 that there are"):
        import_model(model.SerializeToString())
    model = _model(helper.make_node("Neg", ["x"], ["y"]))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1 << 40
    with pytest.raises(NotSupportedError, match="expected inputs of at most"):
        import_model(model.SerializeToString())


def test_attributes_of_a_wrong_kind_are_refused_with_the_node() -> None:
    node = helper.make_node("Softmax", ["x"], ["y"], name="odd", axis="last")
    with pytest.raises(GluonishError, match=r"ONNX Softmax \(node 'odd', opset 17\)"):
        import_model(_model(node).SerializeToString())
