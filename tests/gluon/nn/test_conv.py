import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.ndarray import ones


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Conv1D(3, 2, layout="NWC"), "Conv1D: expected layout NCW, got 'NWC'"),
        (lambda: nn.Conv2D(3, 2, layout="NCW"), "layout NCHW or NHWC, got 'NCW'"),
        (lambda: nn.Conv3D(3, 2, layout="NHWC"), "layout NCDHW or NDHWC, got 'NHWC'"),
        (lambda: nn.Conv2D(4, (3, 3, 3)), r"kernel_size: expected an int or 2 ints"),
        (lambda: nn.Conv2D(4, 3, strides=(1, 1, 1)), r"strides: .*got \(1, 1, 1\)"),
        (lambda: nn.Conv2D(4, 3, groups=3), "groups=3 divides, got 4 and 0"),
        (lambda: nn.Conv2D(4, 3, groups=2, in_channels=3), "groups=2 divides, got 4 and 3"),
    ],
)
def test_wrong_argument_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ArgumentError, match=message):
        make()


def test_weight_follows_the_layout() -> None:
    first, last = nn.Conv2D(4, (2, 3), in_channels=6, groups=2), nn.Conv2D(4, 3, layout="NHWC")
    assert first.weight.shape == (4, 3, 2, 3)
    assert last.weight.shape == (4, 3, 3, 0)
    assert repr(last).startswith("Conv2D(None -> 4")


def test_input_channels_come_from_the_first_batch() -> None:
    layer = nn.Conv2D(4, 3)
    layer.initialize()
    assert layer(ones((1, 5, 4, 4))).shape == (1, 4, 2, 2)
    assert layer.weight.shape == (4, 5, 3, 3)
    assert repr(layer) == "Conv2D(5 -> 4, kernel_size=(3, 3), stride=(1, 1))"
