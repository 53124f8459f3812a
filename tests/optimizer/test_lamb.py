"""What distinguishes LAMB; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.ndarray import array
from gluonish.optimizer import LAMB, get_updater


def test_step_is_the_share_of_the_weight_that_the_learning_rate_says() -> None:
    before = np.array([3.0, 4.0], np.float32)
    weight = array(before)
    get_updater(LAMB(learning_rate=0.1))(0, array([7.0, -2.0]), weight)
    step = np.linalg.norm(weight.asnumpy() - before)
    np.testing.assert_allclose(step, 0.5, rtol=1e-5)


@pytest.mark.parametrize(("weight", "grad"), [([0.0, 0.0], [1.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])])
def test_norm_of_0_leaves_the_step_as_it_is(weight: list[float], grad: list[float]) -> None:
    trained = array(weight)
    get_updater(LAMB(learning_rate=0.1))(0, array(grad), trained)
    expected = np.array(weight) - 0.1 * np.sign(grad)
    np.testing.assert_allclose(trained.asnumpy(), expected, rtol=1e-4)


@pytest.mark.parametrize(("size", "kept"), [(10, 10), (60, 45)])
def test_files_tell_mxnets_number_of_aggregated_weights(size: int, kept: int) -> None:
    assert LAMB().aggregate_num == 45
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(size):
        assert LAMB().aggregate_num == kept
