"""Upgrades of old graphs, each rule as MXNet 1.9.1 was seen to apply it."""

import logging
from pathlib import Path

import pytest

from gluonish.symbol.json_format import GraphData, NodeData, dump, parse
from gluonish.symbol.legacy_json import upgrade
from tests.symbol.depth_first import depth_first

GOLDEN = Path(__file__).parents[1] / "golden"
INPUTS = {
    "FullyConnected": ("data", "weight", "bias"),
    "BatchNorm": ("data", "gamma", "beta", "moving_mean", "moving_var"),
    "SoftmaxOutput": ("data", "label"),
    "argmax": ("data",),
}
SETTINGS = {
    "FullyConnected": {"num_hidden", "no_bias"},
    "BatchNorm": {"eps", "momentum", "fix_gamma"},
    "SoftmaxOutput": {"grad_scale"},
    "argmax": {"axis", "keepdims"},
}
STATISTICS = {
    "moving_mean": {"__init__": '["zero", {}]'},
    "moving_var": {"__init__": '["one", {}]'},
}


def input_names(node: NodeData):
    unknown = {key for key in node.attrs if not key.startswith("__")} - SETTINGS[node.op]
    assert not unknown, "an operator is never shown keys that it would refuse"
    return INPUTS[node.op]


def input_attributes(node: NodeData):
    return STATISTICS if node.op == "BatchNorm" else {}


def variable(name: str, **attrs: str) -> NodeData:
    return NodeData("null", name, attrs)


def operator(op: str, count: int, **attrs: str) -> NodeData:
    return NodeData(op, "node", attrs, tuple((i, 0, 0) for i in range(count)))


def upgraded(version: int | None, *nodes: NodeData) -> GraphData:
    attrs = {} if version is None else {"mxnet_version": ("int", version)}
    graph = GraphData(nodes, ((len(nodes) - 1, 0, 0),), attrs)
    return upgrade(graph, input_names, input_attributes)


def by_name(graph: GraphData):
    return {node.name: dict(node.attrs) for node in graph.nodes}


def test_file_of_0_8_is_what_mxnet_makes_of_it() -> None:
    graph = parse((GOLDEN / "legacy_080-symbol.json").read_bytes())
    graph = depth_first(upgrade(graph, input_names, input_attributes))
    text = dump(graph, lambda node: 3 if node.op == "BatchNorm" else 1)
    assert text == (GOLDEN / "legacy_080_upgraded-symbol.json").read_text(encoding="utf-8")


def test_current_graph_is_returned_as_it_is() -> None:
    graph = GraphData(
        (variable("x", lr_mult="2"),), ((0, 0, 0),), {"mxnet_version": ("int", 10901)}
    )
    assert upgrade(graph, input_names, input_attributes) is graph


def test_newer_graph_is_returned_with_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "gluonish"):
        graph = upgraded(20000, variable("x", lr_mult="2"))
    assert graph.nodes[0].attrs == {"lr_mult": "2"}
    assert "expected a version up to 10901, got 20000" in caplog.text


@pytest.mark.parametrize("version", [None, 900, 10900])
def test_bare_key_gets_underscores_and_wins(version: int | None) -> None:
    graph = upgraded(version, variable("x", lr_mult="5", __lr_mult__="4", wd_mult="3"))
    assert graph.nodes[0].attrs == {"__lr_mult__": "5", "__wd_mult__": "3"}


def test_key_of_an_input_moves_to_its_variable() -> None:
    graph = upgraded(
        900,
        *map(variable, ("d", "w", "b")),
        operator("FullyConnected", 3, weight_lr_mult="2", bias_ctx_group="g", num_hidden="3"),
    )
    assert by_name(graph) == {
        "d": {},
        "w": {"__lr_mult__": "2"},
        "b": {"__ctx_group__": "g"},
        "node": {"num_hidden": "3"},
    }


def test_key_of_no_input_stays_for_the_operator_to_refuse() -> None:
    graph = upgraded(
        900, *map(variable, ("d", "w", "b")), operator("FullyConnected", 3, foo_lr_mult="8")
    )
    assert graph.nodes[3].attrs == {"foo_lr_mult": "8"}


def test_key_of_an_input_that_is_no_variable_stays() -> None:
    chain = NodeData("argmax", "a", {}, ((0, 0, 0),))
    dense = NodeData("FullyConnected", "f", {"data_lr_mult": "5"}, ((1, 0, 0),))
    graph = upgraded(900, variable("d"), chain, dense)
    assert graph.nodes[2].attrs == {"data_lr_mult": "5"}


def test_input_prefix_on_a_variable_stays() -> None:
    graph = upgraded(None, variable("x", weight_lr_mult="2"))
    assert graph.nodes[0].attrs == {"weight_lr_mult": "2"}


def test_missing_inputs_become_variables_before_0_9() -> None:
    graph = upgraded(None, variable("d"), operator("FullyConnected", 1, num_hidden="3"))
    assert [node.name for node in graph.nodes] == ["d", "node_weight", "node_bias", "node"]
    assert graph.nodes[1].attrs == {"num_hidden": "3"}
    assert graph.nodes[3].inputs == ((0, 0, 0), (1, 0, 0), (2, 0, 0))
    assert graph.heads == ((3, 0, 0),)


@pytest.mark.parametrize("version", [900, 904, 1000])
def test_missing_inputs_stay_missing_from_0_9_on(version: int) -> None:
    graph = upgraded(version, *map(variable, ("d", "g", "b")), operator("BatchNorm", 3))
    assert len(graph.nodes) == 4


@pytest.mark.parametrize(("version", "given"), [(None, True), (903, True), (904, False)])
def test_statistics_get_their_initializer_before_0_9_4(version: int | None, given: bool) -> None:
    names = ("d", "g", "b", "mean", "var")
    attrs = by_name(upgraded(version, *map(variable, names), operator("BatchNorm", 5)))
    assert attrs["mean"] == (STATISTICS["moving_mean"] if given else {})
    assert attrs["var"] == (STATISTICS["moving_var"] if given else {})


def test_an_initializer_that_is_there_stays() -> None:
    nodes = [variable(name, __init__="mine") for name in ("d", "g", "b", "mean", "var")]
    assert by_name(upgraded(900, *nodes, operator("BatchNorm", 5)))["mean"] == {"__init__": "mine"}


@pytest.mark.parametrize(("version", "attrs"), [(904, {}), (905, {"axis": "-1"})])
def test_last_axis_of_argmax_meant_all_axes_before_0_9_5(version: int, attrs) -> None:
    graph = upgraded(version, variable("d"), operator("argmax", 1, axis="-1"))
    assert graph.nodes[1].attrs == attrs


def test_other_axes_stay() -> None:
    graph = upgraded(900, variable("d"), operator("argmax", 1, axis="1"))
    assert graph.nodes[1].attrs == {"axis": "1"}


def test_version_is_current_afterwards() -> None:
    assert upgraded(None, variable("d")).mxnet_version == 10901
