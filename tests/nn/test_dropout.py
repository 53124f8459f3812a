import numpy as np
import pytest

from gluonish import nn
from gluonish.autograd import train_mode
from gluonish.core.errors import ArgumentError
from gluonish.ndarray import ones


def test_only_training_drops() -> None:
    layer, x = nn.Dropout(0.5), ones((100, 100))
    np.testing.assert_array_equal(layer(x).asnumpy(), x.asnumpy())
    with train_mode():
        y = layer(x).asnumpy()
    assert set(np.unique(y)) == {0.0, 2.0}
    assert abs(y.mean() - 1) < 0.1


@pytest.mark.parametrize("rate", [-0.1, 1, 2])
def test_rate_that_is_no_probability_is_refused(rate: float) -> None:
    with pytest.raises(ArgumentError, match=r"rate in \[0, 1\)"):
        nn.Dropout(rate)
