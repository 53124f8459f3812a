"""What distinguishes AdaDelta; its numbers are compared in test_optimizer.py."""

import numpy as np

from gluonish.ndarray import array
from gluonish.optimizer import AdaDelta, get_updater


def test_learning_rate_has_no_effect_as_in_mxnet() -> None:
    found = []
    for rate in (0.01, 100.0):
        weight = array([1.0, 2.0])
        get_updater(AdaDelta(learning_rate=rate))(0, array([0.5, -3.0]), weight)
        found.append(weight.asnumpy())
    np.testing.assert_array_equal(*found)


def test_first_step_hardly_depends_on_the_size_of_the_gradient() -> None:
    weight = array([0.0, 0.0])
    get_updater(AdaDelta(epsilon=1e-6))(0, array([10.0, 1000.0]), weight)
    np.testing.assert_allclose(weight.asnumpy(), [-np.sqrt(1e-5)] * 2, rtol=1e-4)
