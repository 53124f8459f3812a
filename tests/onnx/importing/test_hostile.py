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


def _sparse(name: str) -> onnx.SparseTensorProto:
    values = numpy_helper.from_array(np.ones(1, np.float32), name)
    indices = numpy_helper.from_array(np.zeros(1, np.int64), "i")
    return helper.make_sparse_tensor(values, indices, [6])


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
    "no elements, and an absurd extent": (
        lambda m: (
            m.graph.initializer[0].dims.__setitem__(slice(None), [0, 1 << 62]),
            setattr(m.graph.initializer[0], "raw_data", b""),
        ),
        r"expected a shape of at most 32 axes and 2\*\*48 elements, got \(0, 4611",
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
    "two initializers of one name": (
        lambda m: m.graph.initializer.append(m.graph.initializer[0]),
        "ONNX graph 'net': expected one initializer of the name 'w', got several",
    ),
    "a dense and a sparse initializer of one name": (
        lambda m: m.graph.sparse_initializer.append(_sparse("w")),
        "ONNX graph 'net': expected one initializer of the name 'w', got several",
    ),
    "two attributes of one name": (
        lambda m: m.graph.node[0].attribute.extend([helper.make_attribute("a", 1)] * 2),
        "ONNX Add .*: expected one attribute 'a', got several",
    ),
    "two versions of one domain": (
        lambda m: m.opset_import.append(helper.make_opsetid("ai.onnx", 11)),
        "expected one version of the domain 'ai.onnx', got 17 and 11",
    ),
    "two functions of one name": (
        lambda m: m.functions.extend(
            [helper.make_function("own", "F", ["a"], ["a"], [], m.opset_import)] * 2
        ),
        "expected one function 'F' of the domain 'own', got several",
    ),
    "operands of two types": (
        lambda m: m.graph.initializer[0].CopyFrom(
            numpy_helper.from_array(np.ones((2, 3), np.float64), "w")
        ),
        r"ONNX Add \(node 'sum', opset 17\): expected inputs of one element type, got FLOAT 'x' "
        "and DOUBLE 'w'",
    ),
    "an output of another type than it says": (
        lambda m: setattr(m.graph.output[0].type.tensor_type, "elem_type", TensorProto.INT64),
        "expected INT64 for output 'y', as the graph says, got FLOAT",
    ),
    "an input of another type than its value": (
        lambda m: m.graph.input.append(
            helper.make_tensor_value_info("w", TensorProto.INT32, [2, 3])
        ),
        "expected INT32 for input 'w', as the graph says, got FLOAT",
    ),
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
        "x" * 5000,
        "a/" * 2500,
    ],
)
def test_external_data_never_leave_the_folder(folder: Path, location: str) -> None:
    where = str(folder.parent / "secret.bin") if location == "absolute" else location
    (folder / "m.onnx").write_bytes(_external(where).SerializeToString())
    with pytest.raises(FileFormatError, match="expected external data in a file in the model's"):
        import_to_gluon(folder / "m.onnx")


def test_a_hard_link_is_no_file_of_the_folder(folder: Path) -> None:
    os.link(folder.parent / "secret.bin", folder / "hard.bin")
    (folder / "m.onnx").write_bytes(_external("hard.bin").SerializeToString())
    with pytest.raises(FileFormatError, match=r"got 'hard.bin', a hard link.*; copy it"):
        import_to_gluon(folder / "m.onnx")
    (folder.parent / "secret.bin").unlink()  # the only name that is left is in the folder
    import_to_gluon(folder / "m.onnx")


def test_a_key_of_external_data_stands_there_once(folder: Path) -> None:
    model = _external("data.bin")
    model.graph.initializer[0].external_data.add(key="location", value="../secret.bin")
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(FileFormatError, match="expected each key of external_data once"):
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


def _operands(body: Any) -> onnx.ModelProto:
    """A model with a float32 input x and a float64 value d, and one node that calls a body."""
    model = _model(body, tensors=[numpy_helper.from_array(np.ones((2, 3)), "d")])
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "c"))
    return model


def test_operands_of_two_types_are_refused_in_inner_graphs_and_functions() -> None:
    out = [helper.make_empty_tensor_value_info("n")]
    sums = helper.make_graph([helper.make_node("Mul", ["x", "d"], ["n"], name="m")], "t", [], out)
    node = helper.make_node("If", ["c"], ["y"], then_branch=sums, else_branch=sums)
    with pytest.raises(FileFormatError, match=r"ONNX Mul \(node 'm'.*got FLOAT 'x' and DOUBLE 'd'"):
        import_to_gluon(_operands(node).SerializeToString())
    model = _operands(helper.make_node("F", ["x", "d"], ["y"], domain="own"))
    inner = [helper.make_node("Max", ["a", "a", "b"], ["r"], name="m")]
    versions = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("own", "F", ["a", "b"], ["r"], inner, versions))
    model.opset_import.append(helper.make_opsetid("own", 1))
    with pytest.raises(FileFormatError, match=r"ONNX Max \(node 'm'.*got FLOAT 'a' and DOUBLE 'b'"):
        import_to_gluon(model.SerializeToString())


def test_types_follow_through_nodes_and_casts_make_new_ones() -> None:
    first = helper.make_node("Relu", ["x"], ["a"])
    cast = helper.make_node("Cast", ["a"], ["b"], to=TensorProto.DOUBLE)
    tensors = [numpy_helper.from_array(np.ones((2, 3)), "d")]
    good = _model(first, cast, helper.make_node("Add", ["b", "d"], ["y"]), tensors=tensors)
    good.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    assert import_to_gluon(good.SerializeToString())(nd.ones((2, 3))).dtype == np.float64
    bad = _model(first, cast, helper.make_node("Add", ["a", "d"], ["y"]), tensors=tensors)
    with pytest.raises(FileFormatError, match="got FLOAT 'a' and DOUBLE 'd'"):
        import_to_gluon(bad.SerializeToString())


_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _recurrent(kind: str, ways: int, skipped: tuple[str, ...] = (), **attrs: Any) -> Any:
    """A layer for T=2, N=3, I=4, H=5, and the shapes of its inputs by name."""
    rows = _GATES[kind] * 5
    shapes: dict[str, tuple[int, ...]] = {
        "X": (2, 3, 4),
        "W": (ways, rows, 4),
        "R": (ways, rows, 5),
        "B": (ways, 2 * rows),
        "sequence_lens": (3,),
        "initial_h": (ways, 3, 5),
        "initial_c": (ways, 3, 5),
        "P": (ways, 15),
    }
    if kind != "LSTM":
        del shapes["initial_c"], shapes["P"]
    names = ["" if name in skipped else name for name in shapes]
    return helper.make_node(kind, names, ["Y"], name="layer", **attrs), shapes


def _import_recurrent(node: Any, shapes: dict[str, tuple[int, ...]]) -> Any:
    arrays = {
        name: np.full(shape, 2, np.int32) if name == "sequence_lens" else np.ones(shape, np.float32)
        for name, shape in shapes.items()
    }
    x = helper.make_tensor_value_info("X", FLOAT, shapes["X"])
    tensors = [numpy_helper.from_array(v, name) for name, v in arrays.items() if name != "X"]
    out = helper.make_tensor_value_info("Y", FLOAT, None)
    graph = helper.make_graph([node], "net", [x], [out], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return import_to_gluon(model.SerializeToString())(nd.array(arrays["X"]))


@pytest.mark.parametrize("kind", _GATES)
def test_a_recurrent_layer_has_weights_of_the_sizes_that_it_says(kind: str) -> None:
    for way, ways in (("forward", 1), ("bidirectional", 2)):
        node, shapes = _recurrent(kind, ways, hidden_size=5, direction=way)
        assert _import_recurrent(node, shapes).shape == (2, ways, 3, 5)
        for name in list(shapes)[1:]:
            wrong = (*shapes[name][:-1], shapes[name][-1] + 1)
            with pytest.raises(FileFormatError, match=f"ONNX {kind} .*expected {name} of shape"):
                _import_recurrent(node, {**shapes, name: wrong})
    node, shapes = _recurrent(kind, 1, hidden_size=7)
    with pytest.raises(FileFormatError, match=r"expected W of shape .* for hidden_size 7"):
        _import_recurrent(node, shapes)
    node, shapes = _recurrent(kind, 1, direction="sideways")
    with pytest.raises(FileFormatError, match=r"expected direction to be one of \['bidirectional'"):
        _import_recurrent(node, shapes)


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_kernel_shape_is_that_of_the_weight(kind: str) -> None:
    def model(kernel: list[int]) -> bytes:
        node = helper.make_node(kind, ["x", "w"], ["y"], kernel_shape=kernel)
        found = _model(node, tensors=[numpy_helper.from_array(np.ones((1, 1, 3, 3), "f"), "w")])
        found.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", FLOAT, [1, 1, 5, 5]))
        return bytes(found.SerializeToString())

    import_model(model([3, 3]))
    with pytest.raises(FileFormatError, match=r"the weight's kernel \(3, 3\), got kernel_shape"):
        import_model(model([2, 3]))
