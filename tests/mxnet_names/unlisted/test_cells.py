"""Expectations are what MXNet 1.9.1 returned for the same calls."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.rnn import GRUCell, LSTMCell, RNNCell
from gluonish.mxnet_names.unlisted import cells

X = nd.arange(12).reshape((2, 3, 2))
STEPS = [X[:, i] for i in range(3)]


@pytest.mark.parametrize("merge", [True, None])
@pytest.mark.parametrize(
    ("layout", "in_layout", "shape", "count"),
    [
        ("NTC", None, (2, 3, 2), 2),
        ("NTC", "TNC", (3, 2, 2), 2),
        ("TNC", None, (2, 3, 2), 3),
        ("TNC", "NTC", (3, 2, 2), 3),
    ],
)
def test_an_array_stays_one(
    merge: bool | None, layout: str, in_layout: str | None, shape: tuple[int, ...], count: int
) -> None:
    found, axis, space, size = cells.format_sequence(None, X, layout, merge, in_layout)
    assert (found.shape, axis, space, size) == (shape, layout.index("T"), nd, count)


def test_an_array_is_split_along_its_own_axis() -> None:
    found, axis, _, size = cells.format_sequence(3, X, "TNC", False, "NTC")
    assert (axis, size, len(found)) == (0, 3, 3)
    np.testing.assert_array_equal(found[1].asnumpy(), [[2, 3], [8, 9]])


@pytest.mark.parametrize(("layout", "shape"), [("NTC", (2, 3, 2)), ("TNC", (3, 2, 2))])
def test_steps_are_joined(layout: str, shape: tuple[int, ...]) -> None:
    found, _, _, size = cells.format_sequence(3, STEPS, layout, True)
    assert (found.shape, size) == (shape, 2)
    assert cells.format_sequence(3, STEPS, layout, None)[0] is STEPS


def test_symbols_have_no_batch_size() -> None:
    x = mx.sym.var("x")
    found, _, space, size = cells.format_sequence(3, x, "NTC", False)
    assert (len(found), space, size) == (3, mx.sym, 0)


@pytest.mark.parametrize(
    ("length", "inputs"), [(4, X), (2, STEPS), (3, None), (2, mx.sym.Group([mx.sym.var("x")] * 2))]
)
def test_what_is_no_such_sequence_is_refused(length: int, inputs: Any) -> None:
    with pytest.raises(ArgumentError):
        cells.format_sequence(length, inputs, "NTC", False)


@pytest.mark.parametrize("data", [X, STEPS])
def test_what_is_behind_the_ends_becomes_0(data: Any) -> None:
    lengths = nd.array([1, 3])
    joined = cells.mask_sequence_variable_length(nd, data, 3, lengths, 1, True)
    expected = [[[0, 1], [0, 0], [0, 0]], [[6, 7], [8, 9], [10, 11]]]
    np.testing.assert_array_equal(joined.asnumpy(), expected)
    steps = cells.mask_sequence_variable_length(nd, data, 3, lengths, 1, False)
    np.testing.assert_array_equal(steps[2].asnumpy(), [[0, 0], [10, 11]])


def test_steps_are_reversed_up_to_their_lengths() -> None:
    turned = cells.reverse_sequences(STEPS, 3)
    np.testing.assert_array_equal(turned[0].asnumpy(), STEPS[2].asnumpy())
    turned = cells.reverse_sequences(STEPS, 3, nd.array([1, 3]))
    np.testing.assert_array_equal(turned[0].asnumpy(), [[0, 1], [10, 11]])
    with pytest.raises(ArgumentError, match="expected 2 steps, got 3"):
        cells.reverse_sequences(STEPS, 2)


def test_states_of_cells_in_a_row() -> None:
    row = [LSTMCell(4), GRUCell(3)]
    assert [info["shape"] for info in cells.state_infos(row, 2)] == [(2, 4), (2, 4), (2, 3)]
    assert [x.shape for x in cells.begin_states(row, batch_size=2)] == [(2, 4), (2, 4), (2, 3)]
    zeros = cells.begin_state(row[0], nd, None, STEPS, 2)
    assert [x.shape for x in zeros] == [(2, 4), (2, 4)]
    assert cells.begin_state(row[0], nd, [X], STEPS, 2) == [X]
    symbols = cells.begin_state(row[0], mx.sym, None, mx.sym.var("x"), 0)
    assert all(isinstance(x, mx.sym.Symbol) for x in symbols)


def test_symbolic_cells_in_a_row() -> None:
    row = [mx.rnn.LSTMCell(4, prefix="l_"), mx.rnn.GRUCell(3, prefix="g_")]
    assert cells.state_shapes(row) == [(0, 4), (0, 4), (0, 3)]
    assert [info["shape"] for info in cells.symbolic_state_infos(row)] == [(0, 4), (0, 4), (0, 3)]
    assert len(cells.symbolic_begin_states(row)) == 3
    shapes = {"l": (16, 5, 4), "g": (9, 4, 3)}
    weights = {}
    for name, (rows, inputs, states) in shapes.items():
        for part, shape in (("i2h", (rows, inputs)), ("h2h", (rows, states))):
            weights[f"{name}_{part}_weight"] = nd.ones(shape)
            weights[f"{name}_{part}_bias"] = nd.ones(shape[:1])
    apart = cells.unpacked_weights(row, weights)
    assert apart["g_h2h_r_weight"].shape == (3, 3)
    assert len(apart) == 28
    again = cells.packed_weights(row, apart)
    assert {k: v.shape for k, v in again.items()} == {k: v.shape for k, v in weights.items()}


def test_a_cell_of_a_program_applies_its_activation() -> None:
    cell, x = RNNCell(3), nd.array([1.0, -1.0])
    assert cell._get_activation(nd, x, "relu").asnumpy().tolist() == [1, 0]
    assert cell._get_activation(nd, x, lambda v: v * 2).asnumpy().tolist() == [2, -2]
