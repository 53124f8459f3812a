"""The hint for images with channels last: for images, and for nothing else."""

import warnings
from typing import Any

import pytest

import gluonish as mx
from gluonish import nd
from gluonish.gluon import nn
from gluonish.gluon.block.layout_hint import looks_channels_last


def said(net: Any, shape: tuple[int, ...]) -> list[str]:
    """Return the warnings of the first two calls of a network."""
    net.initialize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            net(nd.ones(shape))
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("shape", [(2, 32, 24, 3), (1, 64, 64, 4)])
def test_images_with_channels_last_are_named_once(shape: tuple[int, ...], hybridized: bool) -> None:
    net = nn.HybridSequential(nn.Conv2D(4, 3), nn.Conv2D(2, 1))
    net.hybridize(hybridized)
    (message,) = said(net, shape)
    assert message.startswith("Conv2D conv")
    assert f"(net[0]): expected images (N, C, H, W), got {shape}" in message
    assert "layout='NHWC'" in message


@pytest.mark.parametrize(
    "shape",
    [
        (2, 3, 32, 32),
        (2, 1, 28, 28),
        (2, 512, 4, 4),
        (2, 64, 128, 1),
        (2, 16, 9, 3),
        (2, 3, 4, 3),
        (2, 128, 16, 16),
    ],
)
def test_other_shapes_say_nothing(shape: tuple[int, ...]) -> None:
    assert said(nn.Conv2D(4, 1), shape) == []
    assert not looks_channels_last(shape)


def test_known_channels_and_other_layers_say_nothing() -> None:
    assert said(nn.Conv2D(4, 1, in_channels=32), (2, 32, 32, 3)) == []
    assert said(nn.Conv2D(4, 3, layout="NHWC"), (2, 32, 32, 3)) == []
    assert said(nn.Dense(4), (2, 32, 32, 3)) == []
    assert said(nn.Conv3D(4, 1), (2, 8, 32, 32, 3)) == []


def test_a_square_with_one_value_last_is_an_image() -> None:
    net = nn.Conv2D(4, 1)
    (message,) = said(net, (2, 28, 28, 1))
    assert "in_channels=28 asks for this shape" in message


def test_too_narrow_images_are_an_error_with_the_order() -> None:
    net = nn.Conv2D(4, 3)
    net.initialize()
    with pytest.raises(mx.MXNetError, match=r"x\.transpose\(\(0, 3, 1, 2\)\)"):
        net(nd.ones((2, 28, 28, 1)))
