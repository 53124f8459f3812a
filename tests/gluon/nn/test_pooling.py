import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.MaxPool2D((2, 2, 2)), "MaxPool2D pool_size: expected an int or 2"),
        (
            lambda: nn.AvgPool2D(strides=(1, 2, 3))(nd.ones((1, 1, 4, 4))),
            "AvgPool2D strides: expected an int or 2",
        ),
        (lambda: nn.MaxPool1D(layout="NCHW"), "MaxPool1D: expected layout NCW or NWC"),
        (lambda: nn.GlobalAvgPool3D(layout="NCHW"), "expected layout NCDHW or NDHWC"),
    ],
)
def test_wrong_argument_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ArgumentError, match=message):
        make()


def test_windows_do_not_overlap_unless_told() -> None:
    assert "size=(3, 3), stride=(3, 3)" in repr(nn.MaxPool2D(3))
    assert "size=(3, 3), stride=(1, 1)" in repr(nn.MaxPool2D(3, 1))


def test_channels_may_be_last() -> None:
    assert repr(nn.GlobalAvgPool2D(layout="NHWC")).endswith("layout=NHWC)")
