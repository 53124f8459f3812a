"""What distinguishes Adamax; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.ndarray import array
from gluonish.optimizer import Adamax, get_updater


@pytest.mark.parametrize("count", [3, 20000])
def test_weight_without_gradient_stays(count: int) -> None:
    """MXNet 1.9.1 divides 0 by 0 there, and the weight is NaN for good."""
    weight, updater = array(np.ones(count)), get_updater(Adamax(learning_rate=0.5))
    for _ in range(3):
        updater(0, array(np.zeros(count)), weight)
    np.testing.assert_array_equal(weight.asnumpy(), np.ones(count))


def test_first_step_is_the_learning_rate() -> None:
    weight = array([1.0, 1.0])
    get_updater(Adamax(learning_rate=0.125))(0, array([5.0, -0.01]), weight)
    np.testing.assert_allclose(weight.asnumpy(), [0.875, 1.125], rtol=1e-6)
