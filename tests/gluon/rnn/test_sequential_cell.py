"""Stacks of cells: steps, containers' methods, and what cannot be stacked."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon import nn, rnn

KINDS = (rnn.SequentialRNNCell, rnn.HybridSequentialRNNCell)


def stack(kind: Any) -> Any:
    cells = kind(prefix="s_")
    with cells.name_scope():
        cells.add(rnn.LSTMCell(3))
        cells.add(rnn.DropoutCell(0.2))
        cells.add(rnn.GRUCell(4))
    cells.initialize(init="one")
    return cells


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_those_of_an_unrolling(kind: Any, hybridize: bool) -> None:
    cells = stack(kind)
    x = nd.array(np.random.default_rng(0).standard_normal((2, 3, 5)))
    want, last = cells.unroll(3, x)
    cells.hybridize(hybridize)
    states = cells.begin_state(batch_size=2)
    for t in range(3):
        output, states = cells(x[:, t], states)
        np.testing.assert_allclose(output.asnumpy(), want[t].asnumpy(), atol=1e-6)
    assert [s.shape for s in states] == [(2, 3), (2, 3), (2, 4)]
    for a, b in zip(states, last, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=1e-6)


def test_a_hybridized_stack_takes_a_step_as_one_graph() -> None:
    cells = stack(rnn.HybridSequentialRNNCell)
    cells.hybridize()
    cells(nd.ones((2, 5)), cells.begin_state(batch_size=2))
    assert cells._graphs
    cells.add(rnn.ZoneoutCell(rnn.GRUCell(2), 0.1))  # and one that remembers steps by itself
    cells[-1].initialize()
    cells.hybridize()
    cells(nd.ones((2, 5)), cells.begin_state(batch_size=2))
    assert not cells._graphs


@pytest.mark.parametrize("kind", KINDS)
def test_a_stack_is_a_list(kind: Any) -> None:
    cells = stack(kind)
    assert len(cells) == 3
    assert isinstance(cells[1], rnn.DropoutCell)
    assert repr(cells).splitlines()[1:3] == [
        "(0): LSTMCell(None -> 12)",
        "(1): DropoutCell(rate=0.2, axes=())",
    ]
    assert [info["shape"] for info in cells.state_info(7)] == [(7, 3), (7, 3), (7, 4)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_stacked_is_refused(kind: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="add: expected a RecurrentCell, got Dense"):
        kind().add(nn.Dense(2))
    cells = kind()
    cells.add(rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2)))
    cells.initialize()
    with pytest.raises(ArgumentError, match="got BidirectionalCell; call unroll"):
        cells(nd.ones((2, 3)), cells.begin_state(batch_size=2))
    assert cells.unroll(3, nd.ones((2, 3, 4)), merge_outputs=True)[0].shape == (2, 3, 4)
    with pytest.raises(ArgumentError, match="expected 2 states, got 1"):
        cells.unroll(3, nd.ones((2, 3, 4)), begin_state=[nd.ones((2, 2))])


def test_a_plain_stack_is_not_hybrid() -> None:
    with pytest.raises(ArgumentTypeError, match="expected children to be HybridBlocks"):
        rnn.HybridSequentialRNNCell().add(rnn.SequentialRNNCell())
    with pytest.raises(NotSupportedError, match="use HybridSequentialRNNCell"):
        rnn.SequentialRNNCell().hybrid_forward(nd, nd.ones((2, 3)), [])
