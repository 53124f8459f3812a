"""Symbolic cells against MXNet 1.9.1: graphs node by node, shapes, numbers, packed weights."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDED: dict[str, dict[str, Any]] = json.loads(
    (GOLDEN / "symbolic_rnn.json").read_text(encoding="utf-8")
)


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location("cases", GOLDEN / "symbolic_rnn_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = _cases()


def check(found: Any, recorded: Any) -> None:
    if isinstance(recorded, dict):
        assert list(found) == list(recorded)
        for key, value in recorded.items():
            check(found[key], value)
    elif isinstance(recorded, list):
        assert len(found) == len(recorded)
        for one, other in zip(found, recorded, strict=True):
            check(one, other)
    elif isinstance(recorded, float):
        assert found == pytest.approx(recorded, rel=1e-4, abs=1e-4)
    else:
        assert found == recorded


@pytest.mark.parametrize("name", RECORDED)
def test_graph_is_that_of_mxnet_node_by_node(name: str) -> None:
    with mx.name.NameManager():
        _, outputs, states = CASES.CASES[name](mx)
    listed = list(outputs) if isinstance(outputs, list) else [outputs]
    graph = mx.sym.Group([*listed, *CASES.flat(states)])
    assert CASES.nodes_of(graph.tojson()) == RECORDED[name]["nodes"]


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.filterwarnings("ignore:NTC layout")
def test_shapes_numbers_gradients_and_weights_are_those_of_mxnet(name: str) -> None:
    check(json.loads(json.dumps(CASES.facts(mx, np, name))), RECORDED[name])


def test_defaults_of_prefixes() -> None:
    rnn = mx.rnn
    image = (1, 2, 5, 6)
    cells = [rnn.RNNCell(2), rnn.LSTMCell(2), rnn.GRUCell(2), rnn.FusedRNNCell(2, mode="rnn_tanh")]
    cells += [rnn.ConvRNNCell(image, 2), rnn.ConvLSTMCell(image, 2), rnn.ConvGRUCell(image, 2)]
    assert [cell._prefix for cell in cells] == [
        *("rnn_", "lstm_", "gru_", "rnn_tanh_", "ConvRNN_", "ConvLSTM_", "ConvGRU_")
    ]


def test_states_are_counted_from_0_again_after_a_reset() -> None:
    cell = mx.rnn.RNNCell(3)
    assert [cell.begin_state()[0].name for _ in range(2)] == [
        *("rnn_begin_state_0", "rnn_begin_state_1")
    ]
    cell.reset()
    assert cell.begin_state()[0].name == "rnn_begin_state_0"


def test_states_can_be_variables_with_shape_and_layout() -> None:
    (state,) = mx.rnn.RNNCell(4).begin_state(func=mx.sym.Variable, shape=(7, 7))
    assert state.list_attr() == {"__layout__": "NC", "__shape__": "(0, 4)"}


def test_modified_cell_is_not_used_itself() -> None:
    cell = mx.rnn.RNNCell(3)
    modified = mx.rnn.ZoneoutCell(cell, 0.1, 0.1)
    with pytest.raises(AssertionError, match="Call the modifier cell instead"):
        cell.begin_state()
    assert modified.begin_state()[0].name == "rnn_begin_state_0"
    assert modified.params is cell.params


def test_cells_share_weights_by_their_parameters() -> None:
    weights = mx.rnn.RNNParams("shared_")
    for _ in range(2):
        mx.rnn.RNNCell(3, prefix="shared_", params=weights)
    assert sorted(weights._params) == [
        *("shared_h2h_bias", "shared_h2h_weight", "shared_i2h_bias", "shared_i2h_weight")
    ]
    assert weights.get("i2h_weight") is weights.get("i2h_weight")


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda r: r.LSTMCell(3).unroll(2, None), AssertionError, "has been deprecated"),
        (lambda r: r.LSTMCell(3).unroll(3, [mx.sym.var("x")]), AssertionError, "3 steps, got 1"),
        (
            lambda r: r.LSTMCell(3).unroll(2, mx.sym.Group([mx.sym.var("x"), mx.sym.var("y")])),
            AssertionError,
            "grouped symbol",
        ),
        (lambda r: r.FusedRNNCell(3)(mx.sym.var("x"), []), NotImplementedError, "unroll"),
        (lambda r: r.FusedRNNCell(3, mode="x"), ValueError, "expected mode"),
        (lambda r: r.ZoneoutCell(r.FusedRNNCell(3)), AssertionError, "unfuse first"),
        (
            lambda r: r.ZoneoutCell(r.BidirectionalCell(r.RNNCell(3), r.RNNCell(3))),
            AssertionError,
            "support step",
        ),
        (
            lambda r: r.BidirectionalCell(r.RNNCell(3), r.RNNCell(3))(mx.sym.var("x"), []),
            NotImplementedError,
            "cannot be stepped",
        ),
        (
            lambda r: r.BidirectionalCell(r.RNNCell(3), r.RNNCell(3), params=r.RNNParams("x_")),
            AssertionError,
            "not both",
        ),
        (lambda r: r.DropoutCell("x"), AssertionError, "must be a number"),
        (
            lambda r: r.ConvRNNCell((1, 2, 5, 6), 3, h2h_kernel=(2, 3)),
            AssertionError,
            "Only support odd number",
        ),
        (lambda r: r.BaseRNNCell("p_").state_info, NotImplementedError, "state_info"),
        (lambda r: r.LSTMCell(3).unpack_weights({}), KeyError, "lstm_i2h_weight"),
    ],
)
def test_mistakes_raise_as_in_mxnet(make: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make(mx.rnn)


def test_layers_of_gluon_are_not_the_symbolic_cells() -> None:
    assert mx.rnn.LSTMCell is not mx.gluon.rnn.LSTMCell
    assert issubclass(mx.gluon.rnn.LSTMCell, mx.gluon.Block)
    assert not issubclass(mx.rnn.LSTMCell, mx.gluon.Block)
    assert mx.rnn.LSTM is mx.gluon.rnn.LSTM
