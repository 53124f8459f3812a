"""Activations of cells: names, Blocks and functions."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn, rnn
from gluonish.gluon.contrib import rnn as contrib

CELLS: dict[str, Any] = {
    "rnn": lambda a: rnn.RNNCell(3, activation=a),
    "lstm": lambda a: rnn.LSTMCell(3, activation=a, recurrent_activation=a),
    "gru": lambda a: rnn.GRUCell(3, activation=a, recurrent_activation=a),
    "conv": lambda a: contrib.Conv1DLSTMCell((3, 1), 3, 1, 1, activation=a),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(
    "activation",
    [nn.Activation("relu"), nd.relu, lambda x: x.relu()],
    ids=["block", "op", "lambda"],
)
@pytest.mark.parametrize("name", CELLS)
def test_a_block_or_a_function_is_applied(name: str, activation: Any, hybridize: bool) -> None:
    if activation is nd.relu and hybridize:
        pytest.skip("a function of arrays is for arrays")
    x = nd.array(np.random.default_rng(1).standard_normal((2, 3)))
    x = x.expand_dims(2) if name == "conv" else x
    found = []
    for chosen in ("relu", activation):
        cell = CELLS[name](chosen)
        cell.initialize(init="one")
        cell.hybridize(active=hybridize)
        found.append(cell(x, cell.begin_state(2, func=nd.ones))[0].asnumpy())
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)


def test_an_activations_parameters_are_the_cells() -> None:
    cell = rnn.RNNCell(3, activation=nn.PReLU(prefix="p_"), prefix="a_")
    assert "p_alpha" in cell.collect_params()
    cell.initialize()
    cell.hybridize()
    assert cell(nd.ones((2, 3)), cell.begin_state(2))[0].shape == (2, 3)


@pytest.mark.parametrize("name", CELLS)
def test_unknown_activations_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=r"expected activation relu, sigmoid, .* got 'exp'"):
        CELLS[name]("exp")
    with pytest.raises(ArgumentTypeError, match="to be a name, a Block or a function, got 3"):
        CELLS[name](3)
