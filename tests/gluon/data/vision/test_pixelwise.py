"""Transforms of levels: bytes as Pillow's exactly, floats as their definitions."""

from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data.vision import transforms as T
from gluonish.gluon.data.vision.transforms import levels

RNG = np.random.default_rng(3)


def _images() -> dict[str, Any]:
    noise = RNG.integers(0, 256, (37, 41, 3)).astype(np.uint8)
    ramp = np.add.outer(np.arange(64), np.arange(50))[..., None] + np.array([0, 40, 90])
    few = RNG.integers(100, 104, (30, 30, 3)).astype(np.uint8)
    return {
        "noise": noise,
        "ramp": ramp.astype(np.uint8),
        "dark": (noise // 4 + 20).astype(np.uint8),
        "few levels": few,
        "constant": np.full((9, 8, 3), 77, np.uint8),
        "tiny": noise[:2, :2],
        "one row": noise[:1],
        "gray": noise[..., :1],
        "large": np.repeat(np.repeat(noise, 5, 0), 4, 1),
    }


IMAGES = _images()
FACTORS = (0.0, 0.1, 0.5, 0.73, 1.0, 1.3, 1.9, 4.0)


def _pil(values: Any) -> Any:
    return Image.fromarray(values[..., 0] if values.shape[2] == 1 else values)


def _same(got: Any, image: Any) -> None:
    want = np.asarray(image)
    np.testing.assert_array_equal(got, want[..., None] if want.ndim == 2 else want)


@pytest.mark.parametrize("name", IMAGES)
def test_bytes_equal_pillow(name: str) -> None:
    values = IMAGES[name]
    x, image = nd.array(values, dtype="uint8"), _pil(values)
    _same(T.AutoContrast()(x).asnumpy(), ImageOps.autocontrast(image))
    _same(T.Equalize()(x).asnumpy(), ImageOps.equalize(image))
    _same(T.Invert()(x).asnumpy(), ImageOps.invert(image))
    for bits in range(1, 9):
        _same(T.Posterize(bits)(x).asnumpy(), ImageOps.posterize(image, bits))
    for threshold in (0, 1, 100, 127.5, 128, 255):
        _same(T.Solarize(threshold)(x).asnumpy(), ImageOps.solarize(image, threshold))  # type: ignore[arg-type]  # floats are compared, too
    if min(values.shape[:2]) >= 3:
        for factor in FACTORS:
            sharp = ImageEnhance.Sharpness(image).enhance(factor)
            _same(T.Sharpness(factor)(x).asnumpy(), sharp)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", IMAGES)
def test_colors_of_policies_equal_pillow(name: str, factor: float) -> None:
    values = IMAGES[name]
    image = _pil(values)
    _same(levels.with_brightness(values, factor), ImageEnhance.Brightness(image).enhance(factor))
    _same(levels.with_contrast(values, factor), ImageEnhance.Contrast(image).enhance(factor))
    _same(levels.with_saturation(values, factor), ImageEnhance.Color(image).enhance(factor))


@pytest.mark.parametrize("name", IMAGES)
def test_tables_need_no_opencv(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "open_cv", lambda: None)
    x, image = nd.array(IMAGES[name], dtype="uint8"), _pil(IMAGES[name])
    _same(T.AutoContrast()(x).asnumpy(), ImageOps.autocontrast(image))
    _same(T.Equalize()(x).asnumpy(), ImageOps.equalize(image))


def _call(transform: Any, values: Any) -> Any:
    return transform(nd.array(values, dtype=values.dtype)).asnumpy()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_follow_the_definitions(dtype: str) -> None:
    x = RNG.uniform(0.2, 0.7, (20, 24, 3)).astype(dtype)
    exact = x.astype(np.float64)
    tolerance = {"rtol": 0, "atol": 4e-3 if dtype == "float16" else 1e-6}
    low, high = exact.min((0, 1)), exact.max((0, 1))
    wanted = {
        T.Invert(): 1 - exact,
        T.AutoContrast(): (exact - low) / (high - low),
        T.Posterize(3): np.floor(exact * 8) / 8,
        T.Solarize(127.5): np.where(exact >= 0.5, 1 - exact, exact),
    }
    for transform, want in wanted.items():
        got = _call(transform, x)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, **tolerance)
    smooth = exact.copy()
    window = np.lib.stride_tricks.sliding_window_view(exact, (3, 3), axis=(0, 1))
    smooth[1:-1, 1:-1] = (window.sum((-2, -1)) + 4 * exact[1:-1, 1:-1]) / 13
    want = np.clip(smooth + 1.5 * (exact - smooth), 0, 1)
    np.testing.assert_allclose(_call(T.Sharpness(1.5), x), want, **tolerance)


def test_floats_equalize_as_bytes_do() -> None:
    x = IMAGES["dark"]
    got = _call(T.Equalize(), (x / 255).astype(np.float32))
    np.testing.assert_allclose(got * 255, _call(T.Equalize(), x), atol=1e-4)


def test_alpha_does_not_change() -> None:
    x = RNG.integers(0, 256, (12, 14, 4)).astype(np.uint8)
    for transform in (T.AutoContrast(), T.Equalize(), T.Invert(), T.Posterize(2), T.Sharpness(2)):
        got = _call(transform, x)
        np.testing.assert_array_equal(got[..., 3], x[..., 3])
        np.testing.assert_array_equal(
            got[..., :3], _call(transform, np.ascontiguousarray(x[..., :3]))
        )


def test_probability_is_kept_and_seeds_repeat() -> None:
    x = nd.array(IMAGES["noise"], dtype="uint8")
    invert = T.Invert(p=0.3)

    def changed() -> list[bool]:
        mx.random.seed(5)
        return [bool((invert(x) != x).asnumpy().any()) for _ in range(400)]

    first = changed()
    assert 0.2 < np.mean(first) < 0.4
    assert changed() == first
    np.testing.assert_array_equal(T.Invert(p=0)(x).asnumpy(), x.asnumpy())


def test_input_is_not_modified_and_label_passes() -> None:
    x = nd.array(IMAGES["noise"], dtype="uint8")
    y, label = T.Invert()(x, 4)
    assert label == 4
    np.testing.assert_array_equal(x.asnumpy(), IMAGES["noise"])
    np.testing.assert_array_equal(y.asnumpy(), 255 - IMAGES["noise"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.AutoContrast(p=1.2), r"AutoContrast: expected p in \[0, 1\], got 1.2"),
        (lambda: T.Posterize(9), r"Posterize: expected bits from 1 to 8, got 9"),
        (lambda: T.Posterize(0), r"Posterize: expected bits from 1 to 8, got 0"),
        (lambda: T.Posterize(2.5), r"Posterize: expected bits to be an int, got 2.5"),
        (lambda: T.Solarize(-1), r"Solarize: expected threshold in \[0, 255\], got -1"),
        (lambda: T.Solarize("x"), r"Solarize: expected threshold to be a number, got 'x'"),
        (lambda: T.Sharpness(-0.1), r"Sharpness: expected sharpness_factor of 0 or more, got -0.1"),
        (lambda: T.Invert(p=float("nan")), r"Invert: expected p in \[0, 1\], got nan"),
    ],
)
def test_arguments_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((4, 4), np.uint8), r"Invert: expected an image \(height, width, 1, 3 or 4"),
        (np.zeros((4, 4, 2), np.uint8), r"got shape \(4, 4, 2\)"),
        (np.zeros((4, 4, 3), np.int32), r"Invert: expected an image of uint8 or floats, got int32"),
        (np.full((4, 4, 3), 200, np.float32), r"expected floats in \[0, 1\], got values from 200"),
    ],
)
def test_other_arrays_are_refused(values: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        _call(T.Invert(), values)
