"""VariationalDropoutCell: which elements are dropped, and for how long."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish import random as mx_random
from gluonish.core.errors import ArgumentError
from gluonish.gluon import rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib.rnn import VariationalDropoutCell
from gluonish.ndarray import array

T, N, H = 4, 30, 40


class Pass(rnn.HybridRecurrentCell):
    """Gives its input, and its state plus 1."""

    def state_info(self, batch_size: int = 0) -> Any:
        return [{"shape": (batch_size, H), "__layout__": "NC"}] * 2

    def hybrid_forward(self, F: Any, x: Any, states: Any) -> Any:
        return x + 0, [F.elemwise_add(state, F.ones_like(x)) for state in states]


class Unrolled(HybridBlock):
    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        outputs, states = self.cell.unroll(T, x, merge_outputs=True)
        return [outputs, *states]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("states", [0, 0.3])
@pytest.mark.parametrize("where", ["drop_inputs", "drop_outputs"])
def test_the_same_elements_are_dropped_at_all_steps(
    where: str, states: float, hybridize: bool
) -> None:
    net = Unrolled(VariationalDropoutCell(Pass(), drop_states=states, **{where: 0.4}))
    net.hybridize(active=hybridize)
    x = nd.ones((N, T, H))
    assert (net(x)[0].asnumpy() == 1).all()
    masks = []
    for seed in (1, 2):
        mx_random.seed(seed)
        with autograd.record():
            values = net(x)[0].asnumpy()
        np.testing.assert_array_equal(values, np.broadcast_to(values[:, :1], values.shape))
        masks.append(values[:, 0] == 0)
        np.testing.assert_allclose(values[:, 0][~masks[-1]], 1 / 0.6, rtol=1e-5)
        assert abs(masks[-1].mean() - 0.4) < 0.05
    assert (masks[0] != masks[1]).any()


@pytest.mark.parametrize("hybridize", [False, True])
def test_the_first_state_alone_is_dropped(hybridize: bool) -> None:
    net = Unrolled(VariationalDropoutCell(Pass(), drop_states=0.5))
    net.hybridize(active=hybridize)
    with autograd.record():
        _, first, second = net(nd.ones((N, T, H)))
    assert set(first.asnumpy().ravel()) == {1.0, 15.0}  # 1 + 2 * (1 + 2 * (1 + 2 * 1))
    assert (second.asnumpy() == T).all()


@pytest.mark.parametrize("hybridize", [False, True])
def test_masks_stay_until_reset(hybridize: bool) -> None:
    cell = VariationalDropoutCell(Pass(), 0.3, 0.3, 0.3)
    cell.hybridize(active=hybridize)
    x, states = nd.ones((N, H)), [nd.ones((N, H))] * 2
    with autograd.record():
        one, two = (cell(x, states)[0].asnumpy() for _ in range(2))
    np.testing.assert_array_equal(one, two)
    masks = (cell.drop_inputs_mask, cell.drop_states_mask, cell.drop_outputs_mask)
    assert [mask.shape for mask in masks] == [(N, H)] * 3
    cell.reset()
    assert cell.drop_inputs_mask is cell.drop_states_mask is cell.drop_outputs_mask is None
    with autograd.record():
        three = cell(x, states)[0].asnumpy()
    assert (one != three).any()


@pytest.mark.parametrize("states", [0, 0.3])
def test_outputs_behind_the_end_stay_zero(states: float) -> None:
    cell = VariationalDropoutCell(Pass(), 0.1, states, 0.1)
    with autograd.record():
        output, _ = cell.unroll(T, nd.ones((2, T, H)), valid_length=array([1, 3]))
    assert not output[0, 1:].asnumpy().any()
    assert not output[1, 3:].asnumpy().any()
    assert output[:, 0].asnumpy().any()


def test_merging_is_as_asked() -> None:
    x = nd.ones((2, T, H))
    for given in (x, [x[:, t] for t in range(T)]):
        for merge, kind in ((None, nd.NDArray), (True, nd.NDArray), (False, list)):
            cell = VariationalDropoutCell(Pass(), 0.1)
            assert isinstance(cell.unroll(T, given, merge_outputs=merge)[0], kind)


def test_probabilities_are_checked() -> None:
    with pytest.raises(ArgumentError, match=r"expected probabilities in \[0, 1\], got 2"):
        VariationalDropoutCell(Pass(), 0, 2).unroll(1, nd.ones((1, 1, 2)))
