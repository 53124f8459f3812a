"""What distinguishes AdaGrad; its numbers are compared in test_optimizer.py."""

import numpy as np

from gluonish.ndarray import array
from gluonish.optimizer import AdaGrad, get_updater


def test_steps_shrink_with_the_root_of_their_number() -> None:
    weight, updater = array([0.0]), get_updater(AdaGrad(learning_rate=1.0))
    steps = []
    for _ in range(4):
        before = weight.asscalar()
        updater(0, array([3.0]), weight)
        steps.append(before - weight.asscalar())
    np.testing.assert_allclose(steps, 1 / np.sqrt([1, 2, 3, 4]), rtol=1e-5)


def test_files_know_its_epsilon_by_mxnets_name() -> None:
    assert AdaGrad(eps=0.5).__getstate__()["float_stable_eps"] == 0.5
