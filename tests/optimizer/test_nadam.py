"""What distinguishes Nadam; its numbers are compared in test_optimizer.py."""

import numpy as np

from gluonish.ndarray import array
from gluonish.optimizer import Nadam, get_updater


def test_weights_share_the_schedule_one_after_the_other() -> None:
    """As MXNet has it: equal weights with equal gradients move apart."""
    together, alone = Nadam(), Nadam()
    weights, others = [array([1.0]) for _ in range(3)], [array([1.0]) for _ in range(3)]
    get_updater(together)([0, 1, 2], [array([1.0])] * 3, weights)
    updater = get_updater(alone)
    for i, weight in enumerate(others):
        updater(i, array([1.0]), weight)
    found = [w.asscalar() for w in weights]
    assert found == [w.asscalar() for w in others]
    assert len(set(found)) == 3
    assert together.m_schedule == alone.m_schedule


def test_schedule_is_that_of_mxnet() -> None:
    """Numbers that MXNet 1.9.1 gave for three weights of two steps."""
    optimizer = Nadam()
    updater, weights = get_updater(optimizer), [array([1.0]) for _ in range(3)]
    gradients = [array([1.0]), array([2.0]), array([3.0])]
    updater([0, 1, 2], gradients, weights)
    found = [w.asscalar() for w in weights]
    np.testing.assert_allclose(found, [0.99894357, 0.99926084, 0.999348], rtol=1e-6)
    np.testing.assert_allclose(optimizer.m_schedule, 0.09116964249490664, rtol=1e-12)
    updater([0, 1, 2], gradients, weights)
    found = [w.asscalar() for w in weights]
    np.testing.assert_allclose(found, [0.998283, 0.9986144, 0.99870765], rtol=1e-6)
