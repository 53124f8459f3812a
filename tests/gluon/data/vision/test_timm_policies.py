"""RandAugment with timm's operations, against Pillow's functions, which timm calls."""

from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from gluonish.core.errors import ArgumentError
from gluonish.gluon.data.vision.transforms import RandAugment
from gluonish.gluon.data.vision.transforms.policies import operation, timm_space

Array = np.ndarray[Any, Any]
IMAGE = np.random.default_rng(3).integers(0, 256, (21, 17, 3), np.uint8)


def applied(name: str, position: float) -> Array:
    values, _ = timm_space(11, 21, 17)[name]
    magnitude = float(np.interp(position, np.arange(len(values)), values))
    return operation(IMAGE, name, magnitude, 0, (0.0, 0.0, 0.0))


@pytest.mark.parametrize("position", [0.0, 2.5, 3.0, 7.3, 9.9])
def test_bits_and_thresholds_are_those_of_timm(position: float) -> None:
    image = Image.fromarray(IMAGE)
    level = position / 10
    posterized = ImageOps.posterize(image, 4 - int(level * 4))
    np.testing.assert_array_equal(applied("Posterize", position), np.asarray(posterized))
    solarized = ImageOps.solarize(image, 256 - int(level * 256))
    np.testing.assert_array_equal(applied("Solarize", position), np.asarray(solarized))
    added = min(128, int(level * 110))
    table = [min(255, i + added) if i < 128 else i for i in range(256)] * 3
    raised = np.asarray(image.point(table))
    np.testing.assert_array_equal(applied("SolarizeAdd", position), raised)
    np.testing.assert_array_equal(applied("Invert", position), np.asarray(ImageOps.invert(image)))


def test_operations_are_those_of_increasing_mode() -> None:
    assert set(timm_space(11, 8, 8)) == {
        *("AutoContrast", "Equalize", "Invert", "Rotate", "Posterize", "Solarize", "SolarizeAdd"),
        *("Color", "Contrast", "Brightness", "Sharpness"),
        *("ShearX", "ShearY", "TranslateX", "TranslateY"),
    }
    space = timm_space(11, 100, 200)
    assert space["TranslateX"].values[10] == pytest.approx(90)
    assert space["TranslateY"].values[5] == pytest.approx(22.5)


def test_half_of_the_operations_are_left_out() -> None:
    chosen = RandAugment(1, 9, 11, operations="timm")
    counted = 400
    image = IMAGE // 2 + 40  # of little contrast, so that each operation changes it
    same = sum(
        np.array_equal(chosen.augmented(image, np.random.default_rng(i)), image)
        for i in range(counted)
    )
    assert 0.42 < same / counted < 0.58


def test_a_magnitude_is_drawn_around_the_given_one() -> None:
    rng = np.random.default_rng(1)
    chosen = RandAugment(2, 7, 11, magnitude_std=0.5)
    drawn = np.array([chosen._drawn_magnitude(rng) for _ in range(4000)])
    assert drawn.mean() == pytest.approx(7, abs=0.05)
    assert drawn.std() == pytest.approx(0.5, abs=0.03)
    wide = RandAugment(2, 9, 11, magnitude_std=5.0)
    drawn = np.array([wide._drawn_magnitude(rng) for _ in range(1000)])
    assert (drawn.min(), drawn.max()) == (0.0, 10.0)


def test_a_standard_deviation_of_0_draws_the_same_numbers_as_before() -> None:
    first = RandAugment(2, 9).augmented(IMAGE, np.random.default_rng(5))
    second = RandAugment(2, 9, magnitude_std=0).augmented(IMAGE, np.random.default_rng(5))
    np.testing.assert_array_equal(first, second)


def test_other_operations_and_negative_deviations_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"expected operations 'torchvision' or 'timm', got \["):
        RandAugment(operations=["Rotate"])  # type: ignore[arg-type]  # refused
    with pytest.raises(ArgumentError, match="expected operations 'torchvision' or 'timm'"):
        RandAugment(operations="tim")
    with pytest.raises(ArgumentError, match="expected magnitude_std of 0 or more"):
        RandAugment(magnitude_std=-1.0)


def test_the_strongest_posterize_keeps_no_bit() -> None:
    assert not applied("Posterize", 10.0).any()
