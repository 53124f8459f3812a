"""What distinguishes NAG; its numbers are compared in test_optimizer.py."""

import numpy as np

from gluonish.ndarray import array
from gluonish.optimizer import NAG, get_updater


def test_step_looks_ahead_along_the_momentum() -> None:
    weight = array([1.0])
    get_updater(NAG(learning_rate=0.5, momentum=0.5))(0, array([1.0]), weight)
    np.testing.assert_allclose(weight.asnumpy(), [1.0 - 0.5 - 0.25])


def test_without_momentum_there_is_no_state() -> None:
    assert NAG().create_state(0, array([1.0])) is None
