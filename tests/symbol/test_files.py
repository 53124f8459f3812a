import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.graph.ir import Value, append, constant
from gluonish.ndarray import array, ones
from gluonish.ops.registry import find_operator
from gluonish.symbol import Symbol

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["cnn", "cells", "attrs", "lstm"])
def test_a_file_of_mxnet_is_written_again_byte_for_byte(name: str) -> None:
    path = GOLDEN / f"{name}-symbol.json"
    assert sym.load(path).tojson() == path.read_text()


def test_a_file_of_mxnet_0_8_is_read_and_upgraded() -> None:
    old = sym.load(GOLDEN / "legacy_080-symbol.json")
    new = sym.load(GOLDEN / "legacy_080_upgraded-symbol.json")
    assert old.tojson() == new.tojson()
    assert old.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]


def test_attributes_of_a_file_are_read() -> None:
    y = sym.load(GOLDEN / "attrs-symbol.json")
    assert y.list_arguments() == ["data", "c_weight", "c_bias", "bn_gamma", "bn_beta"]
    assert "c_weight" in y.attr_dict()


def _count(symbol: Symbol) -> int:
    pointers: list[int] = json.loads(symbol.tojson())["node_row_ptr"]
    return pointers[-1] - pointers[-2]


@pytest.mark.parametrize(
    ("attrs", "count"),
    [
        ({"kernel": (2, 2), "pool_type": "max"}, 2),
        ({"kernel": (2,), "pool_type": "max", "layout": "NCW"}, 2),
        ({"kernel": (2, 2), "pool_type": "max", "global_pool": True}, 2),
        ({"pool_type": "max", "global_pool": True}, 1),
        ({"kernel": (2, 2), "pool_type": "max", "layout": "NHWC"}, 1),
        ({"kernel": (2, 2), "pool_type": "avg"}, 1),
    ],
)
def test_outputs_are_counted_as_mxnet_counts_those_of_pooling(
    attrs: dict[str, Any], count: int
) -> None:
    assert _count(sym.Pooling(sym.var("x"), **attrs)) == count


def test_outputs_are_counted_as_mxnet_counts_hidden_ones() -> None:
    x = sym.var("x")
    assert _count(sym.BatchNorm(x)) == 3
    assert _count(sym.Dropout(x)) == 2
    assert _count(sym.LayerNorm(x)) == 3
    assert _count(sym.LeakyReLU(x, act_type="rrelu")) == 2
    assert _count(sym.LeakyReLU(x)) == 1
    assert [_count(sym.topk(x, ret_typ=kind)) for kind in ("value", "indices", "both")] == [2, 1, 2]
    assert _count(sym.sort(x)) == 2


def test_inputs_that_are_overwritten_carry_version_1() -> None:
    nodes = json.loads(sym.BatchNorm(sym.var("x")).tojson())["nodes"]
    assert [version for _, _, version in nodes[-1]["inputs"]] == [0, 0, 0, 1, 1]


def test_writing_and_reading_keeps_what_the_graph_computes(tmp_path: Path) -> None:
    x = sym.var("x")
    first, second = sym.split(sym.relu(x - 1), num_outputs=2, axis=0)
    y = sym.Group([sym.sum(first, axis=1), sym.Concat(second, first, dim=1) * 0.5])
    y.save(tmp_path / "net-symbol.json")
    values = {"x": array(np.arange(12).reshape(4, 3))}
    again = sym.load(tmp_path / "net-symbol.json")
    assert again.tojson() == y.tojson()
    for got, want in zip(again.eval(**values), y.eval(**values), strict=True):
        np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())


def test_a_user_attribute_beside_one_of_the_operator_of_that_name_is_kept() -> None:
    y = sym.Reshape(sym.var("x"), shape=(2, 3), attr={"__shape__": "(9,)"})
    attrs = json.loads(y.tojson())["nodes"][-1]["attrs"]
    assert attrs == {"__shape__": "(9,)", "shape": "(2, 3)"}


def test_a_graph_with_an_array_inside_is_not_written() -> None:
    value: Value = append(find_operator("_copy"), [constant(ones((2,)))], {})
    with pytest.raises(ArgumentTypeError, match=r"got an array inside \(constant\)"):
        Symbol([value]).tojson()


def test_text_is_read_and_other_things_are_refused() -> None:
    y = sym.relu(sym.var("x"))
    assert sym.load_json(y.tojson()).tojson() == y.tojson()
    with pytest.raises(ArgumentTypeError, match="expected a str, got dict"):
        sym.load_json({})  # type: ignore[arg-type]


def _text(**node: object) -> str:
    variable = {"op": "null", "name": "x", "inputs": []}
    made = {"op": "relu", "name": "r", "inputs": [[0, 0, 0]], **node}
    graph = {"nodes": [variable, made], "arg_nodes": [0], "heads": [[1, 0, 0]]}
    return json.dumps({**graph, "attrs": {"mxnet_version": ["int", 10901]}})


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"op": "no_such"}, "gluonish knows, got operator no_such in node r"),
        ({"op": "Dropout", "attrs": {"slope": "1"}}, "got node r: Dropout: expected arguments"),
        ({"inputs": []}, "got node r with 0 inputs where relu has 1"),
        ({"inputs": [[0, 0, 0], [0, 0, 0]]}, "got node r with 2 inputs where relu has 1"),
        ({"op": "Activation"}, "Activation: expected a value for act_type"),
        ({"inputs": [[0, 1, 0]]}, "got node r that reads output 1 of x, which has 1"),
    ],
)
def test_a_node_that_makes_no_sense_is_named(node: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        sym.load_json(_text(**node))


def test_the_name_of_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "broken-symbol.json"
    path.write_text(_text()[:-5])
    with pytest.raises(FileFormatError, match=r"broken-symbol\.json"):
        sym.load(path)


def _file_of(op: str, inputs: int, **attrs: str) -> str:
    nodes: list[dict[str, Any]] = [{"op": "null", "name": "x", "inputs": []}]
    node = {"op": op, "name": "y", "inputs": [[0, 0, 0]] * inputs, "attrs": attrs}
    return json.dumps({"nodes": [*nodes, node], "arg_nodes": [0], "heads": [[1, 0, 0]]})


@pytest.mark.parametrize(
    ("op", "inputs", "attribute", "message"),
    [
        ("Concat", 2, "num_args", "with 2 inputs where Concat has num_args=1000000000"),
        ("SliceChannel", 1, "num_outputs", "with 1000000000 outputs"),
    ],
)
def test_counts_beyond_all_bounds_are_refused_at_once(
    op: str, inputs: int, attribute: str, message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        sym.load_json(_file_of(op, inputs, **{attribute: "1000000000"}))


def test_operators_that_only_gradients_have_are_refused() -> None:
    text = _file_of("_scan", 1, num_data="1", num_states="0", num_outs="1", counted="0")
    with pytest.raises(FileFormatError, match="which only gradients have"):
        sym.load_json(text)


def test_none_is_written_where_it_is_a_value() -> None:
    x = sym.var("x")
    cut = sym.slice_axis(x, axis=0, begin=1, end=None, name="cut")
    assert cut.attr_dict() == {"cut": {"axis": "0", "begin": "1", "end": "None"}}
    again = sym.load_json(cut.tojson())
    assert again.attr_dict() == cut.attr_dict()
    assert again.infer_shape(x=(3, 2))[1] == [(2, 2)]
    assert sym.sum(x, axis=None, name="s").attr_dict() == {"s": {"axis": "None"}}
    assert sym.Dropout(x, p=0.5, name="d").attr_dict() == {"d": {"p": "0.5"}}


def test_a_number_is_no_path() -> None:
    with pytest.raises(TypeError, match=r"expected a path, as str, bytes or os\.PathLike, got 3"):
        sym.var("x").save(3)
    with pytest.raises(TypeError, match=r"expected a path, as str, bytes or os\.PathLike, got 3"):
        sym.load(3)
