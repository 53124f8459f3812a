"""Colours of images of 1, 3 and 4 channels: a fourth one, alpha, stays as it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, OperatorError

transforms = mx.gluon.data.vision.transforms
image = mx.nd.image
Change = Callable[[Any], Any]

OPERATORS: dict[str, Change] = {
    "brightness": lambda x: image.random_brightness(x, 0.5, 0.5),
    "contrast": lambda x: image.random_contrast(x, 0.5, 0.5),
    "saturation": lambda x: image.random_saturation(x, 0.5, 0.5),
    "hue": lambda x: image.random_hue(x, 0.3, 0.3),
    "jitter": lambda x: image.random_color_jitter(x, 0.3, 0.3, 0.3, 0.3),
    "random lighting": lambda x: image.random_lighting(x, 5),
    "lighting": lambda x: image.adjust_lighting(x, alpha=(0.1, 0.2, -0.3)),
}
BLOCKS: dict[str, Callable[[], Any]] = {
    "brightness": lambda: transforms.RandomBrightness(0.5),
    "contrast": lambda: transforms.RandomContrast(0.5),
    "saturation": lambda: transforms.RandomSaturation(0.5),
    "hue": lambda: transforms.RandomHue(0.5),
    "jitter": lambda: transforms.RandomColorJitter(0.3, 0.3, 0.3, 0.3),
    "lighting": lambda: transforms.RandomLighting(5),
    "gray": lambda: transforms.RandomGray(1),
}
AUGMENTERS: dict[str, Callable[[], Any]] = {
    "contrast": lambda: mx.image.ContrastJitterAug(0.5),
    "saturation": lambda: mx.image.SaturationJitterAug(0.5),
    "hue": lambda: mx.image.HueJitterAug(0.5),
    "lighting": lambda: mx.image.LightingAug(5, np.ones(3), np.eye(3)),
    "gray": lambda: mx.image.RandomGrayAug(1),
    "jitter": lambda: mx.image.ColorJitterAug(0.3, 0.3, 0.3),
}
NEEDS_COLORS = ("hue", "lighting", "gray")


def pixels(channels: int, dtype: str) -> Any:
    values = np.random.default_rng(channels).integers(20, 200, (5, 7, channels))
    return mx.nd.array(values, dtype=dtype)


def check(change: Change, dtype: str) -> None:
    """Check that of 4 channels the first three come as they do alone, and the last stays."""
    x = pixels(4, dtype)
    mx.random.seed(3)
    np.random.seed(3)  # noqa: NPY002  # augmenters draw from it
    found = change(x).asnumpy()
    mx.random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    expected = change(x[:, :, :3]).asnumpy()
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found[..., 3], x.asnumpy()[..., 3])
    np.testing.assert_allclose(
        found[..., :3].astype(float), expected, rtol=1e-5, atol=1 if dtype == "uint8" else 1e-3
    )
    assert (found != x.asnumpy())[..., :3].any()


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", list(OPERATORS))
def test_operator_leaves_alpha(name: str, dtype: str) -> None:
    check(OPERATORS[name], dtype)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", list(BLOCKS))
def test_transform_leaves_alpha(name: str, hybridize: bool) -> None:
    block = BLOCKS[name]()
    if hybridize:
        block.hybridize()
    check(block, "uint8")
    check(block, "float32")


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", list(AUGMENTERS))
def test_augmenter_leaves_alpha(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    monkeypatch.setattr("random.shuffle", lambda parts: None)
    check(AUGMENTERS[name](), dtype)


def test_brightness_augmenter_leaves_alpha_of_four_channels_only() -> None:
    change = mx.image.BrightnessJitterAug(0.5)
    x = pixels(4, "float32")
    np.testing.assert_array_equal(change(x).asnumpy()[..., 3], x.asnumpy()[..., 3])
    x = pixels(5, "float32")  # as in MXNet, of any other number
    factors = change(x).asnumpy() / x.asnumpy()
    np.testing.assert_allclose(factors, factors[0, 0, 0], rtol=1e-6)


@pytest.mark.parametrize("name", ["brightness", "contrast"])
def test_gray_image_changes_in_brightness_and_contrast(name: str) -> None:
    x = pixels(1, "float32")
    mean = 0 if name == "brightness" else x.asnumpy().mean()
    expected = 0.5 * x.asnumpy() + 0.5 * mean
    np.testing.assert_allclose(OPERATORS[name](x).asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["saturation", "hue", "random lighting", "lighting"])
def test_gray_image_has_no_colors_to_change(name: str) -> None:
    x = pixels(1, "uint8")
    np.testing.assert_array_equal(OPERATORS[name](x).asnumpy(), x.asnumpy())


@pytest.mark.parametrize("channels", [2, 5])
def test_other_numbers_of_channels_are_refused(channels: int) -> None:
    x = pixels(channels, "uint8")
    message = "of 1, 3 or 4 channels"
    for change in OPERATORS.values():
        with pytest.raises(OperatorError, match=message):
            change(x)
    for make in BLOCKS.values():
        with pytest.raises(OperatorError, match=message):
            make()(x)
        with pytest.raises(OperatorError, match=message):
            make()(mx.sym.var("x", shape=x.shape)).infer_shape()
    for name, make in AUGMENTERS.items():
        counts = "3 or 4" if name in NEEDS_COLORS else "1, 3 or 4"
        with pytest.raises(ArgumentError, match=f"expected an image of {counts} channels"):
            make()(x)


@pytest.mark.parametrize("name", NEEDS_COLORS)
def test_augmenters_of_colors_refuse_gray_images_as_mxnet_does(name: str) -> None:
    with pytest.raises(ArgumentError, match="expected an image of 3 or 4 channels, got"):
        AUGMENTERS[name]()(pixels(1, "uint8"))


def test_transform_that_draws_no_gray_checks_channels_too() -> None:
    block = transforms.RandomGray(0)
    with pytest.raises(OperatorError, match="of 1, 3 or 4 channels"):
        block.on_host(pixels(2, "uint8").asnumpy())


def test_alpha_stays_in_a_loader() -> None:
    x = mx.nd.stack(pixels(4, "uint8"), pixels(4, "uint8"))
    data = mx.gluon.data.ArrayDataset(x).transform(transforms.RandomColorJitter(0.5, 0.5, 0.5))
    for batch in mx.gluon.data.DataLoader(data, 2, num_workers=0):
        np.testing.assert_array_equal(batch.asnumpy()[..., 3], x.asnumpy()[..., 3])
