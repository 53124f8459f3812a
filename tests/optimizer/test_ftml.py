"""What distinguishes FTML; its numbers are compared in test_optimizer.py."""

import numpy as np

from gluonish.ndarray import array
from gluonish.optimizer import FTML, get_updater


def test_first_step_is_the_learning_rate() -> None:
    weight = array([1.0, 1.0])
    get_updater(FTML(learning_rate=0.125))(0, array([5.0, -0.01]), weight)
    np.testing.assert_allclose(weight.asnumpy(), [0.875, 1.125], rtol=1e-5)


def test_each_weight_counts_its_own_updates() -> None:
    updater = get_updater(FTML(learning_rate=0.125))
    old, new = array([1.0]), array([1.0])
    for _ in range(10):
        updater(0, array([3.0]), old)
    updater([0, 1], [array([3.0]), array([3.0])], [old, new])
    np.testing.assert_allclose(new.asnumpy(), [0.875], rtol=1e-5)
