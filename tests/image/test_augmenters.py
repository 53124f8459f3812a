"""Augmenters beyond the golden calls."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import image, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GluonishError

PIXELS = np.random.default_rng(0).integers(0, 256, (9, 8, 3)).astype(np.uint8)
BOXES = np.array([[0, 0.25, 0.25, 0.75, 0.75]], np.float32)

CHANGES: list[Callable[[], Any]] = [
    lambda: image.BrightnessJitterAug(0.3),
    lambda: image.ContrastJitterAug(0.3),
    lambda: image.SaturationJitterAug(0.3),
    lambda: image.HueJitterAug(0.3),
    lambda: image.LightingAug(0.5, [55.46, 4.794, 1.148], np.eye(3)),
    lambda: image.RandomGrayAug(1),
    lambda: image.HorizontalFlipAug(1),
    lambda: image.CenterCropAug((4, 5)),
]
NAMES = ["brightness", "contrast", "saturation", "hue", "light", "gray", "flip", "crop"]


def seeded(augmenter: Any, *inputs: Any) -> Any:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # lighting draws from it
    return augmenter(*inputs)


@pytest.mark.parametrize("make", CHANGES, ids=NAMES)
def test_bytes_become_what_floats_become(make: Callable[[], Any]) -> None:
    found = seeded(make(), nd.array(PIXELS, dtype="uint8"))
    wanted = seeded(make(), nd.array(PIXELS, dtype="float32")).asnumpy()
    assert found.dtype == np.uint8
    assert (found.asnumpy() == np.clip(wanted, 0, 255).astype(np.uint8)).all()


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("make", CHANGES, ids=NAMES)
def test_the_dtype_stays(make: Callable[[], Any], dtype: str) -> None:
    found = seeded(make(), nd.array(PIXELS, dtype=dtype))
    wanted = seeded(make(), nd.array(PIXELS, dtype="float32")).asnumpy()
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-3, atol=0.2)


@pytest.mark.parametrize("make", CHANGES, ids=NAMES)
def test_the_given_image_stays_as_it_was(make: Callable[[], Any]) -> None:
    given = nd.array(PIXELS, dtype="float32")
    made = seeded(make(), given)
    made[:] = 0
    assert (given.asnumpy() == PIXELS).all()


@pytest.mark.parametrize("make", CHANGES, ids=NAMES)
def test_numpy_gives_numpy(make: Callable[[], Any]) -> None:
    found = seeded(make(), PIXELS.astype(np.float32))
    assert isinstance(found, np.ndarray)
    wanted = seeded(make(), nd.array(PIXELS, dtype="float32")).asnumpy()
    assert (found == wanted).all()


def test_np_arrays_come_out_while_they_are_asked_for() -> None:
    with mx.util.np_array(True):
        assert isinstance(image.CastAug()(mx.np.array(PIXELS)), mx.np.ndarray)


def test_augmenters_of_a_program_get_ndarrays() -> None:
    class Inverted(image.Augmenter):
        def __call__(self, src: Any) -> Any:
            assert isinstance(src, nd.NDArray)
            src -= 255  # in place, as programs do
            return -src

    cast = image.CastAug()
    found = image.SequentialAug([cast, Inverted(), lambda src: src + 1])(
        nd.array(PIXELS, dtype="uint8")
    )
    assert (found.asnumpy() == 256 - PIXELS.astype(np.float32)).all()
    assert Inverted(a=np.array([1])).dumps() == '["inverted", {"a": [1]}]'


def test_min_area_is_an_older_name() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        augmenter = image.RandomSizedCropAug((4, 5), 0.2, (0.5, 2), min_area=0.5)
    assert augmenter.area == 0.5
    assert [w.category for w in caught] == [DeprecationWarning]


def test_numbers_normalize_all_channels() -> None:
    found = image.ColorNormalizeAug(3.0, 2.0)(nd.array(PIXELS, dtype="float32"))
    assert (found.asnumpy() == (PIXELS.astype(np.float32) - 3) / 2).all()


def test_what_does_not_fit_a_byte_wraps_around() -> None:
    found = image.CastAug("uint8")(nd.array([[[-1.5, 300, 255.9]]]))
    assert found.asnumpy().tolist() == [[[255, 44, 255]]]


def test_a_canvas_of_one_number_has_it_in_all_channels() -> None:
    augmenter = image.DetRandomPadAug(1.0, 4.0, 50, 7)
    padded, boxes = seeded(augmenter, nd.array(PIXELS, dtype="uint8"), BOXES)
    rows = padded.asnumpy()
    assert padded.shape[0] > 11
    high, wide = padded.shape[:2]
    top = round(float(boxes[0, 2]) * high - 0.25 * 9)
    left = round(float(boxes[0, 1]) * wide - 0.25 * 8)
    assert (rows[top : top + 9, left : left + 8] == PIXELS).all()
    rows[top : top + 9, left : left + 8] = 7
    assert (rows == 7).all()


def test_a_canvas_of_the_image_s_size_is_none() -> None:
    augmenter = image.DetRandomPadAug(area_range=(1.0, 1.0))
    assert not augmenter.enabled
    found, boxes = augmenter(nd.array(PIXELS), BOXES)
    assert found.shape == PIXELS.shape
    assert (boxes == BOXES).all()


def test_given_boxes_stay_as_they_were() -> None:
    for augmenter in (
        image.DetHorizontalFlipAug(1),
        image.DetRandomCropAug(area_range=(0.3, 0.6)),
        image.DetRandomPadAug(),
    ):
        given = BOXES.copy()
        _, boxes = seeded(augmenter, nd.array(PIXELS), given)
        boxes[:] = 5
        assert (given == BOXES).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: image.HorizontalFlipAug(2), ArgumentError, "expected p from 0 to 1, got 2"),
        (
            lambda: image.BrightnessJitterAug(-1)(PIXELS),
            ArgumentError,
            "brightness of at least 0, g",
        ),
        (
            lambda: image.ResizeAug(eval("1.5")),
            ArgumentTypeError,
            "a size in whole pixels, got 1.5",
        ),
        (lambda: image.CastAug()([1]), ArgumentTypeError, "expected an NDArray, got list"),
        (
            lambda: image.DetHorizontalFlipAug(1)(nd.array(PIXELS), BOXES[0]),
            ArgumentError,
            r"expected label \(objects, 5 or more\).* got \(5,\)",
        ),
        (
            lambda: image.CreateDetAugmenter((3, 8, 9), rand_crop=2),
            ArgumentError,
            "expected rand_crop from 0 to 1, got 2",
        ),
        (
            lambda: image.DetRandomPadAug(pad_val=(1, 2))(nd.array(PIXELS), BOXES),
            ArgumentError,
            "expected an image of 2 channels",
        ),
    ],
)
def test_wrong_arguments_are_refused(
    make: Callable[[], Any], error: type[GluonishError], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()
