"""What distinguishes RMSProp; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.ndarray import array
from gluonish.optimizer import RMSProp, get_updater


@pytest.mark.parametrize(("centered", "count"), [(False, 1), (True, 3)])
def test_state_is_a_tuple_of_means(centered: bool, count: int) -> None:
    state = RMSProp(centered=centered).create_state(0, array([1.0, 2.0]))
    assert [x.shape for x in state] == [(2,)] * count


def test_weights_stay_within_their_limit() -> None:
    weight = array([5.0, -5.0])
    get_updater(RMSProp(clip_weights=0.5))(0, array([1.0, 1.0]), weight)
    np.testing.assert_array_equal(weight.asnumpy(), [0.5, -0.5])
