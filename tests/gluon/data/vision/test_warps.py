"""Affine and perspective maps, blur and erasing against their mathematics in float64."""

import math
from typing import Any

import numpy as np
import pytest
from PIL import Image

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data.vision import transforms as T
from gluonish.gluon.data.vision.transforms import blur
from gluonish.gluon.data.vision.transforms.warp import affine_map, perspective_map, warped

RNG = np.random.default_rng(4)
IMAGE = RNG.integers(0, 256, (33, 41, 3)).astype(np.uint8)
MAPS = {
    "rotation": affine_map((20.5, 16.5), 31),
    "all": affine_map((20.5, 16.5), -17, (3, -4), 1.3, (11, -7)),
    "small": affine_map((3, 5), 0, (0, 0), 0.4),
    "shear": affine_map((0, 0), shear=(math.degrees(math.atan(0.3)), 0)),
    "perspective": perspective_map(
        [(0, 0), (40, 0), (40, 32), (0, 32)], [(5, 3), (37, 6), (30, 29), (2, 25)]
    ),
}


def _call(transform: Any, values: Any) -> Any:
    return transform(nd.array(values, dtype=values.dtype)).asnumpy()


def _positions(height: int, width: int, coefficients: Any) -> tuple[Any, Any]:
    y, x = np.mgrid[:height, :width] + 0.5
    a, b, c, d, e, f, g, h = (*coefficients, 0.0, 0.0)[:8]
    below = g * x + h * y + 1
    return (a * x + b * y + c) / below, (d * x + e * y + f) / below


def _reference(values: Any, coefficients: Any, interpolation: int, fill: Any) -> tuple[Any, Any]:
    """What a map gives, and where its position is far enough from an edge to be compared."""
    height, width = values.shape[:2]
    u, v = _positions(height, width, coefficients)
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    clear = np.ones(u.shape, bool)
    for position, extent in ((u, width), (v, height)):
        edges = (0, extent) if interpolation else (np.rint(position),)
        for edge in edges:
            clear &= np.abs(position - edge) > 1e-3
    values = values.astype(np.float64)

    def at(row: Any, column: Any) -> Any:
        return values[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]

    if interpolation == 0:
        found = at(np.floor(v).astype(int), np.floor(u).astype(int))
    else:
        left, top = np.floor(u - 0.5).astype(int), np.floor(v - 0.5).astype(int)
        right, low = (u - 0.5 - left)[..., None], (v - 0.5 - top)[..., None]
        upper = at(top, left) * (1 - right) + at(top, left + 1) * right
        lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right
        found = upper * (1 - low) + lower * low
    return np.where(inside[..., None], found, fill), clear


@pytest.mark.parametrize("interpolation", [0, 1])
@pytest.mark.parametrize("name", MAPS)
def test_maps_sample_as_in_float64(name: str, interpolation: int) -> None:
    fill = (10.0, 200.0, 30.0)
    want, clear = _reference(IMAGE, MAPS[name], interpolation, fill)
    assert clear.mean() > 0.9 or name == "shear"
    got = warped(IMAGE, MAPS[name], interpolation, fill)
    assert np.abs(got.astype(float) - want)[clear].max() <= (1 if interpolation else 0)
    floats = warped(IMAGE.astype(np.float32), MAPS[name], interpolation, fill)
    assert np.abs(floats - want)[clear].max() < 1e-2
    two = warped(IMAGE[..., :2].copy(), MAPS[name], interpolation, fill[:2])
    np.testing.assert_array_equal(two, got[..., :2])


@pytest.mark.parametrize("interpolation", [0, 1])
def test_results_do_not_depend_on_the_kernels(
    interpolation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = (10.0, 200.0, 30.0)
    got = {name: warped(IMAGE, map_, interpolation, fill) for name, map_ in MAPS.items()}
    monkeypatch.setattr("gluonish.kernels.generated.image_warp.available", lambda: False)
    for name, map_ in MAPS.items():
        np.testing.assert_array_equal(got[name], warped(IMAGE, map_, interpolation, fill))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("shift", [(0, 0), (3, -4), (-41, 0), (0, 33), (-60, 70), (40, -32)])
def test_translations_move_pixels(shift: tuple[int, int], dtype: str) -> None:
    x, y = shift
    image = (IMAGE / np.pi).astype(dtype)
    fill = (10.0, 200.0, 30.0)
    want = np.empty_like(image)
    want[...] = fill
    for row in range(33):
        for column in range(41):
            if 0 <= row - y < 33 and 0 <= column - x < 41:
                want[row, column] = image[row - y, column - x]
    for interpolation in (0, 1):
        got = warped(image, affine_map((0, 0), translate=shift), interpolation, fill)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)
        assert not np.shares_memory(got, image)


def test_four_channels_are_sampled_alike() -> None:
    image = np.concatenate([IMAGE, IMAGE[..., :1]], axis=2)
    got = warped(image, MAPS["all"], 1, (0, 0, 0, 0))
    np.testing.assert_array_equal(got[..., 3], got[..., 0])
    np.testing.assert_array_equal(got[..., :3], warped(IMAGE, MAPS["all"], 1, (0, 0, 0)))


def test_affine_map_inverts_the_product_of_its_parts() -> None:
    angle, (sx, sy), scale = math.radians(25), np.radians((12, -8)), 0.7
    center, shift = np.array([9.0, 4.0]), np.array([2.0, -3.0])
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    shears = np.array([[1, 0], [-math.tan(sy), 1]]) @ np.array([[1, -math.tan(sx)], [0, 1]])
    a, b, c, d, e, f = affine_map((9, 4), 25, (2, -3), scale, (12, -8))
    for point in RNG.uniform(-20, 20, (5, 2)):
        moved = scale * turn @ shears @ (point - center) + center + shift
        x, y = moved
        np.testing.assert_allclose((a * x + b * y + c, d * x + e * y + f), point, atol=1e-9)


def test_rotation_is_that_of_pillow() -> None:
    image = Image.fromarray(IMAGE)
    for angle in (0, 13, -40, 100):
        want = np.asarray(image.rotate(-angle, Image.Resampling.NEAREST))
        got = _call(T.RandomAffine((angle, angle)), IMAGE)
        assert (got != want).any(-1).mean() < 0.002  # rounding of the angle at edges of pixels


def test_perspective_map_moves_the_points() -> None:
    before, after = [(0, 0), (9, 0), (9, 7), (0, 7)], [(1, 2), (8, 1), (7, 6), (2, 5)]
    a, b, c, d, e, f, g, h = perspective_map(before, after)
    for (x, y), (u, v) in zip(before, after, strict=True):
        below = g * u + h * v + 1
        found = (a * u + b * v + c) / below, (d * u + e * v + f) / below
        np.testing.assert_allclose(found, (x, y), atol=1e-9)


def test_random_affine_draws_from_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []

    def noted(*args: Any) -> Any:
        drawn.append(args)
        return affine_map(*args)

    monkeypatch.setattr("gluonish.gluon.data.vision.transforms.affine.affine_map", noted)
    transform = T.RandomAffine(30, (0.1, 0.5), (0.5, 2), (-5, 5, 0, 8))
    mx.random.seed(1)
    for _ in range(1500):
        _call(transform, IMAGE[:20, :40])
    angle, scale = (np.array([args[i] for args in drawn]) for i in (1, 3))
    moves, shears = (np.array([args[i] for args in drawn]) for i in (2, 4))
    for values, low, high in (
        (angle, -30, 30),
        (scale, 0.5, 2),
        (moves[:, 0], -4, 4),
        (moves[:, 1], -10, 10),
        (shears[:, 0], -5, 5),
        (shears[:, 1], 0, 8),
    ):
        assert low <= values.min() < low + 0.1 * (high - low)
        assert high >= values.max() > high - 0.1 * (high - low)
        assert abs(values.mean() - (low + high) / 2) < 0.03 * (high - low)
        assert abs(values.std() - (high - low) / 12**0.5) < 0.03 * (high - low)


def test_perspective_keeps_the_probability_and_the_corners_inside() -> None:
    white = np.full((30, 40, 1), 255, np.uint8)
    mx.random.seed(2)
    got = [_call(T.RandomPerspective(0.5, 0.4), white) for _ in range(300)]
    changed = [(image != 255).any() for image in got]
    assert 0.3 < np.mean(changed) < 0.5
    assert all((image[8:22, 10:29] == 255).all() for image in got)
    np.testing.assert_array_equal(_call(T.RandomPerspective(0, 1), IMAGE), IMAGE)
    for shape in ((1, 1, 3), (2, 2, 3), (3, 4, 3)):
        assert _call(T.RandomPerspective(1, 1), np.ones(shape, np.uint8)).shape == shape


def _blurred(values: Any, size: tuple[int, int], sigma: float) -> Any:
    x = values.astype(np.float64)
    for axis, n in ((1, size[0]), (0, size[1])):
        distance = np.arange(n) - n // 2
        weights = np.exp(-(distance**2) / (2 * sigma**2))
        weights /= weights.sum()
        width = [(n // 2, n // 2) if i == axis else (0, 0) for i in range(3)]
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, width, "reflect"), n, axis)
        x = windows @ weights
    return x


@pytest.mark.parametrize("by_opencv", [False, True])
@pytest.mark.parametrize("size", [1, 3, 23, (5, 9)])
def test_blur_is_the_convolution(
    size: Any, by_opencv: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_opencv:
        pytest.importorskip("cv2")
    else:
        monkeypatch.setattr(blur, "open_cv", lambda: None)
    sizes = size if isinstance(size, tuple) else (size, size)
    transform = T.GaussianBlur(size, 1.7)
    for channels in (1, 3):
        image = np.ascontiguousarray(IMAGE[..., :channels])
        want = _blurred(image, sizes, 1.7)
        assert np.abs(_call(transform, image) - want).max() < 0.501
        for dtype, error in (("float32", 1e-6), ("float64", 1e-12), ("float16", 1e-3)):
            got = _call(transform, (image / 255).astype(dtype))
            assert got.dtype == dtype
            assert np.abs(got - want / 255).max() < error


def test_blur_draws_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[float] = []
    weights = blur.gaussian_weights
    monkeypatch.setattr(
        blur, "gaussian_weights", lambda size, sigma: drawn.append(sigma) or weights(size, sigma)
    )
    mx.random.seed(0)
    for _ in range(800):
        _call(T.GaussianBlur(3), IMAGE[:4, :4])
    assert 0.1 <= min(drawn) < 0.15
    assert 1.95 < max(drawn) <= 2
    assert abs(np.mean(drawn) - 1.05) < 0.06


def test_erasing_has_the_area_ratio_and_probability() -> None:
    mx.random.seed(3)
    ones = np.ones((60, 50, 2), np.float32)
    areas, ratios, kept = [], [], 0
    for _ in range(2000):
        gone = _call(T.RandomErasing(0.7, value=5), ones)[..., 0] == 5
        if not gone.any():
            kept += 1
            continue
        rows, columns = gone.any(1).sum(), gone.any(0).sum()
        assert gone.sum() == rows * columns
        areas.append(gone.mean())
        ratios.append(math.log(rows / columns))
    assert abs(kept / 2000 - 0.3) < 0.04
    assert 0.015 < min(areas) < 0.03
    assert 0.31 < max(areas) < 0.345
    # Sizes that do not fit are drawn again, which takes a little from large areas.
    assert 0.15 < np.mean(areas) < 0.18
    assert abs(np.mean(ratios)) < 0.06


def test_erasing_takes_layouts_values_and_noise() -> None:
    mx.random.seed(4)
    chw = np.ones((3, 20, 30), np.float32)
    got = _call(T.RandomErasing(1, value=(2, 3, 4), layout="CHW"), chw)
    gone = got[0] == 2
    assert gone.any()
    assert (got[:, gone] == [[2], [3], [4]]).all()
    assert (got[:, ~gone] == 1).all()
    noise = _call(T.RandomErasing(1, (0.5, 0.6), (1, 1), "random"), np.zeros((80, 80, 3), "f"))
    found = noise[noise != 0]
    assert abs(found.mean()) < 0.05
    assert abs(found.std() - 1) < 0.05
    levels = _call(T.RandomErasing(1, (0.5, 0.6), (1, 1), "random"), np.zeros((80, 80, 3), "u1"))
    assert abs(levels[levels > 0].mean() - 128) < 3


def test_seeds_repeat_and_label_passes() -> None:
    x = nd.array(IMAGE, dtype="uint8")
    for make in (
        lambda: T.RandomAffine(40),
        lambda: T.RandomPerspective(p=0.8),
        lambda: T.GaussianBlur(5),
        lambda: T.RandomErasing(0.8, value="random"),
    ):
        runs = []
        for _ in range(2):
            mx.random.seed(9)
            runs.append([make()(x, 1)[0].asnumpy() for _ in range(4)])
        np.testing.assert_array_equal(runs[0], runs[1])
        assert any((a != b).any() for a, b in zip(runs[0], runs[0][1:], strict=False))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.RandomAffine(-3), r"RandomAffine: expected degrees of 0 or more, got -3"),
        (lambda: T.RandomAffine((5, 3)), r"RandomAffine: expected degrees \(min, max\) in order"),
        (lambda: T.RandomAffine(3, (0.1, 1.5)), r"expected translate\[1\] in \[0, 1\], got 1.5"),
        (lambda: T.RandomAffine(3, 0.1), r"expected translate to be two numbers, got 0.1"),
        (lambda: T.RandomAffine(3, scale=(0, 1)), r"expected scale \(min, max\) above 0, got"),
        (lambda: T.RandomAffine(3, scale=(-1, 1)), r"expected scale .* of at least 0, got"),
        (lambda: T.RandomAffine(3, shear=95), r"expected shear between -90 and 90 degrees, got 95"),
        (lambda: T.RandomAffine(3, shear=(1, 2, 3)), r"expected shear to be \(min, max\), got"),
        (lambda: T.RandomAffine(3, interpolation=3), r"expected interpolation 'nearest' \(0\) or"),
        (lambda: T.RandomAffine(3, fill=300), r"expected fill in \[0, 255\], got 300"),
        (lambda: T.RandomAffine(3, center=3), r"expected center to be two numbers, got 3"),
        (lambda: T.RandomPerspective(1.5), r"expected distortion_scale in \[0, 1\], got 1.5"),
        (lambda: T.RandomPerspective(p=2), r"RandomPerspective: expected p in \[0, 1\], got 2"),
        (lambda: T.GaussianBlur(4), r"GaussianBlur: expected an odd kernel_size, got 4"),
        (lambda: T.GaussianBlur(-1), r"expected kernel_size of 1 or more, got -1"),
        (lambda: T.GaussianBlur(3, 0), r"GaussianBlur: expected sigma above 0, got 0"),
        (lambda: T.GaussianBlur(3, (2, 1)), r"expected sigma \(min, max\) in order"),
        (lambda: T.RandomErasing(scale=(0.5, 1.2)), r"expected scale .* and at most 1, got"),
        (lambda: T.RandomErasing(ratio=(0, 1)), r"expected ratio \(min, max\) above 0, got"),
        (lambda: T.RandomErasing(value="noise"), r"expected value to be 'random', got 'noise'"),
        (lambda: T.RandomErasing(layout="NHWC"), r"expected layout 'HWC' or 'CHW', got 'NHWC'"),
    ],
)
def test_arguments_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (T.RandomAffine(3, fill=(1, 2)), r"expected fill with 1 or 3 numbers, the channels"),
        (T.RandomErasing(1, value=(1, 2)), r"expected value with 1 or 3 numbers, the channels"),
        (T.GaussianBlur(99), r"expected an image of more than 49 rows and 49 columns"),
    ],
)
def test_images_that_do_not_fit_are_refused(transform: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _call(transform, IMAGE)
