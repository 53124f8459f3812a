import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.autograd import train_mode
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.ndarray import ones


def test_only_training_drops() -> None:
    layer, x = nn.Dropout(0.5), ones((100, 100))
    np.testing.assert_array_equal(layer(x).asnumpy(), x.asnumpy())
    with train_mode():
        y = layer(x).asnumpy()
    assert set(np.unique(y)) == {0.0, 2.0}
    assert abs(y.mean() - 1) < 0.1


def test_a_single_axis_shares_a_decision() -> None:
    with train_mode():
        y = nn.Dropout(0.5, axes=1)(ones((100, 20))).asnumpy()
    np.testing.assert_array_equal(y, np.broadcast_to(y[:, :1], y.shape))
    assert set(np.unique(y)) == {0.0, 2.0}


@pytest.mark.parametrize("rate", [1.5, 2])
def test_rate_that_is_no_probability_is_refused_at_the_call(rate: float) -> None:
    layer = nn.Dropout(rate)
    with pytest.raises(ArgumentError, match=r"rate in \[0, 1\]"):
        layer(nd.ones((2,)))


def test_rate_1_is_the_identity_outside_training_and_leaves_nothing_in_it() -> None:
    layer, x = nn.Dropout(1), nd.ones((3,))
    assert layer(x).tolist() == [1, 1, 1]
    with autograd.record():
        assert layer(x).tolist() == [0, 0, 0]
