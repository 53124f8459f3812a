"""What distinguishes Signum; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.ndarray import array
from gluonish.optimizer import Signum, get_updater


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_steps_have_one_length(momentum: float) -> None:
    weight = array([1.0, 1.0, 1.0])
    get_updater(Signum(0.25, momentum))(0, array([5.0, -0.01, 0.0]), weight)
    assert weight.asnumpy().tolist() == [0.75, 1.25, 1.0]


@pytest.mark.parametrize("size", [3, 20000])
def test_scale_has_no_part_without_momentum(size: int) -> None:
    weight = array(np.ones(size))
    get_updater(Signum(0.25, 0.0, rescale_grad=-1.0))(0, array(np.full(size, 2.0)), weight)
    np.testing.assert_array_equal(weight.asnumpy(), np.full(size, 0.75))


def test_decay_beside_the_momentum_takes_a_momentum() -> None:
    with pytest.raises(ArgumentError, match=r"wd_lh 0 without momentum, got 0\.5"):
        Signum(momentum=0.0, wd_lh=0.5)
