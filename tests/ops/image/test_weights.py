"""Resampling by weights against OpenCV, and facts that need none."""

import numpy as np
import pytest

from gluonish.ops.image.resampling import by_weights

RNG = np.random.default_rng(4)
SHAPES = [((12, 10), (7, 6)), ((12, 10), (19, 17)), ((9, 31), (20, 7)), ((1, 5), (3, 9))]


@pytest.mark.parametrize("interp", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize(("old", "new"), SHAPES)
def test_opencv_gives_the_same(
    interp: int, dtype: str, old: tuple[int, int], new: tuple[int, int]
) -> None:
    cv2 = pytest.importorskip("cv2")
    data = RNG.integers(0, 256, (*old, 3)).astype(dtype)
    out = np.empty((*new, 3), dtype)
    by_weights(np, out, data, interp)
    want = cv2.resize(data, new[::-1], interpolation=interp)
    tolerance = 1 if dtype == "uint8" else 2e-3
    assert np.abs(out.astype(np.float64) - want).max() <= tolerance


@pytest.mark.parametrize("interp", [2, 3, 4])
@pytest.mark.parametrize(("old", "new"), SHAPES)
def test_a_plain_image_stays_plain(interp: int, old: tuple[int, int], new: tuple[int, int]) -> None:
    out = np.empty((*new, 2), np.uint8)
    by_weights(np, out, np.full((*old, 2), 77, np.uint8), interp)
    assert (out == 77).all()


def test_halves_are_the_mean_of_four_pixels() -> None:
    data = RNG.normal(size=(6, 4, 1))
    out = np.empty((3, 2, 1))
    by_weights(np, out, data, 3)
    np.testing.assert_allclose(out, data.reshape(3, 2, 2, 2, 1).mean((1, 3)), rtol=1e-12)


@pytest.mark.parametrize("interp", [2, 3, 4])
def test_the_same_size_is_no_change(interp: int) -> None:
    data = RNG.integers(0, 256, (5, 7, 3)).astype(np.uint8)
    out = np.empty_like(data)
    by_weights(np, out, data, interp)
    assert (out == data).all()
