"""Cells around other cells: residuals, zoneout, and what may be modified."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish import autograd
from gluonish import random as mx_random
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon import nn, rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib import rnn as contrib
from gluonish.ndarray import NDArray, array

T, N, H = 4, 40, 25


def sample() -> NDArray:
    return array(np.random.default_rng(0).uniform(0.5, 1, (N, T, H)))


def made(modifier: Any) -> Any:
    cell = modifier(rnn.RNNCell(H, "relu", i2h_weight_initializer="one"))
    cell.initialize(init="one")
    return cell


class Unrolled(HybridBlock):
    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        outputs, states = self.cell.unroll(T, x, merge_outputs=True)
        return outputs, states[0]


def test_residual_steps_add_the_input() -> None:
    base, cell = rnn.GRUCell(H, prefix="a_"), rnn.ResidualCell(rnn.GRUCell(H, prefix="a_"))
    for one in (base, cell):
        one.initialize(init="one")
    x = sample()[:, 0]
    for hybridize in (False, True):
        cell.hybridize(active=hybridize)
        output, states = cell(x, cell.begin_state(batch_size=N))
        want, last = base(x, base.begin_state(N))
        np.testing.assert_allclose(output.asnumpy(), (want + x).asnumpy(), atol=1e-6)
        np.testing.assert_allclose(states[0].asnumpy(), last[0].asnumpy(), atol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_zoneout_keeps_the_share_of_outputs_that_it_says(hybridize: bool, whole: bool) -> None:
    cell = made(lambda base: rnn.ZoneoutCell(base, 0.3))
    net = Unrolled(cell)
    (net if whole else cell).hybridize(active=hybridize)
    run: Any = net if whole else lambda x: cell.unroll(T, x, merge_outputs=True)
    plain, _ = run(sample())
    mx_random.seed(1)
    with autograd.record():
        outputs, state = run(sample())
    kept = outputs.asnumpy() != plain.asnumpy()
    assert abs(kept.mean() - 0.3) < 0.05
    assert not outputs[:, 0].asnumpy()[kept[:, 0]].any()
    for t in range(1, T):  # what is kept is the output of the step before, kept or not
        before = outputs[:, t - 1].asnumpy()[kept[:, t]]
        np.testing.assert_array_equal(outputs[:, t].asnumpy()[kept[:, t]], before)
    last = state[0] if isinstance(state, list) else state
    np.testing.assert_allclose(last.asnumpy(), plain[:, -1].asnumpy(), rtol=1e-5)


def test_zoneout_keeps_the_share_of_states_that_it_says() -> None:
    cell = made(lambda base: rnn.ZoneoutCell(base, 0, 0.3))
    before = nd.full((N, H), -1.0)
    with autograd.record():
        output, states = cell(sample()[:, 0], [before])
    kept = states[0].asnumpy() == -1
    assert abs(kept.mean() - 0.3) < 0.05
    np.testing.assert_array_equal(output.asnumpy()[~kept], states[0].asnumpy()[~kept])
    assert (output.asnumpy() != -1).all()


@pytest.mark.parametrize("hybridize", [False, True])
def test_zoneout_remembers_between_steps_until_reset(hybridize: bool) -> None:
    cell = made(lambda base: rnn.ZoneoutCell(base, 0.5))
    cell.hybridize(active=hybridize)
    x = sample()
    states = cell.begin_state(batch_size=N)
    with autograd.record():
        one, states = cell(x[:, 0], states)
        two, _ = cell(x[:, 1], states)
        cell.reset()
        fresh, _ = cell(x[:, 1], states)
    shared = (two.asnumpy() == one.asnumpy()) & (one.asnumpy() != 0)
    assert 0.15 < shared.mean() < 0.35
    values = set(fresh.asnumpy().ravel()) & set(one.asnumpy().ravel())
    assert values == {0.0}


def test_a_trace_leaves_nothing_for_later_steps() -> None:
    cell = made(lambda base: rnn.ZoneoutCell(base, 0.5))
    net = Unrolled(cell)
    net.hybridize()
    net(sample())
    with autograd.record():
        output, _ = cell(sample()[:, 0], cell.begin_state(batch_size=N))
    assert isinstance(output, NDArray)


def test_parameters_and_states_are_those_of_the_base_cell() -> None:
    base = rnn.LSTMCell(H, prefix="a_")
    cell: Any = rnn.ZoneoutCell(rnn.ResidualCell(base), 0.1)
    assert cell.params is base.params
    assert cell.base_cell.base_cell is base
    assert cell.prefix == "a_residualcellzoneout"
    assert cell.state_info(2) == base.state_info(2)
    assert [s.name for s in cell.begin_state(func=sym.zeros)] == [
        "a_begin_state_0",
        "a_begin_state_1",
    ]


def test_states_come_from_the_modifier_only() -> None:
    base = rnn.GRUCell(H, prefix="a_")
    cell = rnn.ResidualCell(base)
    with pytest.raises(ArgumentError, match="one that is wrapped; call the modifier's begin"):
        base.begin_state(2)
    assert cell.begin_state(nd.ones, batch_size=2)[0].shape == (2, H)
    with pytest.raises(ArgumentError, match="that is wrapped"):
        base.begin_state(2)
    with pytest.raises(ArgumentTypeError, match="expected func to be a function, got 2; pass bat"):
        cell.begin_state(2)  # type: ignore[arg-type]


def test_a_cell_has_one_modifier() -> None:
    base = rnn.GRUCell(H, prefix="a_")
    rnn.ResidualCell(base)
    with pytest.raises(ArgumentError, match="without a modifier, got a; modify its modifier"):
        rnn.ZoneoutCell(base)
    for kind in (rnn.ModifierCell, rnn.ResidualCell, rnn.ZoneoutCell):
        with pytest.raises(ArgumentTypeError, match="to be a HybridRecurrentCell, got Dense"):
            kind(nn.Dense(3))


def test_a_subclass_says_what_it_modifies() -> None:
    cell = rnn.ModifierCell(rnn.GRUCell(H))
    with pytest.raises(NotSupportedError, match="defines hybrid_forward"):
        cell(sample()[:, 0], cell.begin_state(batch_size=N))


def test_steps_need_cells_that_take_them() -> None:
    stack = rnn.HybridSequentialRNNCell()
    stack.add(rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2)))
    for base in (stack, stack[0]):
        with pytest.raises(ArgumentError, match="ZoneoutCell: expected a base_cell that computes"):
            rnn.ZoneoutCell(base, 0.1)
        with pytest.raises(ArgumentError, match="VariationalDropoutCell: expected a base_cell"):
            contrib.VariationalDropoutCell(base, drop_states=0.1)


@pytest.mark.parametrize("rates", [(1.5, 0), (0, -0.1)])
def test_probabilities_are_checked(rates: tuple[float, float]) -> None:
    with pytest.raises(ArgumentError, match=r"ZoneoutCell: expected probabilities in \[0, 1\], go"):
        rnn.ZoneoutCell(rnn.GRUCell(2), *rates).unroll(1, nd.ones((1, 1, 2)))
