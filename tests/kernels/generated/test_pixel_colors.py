"""Generated kernels change colours as the reference kernels do, in any layout and number."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.pixel_colors import changed_colors
from gluonish.ops.image.color import COLOR_STEPS
from gluonish.ops.registry import find_operator

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

IMAGE = np.random.default_rng(0).integers(0, 256, (37, 41, 3)).astype(np.uint8)
IMAGE[::2] = IMAGE[::2, :, :1]  # rows without colours

RANGE = {"min_factor": 0.3, "max_factor": 1.9}
CALLS: dict[str, dict[str, Any]] = {
    "_image_random_brightness": RANGE,
    "_image_random_contrast": RANGE,
    "_image_random_saturation": RANGE,
    "_image_random_hue": RANGE,
    "_image_random_color_jitter": {
        "brightness": 0.5,
        "contrast": 0.5,
        "saturation": 0.5,
        "hue": 0.3,
    },
    "_image_random_lighting": {"alpha_std": 0.3},
    "_image_adjust_lighting": {"alpha": (0.3, -0.2, 0.4)},
}
VIEWS = {
    "whole": IMAGE,
    "region": IMAGE[3:30, 5:40],
    "columns_reversed": IMAGE[2:, 1:][:, ::-1],
    "rows_reversed": IMAGE[::-1],
    "blue_first": IMAGE[..., ::-1],
    "every_second": IMAGE[::2, ::3],
    "turned": IMAGE.transpose(1, 0, 2),
    "without_alpha": np.concatenate([IMAGE, IMAGE[..., :1]], axis=2)[..., :3],
    "one_pixel": IMAGE[4:5, 4:5],
}


def both(name: str, image: Any, number: int = 0) -> tuple[Any, Any]:
    """What the generated and the reference kernel make of an image with the same draw."""
    op = find_operator(name)
    attrs = dict(CALLS[name])
    if op.random:
        attrs["key"] = (99, number)
    kernel = op.select_kernel("cpu", (Spec(image.shape, image.dtype),), attrs)
    assert kernel is not op.kernel
    got, want = np.empty((2, *image.shape), image.dtype)
    kernel(np, got, image, **attrs)
    op.kernel(np, want, image, **attrs)
    return got, want


def test_every_change_of_colours_is_tried() -> None:
    assert CALLS.keys() == COLOR_STEPS.keys()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", CALLS)
def test_floats_are_those_of_the_reference(name: str, view: str) -> None:
    for number in range(6):
        got, want = both(name, VIEWS[view].astype(np.float32) * np.float32(1.01), number)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-3)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", CALLS)
def test_bytes_are_those_of_the_reference_but_for_rounding(name: str, view: str) -> None:
    for number in range(6):
        got, want = both(name, VIEWS[view], number)
        away = np.abs(got.astype(int) - want)
        assert away.max() <= 1
        # Where the reference falls short of a whole number by a rounding, it is a level below.
        colored = (VIEWS[view] != VIEWS[view][..., :1]).any(axis=2)
        assert away[colored].mean() < 0.01 if colored.any() else True


@pytest.mark.parametrize("name", ["_image_random_saturation", "_image_random_hue"])
def test_gray_stays_as_it_is(name: str) -> None:
    gray = np.repeat(np.arange(256, dtype=np.uint8).reshape(16, 16, 1), 3, axis=2)
    for number in range(20):
        np.testing.assert_array_equal(both(name, gray, number)[0], gray)


def test_bytes_end_at_their_limits() -> None:
    out = np.empty_like(IMAGE)
    changed_colors(out, IMAGE, [("lighting", (300.0, -300.0, 1e30))])
    np.testing.assert_array_equal(out, np.broadcast_to([255, 0, 255], IMAGE.shape))


@pytest.mark.parametrize("turn", [0.0, 1.0, -2.0])
def test_full_turns_of_the_hues_are_no_change(turn: float) -> None:
    out = np.empty_like(IMAGE)
    changed_colors(out, IMAGE, [("hue", turn)])
    np.testing.assert_array_equal(out, IMAGE)


def test_a_third_of_a_turn_moves_each_channel_to_the_next() -> None:
    out = np.empty_like(IMAGE)
    changed_colors(out, IMAGE, [("hue", 1 / 3)])
    np.testing.assert_array_equal(out, np.roll(IMAGE, 1, axis=2))


def test_the_mean_of_contrast_is_that_of_the_changes_before() -> None:
    out = np.empty(IMAGE.shape, np.float32)
    image = IMAGE.astype(np.float32)
    steps = [("brightness", 0.5), ("hue", 0.2), ("lighting", (9.0, 8.0, 7.0)), ("contrast", 0.0)]
    changed_colors(out, image, steps)
    before = np.empty_like(out)
    changed_colors(before, image, steps[:-1])
    want = float((before.astype(np.float64) @ [0.299, 0.587, 0.114]).mean())
    np.testing.assert_allclose(out, want, rtol=1e-5)


def test_rows_of_another_array_can_be_filled() -> None:
    wide = np.zeros((37, 82, 3), np.uint8)
    changed_colors(wide[:, ::2], IMAGE, [("brightness", 1.0)])
    np.testing.assert_array_equal(wide[:, ::2], IMAGE)
    assert not wide[:, 1::2].any()


def test_several_threads_may_call_it_at_once() -> None:
    steps = [("saturation", 0.4), ("hue", 0.3), ("contrast", 1.5)]
    images = [np.roll(IMAGE, i, axis=1) for i in range(40)]
    want = [np.empty_like(IMAGE) for _ in images]
    for out, image in zip(want, images, strict=True):
        changed_colors(out, image, steps)
    got = [np.empty_like(IMAGE) for _ in images]
    with ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(changed_colors, out, image, steps)
            for out, image in zip(got, images, strict=True)
        ]
        for job in jobs:
            job.result(60)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((4, 5, 1), "uint8"), ((4, 5, 3), "float64"), ((4, 5, 3), "int32")]
)
def test_other_images_go_by_the_reference(shape: tuple[int, ...], dtype: str) -> None:
    image = nd.ones(shape, dtype=dtype) * 40
    mx.random.seed(1)
    made = nd.image.random_brightness(image, min_factor=2, max_factor=2).asnumpy()
    np.testing.assert_array_equal(made, np.full(shape, 80, dtype))
