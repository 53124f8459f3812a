import pytest

from gluonish.autograd import backward, record
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.ndarray import array


def test_negative_slope_is_refused() -> None:
    with pytest.raises(ArgumentError, match="alpha of at least 0, got -1"):
        nn.LeakyReLU(-1)


def test_slope_of_prelu_is_trained() -> None:
    layer = nn.PReLU()
    layer.initialize()
    with record():
        loss = layer(array([[-2, 3]])).sum()
    backward(loss)
    assert layer.alpha.grad().asnumpy().tolist() == [-2]
