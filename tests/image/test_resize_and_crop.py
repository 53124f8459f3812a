"""Sizes and regions beyond the golden calls."""

import random

import numpy as np
import pytest

from gluonish import image, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ops.image.resampling import chosen_method

X = nd.array(np.random.default_rng(0).integers(0, 256, (20, 30, 3)), dtype="uint8")


@pytest.mark.parametrize(
    ("new", "method"), [((40, 60), 2), ((10, 15), 3), ((40, 15), 1), ((20, 30), 1)]
)
def test_method_9_goes_by_the_size(new: tuple[int, int], method: int) -> None:
    assert chosen_method(9, (20, 30), new) == method


def test_method_10_is_any() -> None:
    random.seed(0)
    assert {chosen_method(10, (2, 3), (4, 5)) for _ in range(100)} == set(range(5))


@pytest.mark.parametrize("interp", [-1, 5, 11])
def test_another_method_is_refused(interp: int) -> None:
    with pytest.raises(ArgumentError, match=f"expected interp from 0 to 4, 9 or 10, got {interp}"):
        image.imresize(X, 4, 5, interp)


def test_a_size_may_be_filled_in() -> None:
    out = nd.zeros((5, 4, 3), dtype="uint8")
    assert image.imresize(X, 4, 5, out=out) is out
    assert (out.asnumpy() == image.imresize(X, 4, 5).asnumpy()).all()


def test_random_regions_stay_inside_and_vary() -> None:
    random.seed(1)
    regions = [image.random_crop(X, (8, 6))[1] for _ in range(200)]
    assert {x for x, *_ in regions} == set(range(23))
    assert {y for _, y, *_ in regions} == set(range(15))
    assert {region[2:] for region in regions} == {(8, 6)}


def test_random_sizes_keep_area_and_proportions() -> None:
    random.seed(1)
    for _ in range(200):
        made, (x, y, w, h) = image.random_size_crop(X, (4, 4), (0.1, 0.4), (0.5, 2))
        assert made.shape == (4, 4, 3)
        assert 0 <= x <= 30 - w
        assert 0 <= y <= 20 - h
        assert 0.05 < w * h / 600 < 0.5
        assert 0.4 < w / h < 2.5


def test_the_old_name_of_area_warns() -> None:
    with pytest.warns(DeprecationWarning, match="use area, not min_area"):
        image.random_size_crop(X, (4, 4), 0, (1, 1), min_area=0.9)


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="no other keyword than min_area, got foo"):
        image.random_size_crop(X, (4, 4), 0.5, (1, 1), foo=2)


def test_normalizing_works_in_place_with_plain_numbers() -> None:
    x = X.astype("float32")
    want = (X.asnumpy() - np.array([1, 2, 3])) / np.array([4, 5, 6])
    assert image.color_normalize(x, (1, 2, 3), np.array([4, 5, 6])) is x
    np.testing.assert_allclose(x.asnumpy(), want, rtol=1e-5)


def test_rotating_one_pixel_is_no_change() -> None:
    x = nd.full((1, 1, 1), 7)
    assert image.imrotate(x, 30).asnumpy().tolist() == [[[7]]]


def test_a_batch_turns_as_its_images_do() -> None:
    x = nd.array(np.random.default_rng(0).random((3, 2, 7, 9)))
    angles = nd.array([10, -70, 130])
    found = image.imrotate(x, angles, zoom_out=True).asnumpy()
    for i, angle in enumerate(angles.asnumpy()):
        want = image.imrotate(x[i], float(angle), zoom_out=True).asnumpy()
        np.testing.assert_allclose(found[i], want, atol=1e-5)
