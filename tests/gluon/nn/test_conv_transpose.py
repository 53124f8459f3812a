import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.ndarray import ones


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Conv1DTranspose(3, 2, layout="NWC"), "Conv1DTranspose: expected layout NCW"),
        (lambda: nn.Conv2DTranspose(3, 2, layout="NCW"), "layout NCHW or NHWC, got 'NCW'"),
        (lambda: nn.Conv3DTranspose(3, (2, 2)), "Conv3DTranspose kernel_size: expected an int"),
        (lambda: nn.Conv2DTranspose(3, 2, output_padding=(1,)), "output_padding: .* or 2 ints"),
        (lambda: nn.Conv2DTranspose(3, 2, groups=2), "groups=2 divides, got 3 and 0"),
    ],
)
def test_wrong_argument_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ArgumentError, match=message):
        make()


def test_input_channels_come_from_the_first_batch() -> None:
    layer = nn.Conv2DTranspose(6, 3, strides=2, groups=2)
    layer.initialize()
    assert layer(ones((1, 4, 3, 5))).shape == (1, 6, 7, 11)
    assert layer.weight.shape == (4, 3, 3, 3)


def test_weight_follows_the_layout() -> None:
    layer = nn.Conv2DTranspose(6, (2, 3), layout="NHWC", in_channels=4)
    assert layer.weight.shape == (4, 2, 3, 6)


def test_it_undoes_the_shape_of_a_convolution() -> None:
    down, up = nn.Conv2D(4, 3, 2, 1), nn.Conv2DTranspose(3, 3, 2, 1, 1)
    down.initialize()
    up.initialize()
    x = ones((2, 3, 8, 6))
    y = up(down(x))
    assert y.shape == x.shape
    assert np.isfinite(y.asnumpy()).all()
