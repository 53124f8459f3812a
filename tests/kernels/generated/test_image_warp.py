"""Generated kernels map images to the same bytes as Pillow's ``transform``."""

import platform
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gluonish.kernels.compiler import KernelError, available
from gluonish.kernels.generated import image_warp
from gluonish.kernels.generated.image_warp import warped_bytes

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

# Compilers of other processors contract Pillow's products and sums.
TOLERANCE = 0 if platform.machine() in ("x86_64", "AMD64") else 1
MODES = {1: "L", 3: "RGB", 4: "CMYK"}
SIZES = [(1, 1), (1, 7), (5, 1), (2, 3), (3, 2), (16, 16), (33, 41), (64, 30), (224, 224)]


def _by_pillow(values: Any, coefficients: Any, interpolation: int, fill: Any) -> Any:
    height, width, channels = values.shape
    if channels not in MODES:
        planes = [
            _by_pillow(values[..., c : c + 1], coefficients, interpolation, fill[c : c + 1])
            for c in range(channels)
        ]
        return np.concatenate(planes, axis=2)
    image = Image.frombytes(MODES[channels], (width, height), values.tobytes())
    method = Image.Transform.AFFINE if len(coefficients) == 6 else Image.Transform.PERSPECTIVE
    resampling = (Image.Resampling.NEAREST, Image.Resampling.BILINEAR)[interpolation]
    color = fill[0] if channels == 1 else fill
    moved = image.transform((width, height), method, coefficients, resampling, fillcolor=color)
    return np.array(moved).reshape(values.shape)


def _affine(rng: Any, height: int, width: int) -> Any:
    """Return a rotation about a point near the center, with scale, shear and translation."""
    turn = rng.uniform(-np.pi, np.pi)
    low, high = rng.uniform(-0.5, 0.5, 2)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    matrix = rng.uniform(0.3, 2.5) * matrix @ [[1, low], [high, 1]]
    center = np.array([width / 2, height / 2])
    shift = center - matrix @ center + rng.uniform(-0.3, 0.3, 2) * [width, height]
    return (*matrix[0], shift[0], *matrix[1], shift[1])


def _round_affine(rng: Any, height: int, width: int) -> Any:
    """Return multiples of a quarter, which put positions on the edges and centers of pixels."""
    del height, width
    return tuple(rng.integers(-8, 9, 6) / 4)


def _perspective(rng: Any, height: int, width: int) -> Any:
    first = _affine(rng, height, width)
    return (*first, *rng.uniform(-1, 1, 2) / (height + width))


def _wild(rng: Any, height: int, width: int) -> Any:
    """Return numbers of any size: far positions, and denominators of both signs."""
    del height, width
    return tuple(rng.normal(size=rng.choice([6, 8])) * 10.0 ** rng.integers(-3, 5))


@pytest.mark.parametrize("interpolation", [0, 1])
@pytest.mark.parametrize("draw", [_affine, _round_affine, _perspective, _wild])
def test_bytes_are_those_of_pillow(draw: Any, interpolation: int) -> None:
    rng = np.random.default_rng(0)
    computed = 0
    for number in range(270):
        height, width = SIZES[number % len(SIZES)]
        channels = int(rng.integers(1, 5))
        values = rng.integers(0, 256, (height, width, channels)).astype(np.uint8)
        if number % 2:
            values = values[:, ::-1]
        coefficients = tuple(map(float, draw(rng, height, width)))
        fill = tuple(rng.integers(0, 256, channels).tolist())
        got = warped_bytes(values, coefficients, interpolation, fill)
        if got is None:
            continue
        computed += 1
        want = _by_pillow(values, coefficients, interpolation, fill)
        assert got.dtype == np.uint8
        error = np.abs(got.astype(int) - want).max()
        assert error <= TOLERANCE * interpolation, f"{values.shape}, {coefficients}"
    assert computed > (150 if draw is _wild and not interpolation else 240)


def test_turns_by_right_angles_move_pixels() -> None:
    values = np.random.default_rng(1).integers(0, 256, (20, 20, 3)).astype(np.uint8)
    fill = (0, 0, 0)
    for interpolation in (0, 1):
        got = warped_bytes(values, (0, -1, 20, 1, 0, 0), interpolation, fill)
        np.testing.assert_array_equal(got, np.rot90(values))
        got = warped_bytes(values, (0, -1, 20, 1, 0, 0, 0, 0), interpolation, fill)
        np.testing.assert_array_equal(got, np.rot90(values))


def test_what_has_no_kernel_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.zeros((4, 5, 3), np.uint8)
    turn = (0.8, -0.6, 1.0, 0.6, 0.8, 0.0)
    assert warped_bytes(values, turn, 0, (0, 0, 0)) is not None
    assert warped_bytes(values, (2.0, 0.0, 0.3, 0.0, 2.0, 0.0), 0, (0, 0, 0)) is None
    assert warped_bytes(values, (2e4, 1e4, 0.0, 0.6, 0.8, 0.0), 0, (0, 0, 0)) is None
    assert warped_bytes(np.zeros((4, 5, 5), np.uint8), turn, 1, (0,) * 5) is None
    huge = np.broadcast_to(values[:1, :1], (1 << 16, 1 << 15, 3))
    assert warped_bytes(huge, turn, 1, (0, 0, 0)) is None

    def fails(*_: Any, **__: Any) -> Any:
        raise KernelError("not this one")

    image_warp._kernels.cache_clear()
    monkeypatch.setattr(image_warp, "compile_kernel", fails)
    assert warped_bytes(values, turn, 1, (0, 0, 0)) is None
    image_warp._kernels.cache_clear()
    monkeypatch.setattr(image_warp, "available", lambda: False)
    assert warped_bytes(values, turn, 1, (0, 0, 0)) is None
