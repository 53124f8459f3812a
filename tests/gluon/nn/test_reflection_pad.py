import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.ndarray import arange


def test_border_is_the_mirror() -> None:
    x = arange(9).reshape((1, 1, 3, 3))
    y = nn.ReflectionPad2D(1)(x).asnumpy()[0, 0]
    assert y[0].tolist() == [4, 3, 4, 5, 4]
    assert y[1].tolist() == [1, 0, 1, 2, 1]


def test_wrong_number_of_widths_is_refused() -> None:
    with pytest.raises(ArgumentError, match="an int or 8 ints"):
        nn.ReflectionPad2D((1, 2, 3, 4))
