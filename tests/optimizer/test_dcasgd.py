"""What distinguishes DCASGD; its numbers without momentum are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.ndarray import array
from gluonish.optimizer import DCASGD, get_updater


@pytest.mark.parametrize("size", [4, 20000])
def test_momentum_follows_the_formula(size: int) -> None:
    """MXNet 1.9.1 raises an error there."""
    rng = np.random.default_rng(0)
    weight = rng.normal(size=size)
    ours, previous, momentum = array(weight), weight, np.zeros(size)
    optimizer = DCASGD(0.8, 0.3, learning_rate=0.1, wd=0.2, rescale_grad=0.5, clip_gradient=0.6)
    updater = get_updater(optimizer)
    for _ in range(4):
        grad = rng.uniform(-3, 3, size)
        updater(0, array(grad), ours)
        g = np.clip(grad * 0.5, -0.6, 0.6)
        slope = g + 0.2 * weight + 0.3 * g * g * (weight - previous)
        momentum = 0.8 * momentum - 0.1 * slope
        previous, weight = weight, weight + momentum
        np.testing.assert_allclose(ours.asnumpy(), weight, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(updater.states[0][1].asnumpy(), previous, rtol=1e-5, atol=1e-6)


def test_state_has_a_place_for_momentum_as_in_mxnet() -> None:
    momentum, previous = DCASGD().create_state(0, array([2.0]))
    assert momentum is None
    assert previous.asscalar() == 2.0
