"""BidirectionalCell: what it refuses; its results are in test_cells_golden and test_unfuse."""

import pytest

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.gluon import nn, rnn


def test_single_steps_are_refused() -> None:
    cell = rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2))
    with pytest.raises(NotSupportedError, match="got a single step; call unroll"):
        cell(nd.ones((2, 3)), cell.begin_state(batch_size=2))


def test_other_blocks_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected HybridRecurrentCells, got Dense"):
        rnn.BidirectionalCell(rnn.GRUCell(2), nn.Dense(2))


def test_outputs_are_named_by_the_prefix() -> None:
    cell = rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2), output_prefix="q_")
    x = nd.ones((2, 3, 4))
    cell.initialize()
    assert cell.unroll(3, x, merge_outputs=True, valid_length=nd.array([1, 3]))[0].shape[2] == 4
    output, _ = cell.unroll(3, sym.var("x"), merge_outputs=True)
    assert output.name == "q_out"
