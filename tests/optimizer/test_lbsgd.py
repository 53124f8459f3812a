"""What distinguishes LBSGD; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.ndarray import array
from gluonish.optimizer import LBSGD, get_updater


def test_weight_moves_when_enough_gradients_are_there() -> None:
    updater, weight = get_updater(LBSGD(learning_rate=0.5, warmup_epochs=0, batch_scale=2)), None
    weight, found = array([0.0]), []
    for value in (1.0, 3.0, 5.0, 7.0):
        updater(0, array([value]), weight)
        found.append(weight.asscalar())
    assert found == [0.0, -2.0, -2.0, -8.0]


def test_gathered_gradients_are_copies() -> None:
    """MXNet 1.9.1 keeps the array itself, which a Trainer's next backward pass overwrites."""
    updater, weight, grad = get_updater(LBSGD(1.0, batch_scale=2)), array([0.0]), array([1.0])
    updater(0, grad, weight)
    grad[:] = 100.0
    assert updater.optimizer.cumgrads[0]["cum_grad"].asscalar() == 1.0  # type: ignore[attr-defined]


def test_each_weight_gathers_its_own() -> None:
    optimizer = LBSGD(learning_rate=1.0, warmup_epochs=0, batch_scale=2)
    updater, weights = get_updater(optimizer), [array([0.0]), array([0.0])]
    updater([0, 1], [array([1.0]), array([2.0])], weights)
    updater(1, array([4.0]), weights[1])
    assert [w.asscalar() for w in weights] == [0.0, -6.0]


def test_lars_strategy_stays_within_its_bounds() -> None:
    for grad, step in ((1e4, 100.0), (1e-4, 0.01)):
        weight = array([1.0])
        get_updater(LBSGD(learning_rate=1.0, warmup_strategy="lars"))(0, array([grad]), weight)
        np.testing.assert_allclose(1.0 - weight.asscalar(), step, rtol=1e-5)


def test_batches_of_no_gradients_are_refused() -> None:
    with pytest.raises(ArgumentError, match="LBSGD: expected batch_scale of 1 or more, got 0"):
        LBSGD(batch_scale=0)
