"""Affine and perspective maps of images (height, width, channels), sampled as Pillow does.

Translations by whole pixels are copies. Other maps of bytes are computed by generated kernels where
there is one, with Pillow's bytes; the rest by Pillow.

A map gives for each pixel of the result the position in the image, in pixels from the top left
corner; the center of the first pixel is at (0.5, 0.5).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.gluon.data.vision.transforms.host import Array
from gluonish.kernels.generated.image_warp import warped_bytes

Point = tuple[float, float]
# Modes of Pillow with bytes as channels. CMYK stands for four of them: RGBA weights by alpha.
_MODES = {1: "L", 3: "RGB", 4: "CMYK"}


def affine_map(
    center: Point,
    angle: float = 0.0,
    translate: Point = (0.0, 0.0),
    scale: float = 1.0,
    shear: Point = (0.0, 0.0),
) -> tuple[float, ...]:
    """Return (a, b, c, d, e, f): pixel (x, y) is sampled at (a x + b y + c, d x + e y + f).

    The image is sheared, rotated and scaled about ``center``, then translated.

    Args:
        center: Fixed point of the rotation, (x, y) in pixels.
        angle: Rotation in degrees, clockwise.
        translate: Translation (right, down) in pixels.
        scale: Factor of the size, above 0.
        shear: Shear along x and y, in degrees.
    """
    turn, shear_x, shear_y = (math.radians(degrees) for degrees in (angle, *shear))
    # The forward matrix is rotation, times shear along y, times shear along x.
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    inverse = (d / scale, -b / scale, -c / scale, a / scale)  # the determinant is 1
    x, y = (-start - shift for start, shift in zip(center, translate, strict=True))
    first = inverse[0] * x + inverse[1] * y + center[0]
    second = inverse[2] * x + inverse[3] * y + center[1]
    return (*inverse[:2], first, *inverse[2:], second)


def perspective_map(before: Sequence[Point], after: Sequence[Point]) -> tuple[float, ...]:
    """Return (a, ..., h): (x, y) is sampled at (a x + b y + c, d x + e y + f) / (g x + h y + 1).

    Args:
        before: Four points (x, y) of the image.
        after: The points where they are moved to.
    """
    rows, wanted = [], []
    for (x, y), (u, v) in zip(before, after, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
        wanted += [x, y]
    return tuple(np.linalg.solve(np.array(rows, float), np.array(wanted, float)).tolist())


def warped(
    values: Array, coefficients: tuple[float, ...], interpolation: int, fill: tuple[float, ...]
) -> Array:
    """Return an image sampled at mapped positions.

    Args:
        values: Image (height, width, channels), uint8 or floating point.
        coefficients: Six of an affine map, or eight of a perspective map.
        interpolation: 0 for the nearest pixel, 1 for bilinear.
        fill: Value of each channel where the position is outside of the image.
    """
    whole = values.dtype == np.uint8
    shift = _whole_shift(coefficients)
    levels = tuple(map(round, fill)) if whole else ()
    if shift is not None:
        return _shifted(values, *shift, levels or fill)
    found = warped_bytes(values, coefficients, interpolation, levels) if whole else None
    if found is None:
        found = _by_pillow(values, coefficients, interpolation, levels or fill)
    return found


def _whole_shift(coefficients: tuple[float, ...]) -> tuple[int, int] | None:
    """Return (x, y) if pixel (0, 0) is sampled at the center of pixel (x, y), and so on."""
    a, b, c, d, e, f = coefficients[:6]
    if len(coefficients) > 6 or (a, b, d, e) != (1, 0, 0, 1) or c != c // 1 or f != f // 1:
        return None
    return int(c), int(f)


def _shifted(values: Array, x: int, y: int, fill: tuple[float, ...]) -> Array:
    """Return an image translated by (-x, -y) pixels."""
    height, width, _ = values.shape
    out = np.empty(values.shape, values.dtype)
    if (x or y) and len(set(fill)) == 1:
        out[...] = fill[0]
    elif x or y:
        out[...] = fill
    (to_rows, rows), (to_columns, columns) = _overlap(height, y), _overlap(width, x)
    out[to_rows, to_columns] = values[rows, columns]
    return out


def _overlap(extent: int, shift: int) -> tuple[slice, slice]:
    """Return where an axis that is translated by ``-shift`` has its values, before and after."""
    start, end = max(0, -shift), min(extent, extent - shift)
    end = max(start, end)
    return slice(start, end), slice(start + shift, end + shift)


def _by_pillow(
    values: Array, coefficients: tuple[float, ...], interpolation: int, colors: tuple[float, ...]
) -> Array:
    height, width, channels = values.shape
    whole = values.dtype == np.uint8
    if whole and channels in _MODES:
        pixels = values[..., 0] if channels == 1 else values
        color: Any = colors[0] if channels == 1 else colors
        found = _sampled(pixels, _MODES[channels], coefficients, interpolation, color)
        return found.reshape(height, width, channels)
    out = np.empty(values.shape, values.dtype)
    for channel in range(channels):
        plane = np.ascontiguousarray(values[..., channel], None if whole else np.float32)
        mode = "L" if whole else "F"
        out[..., channel] = _sampled(plane, mode, coefficients, interpolation, colors[channel])
    return out


def _sampled(
    pixels: Array, mode: str, coefficients: tuple[float, ...], interpolation: int, color: Any
) -> Array:
    from PIL import Image

    height, width = pixels.shape[:2]
    image = Image.frombytes(mode, (width, height), pixels.tobytes())
    methods = Image.Transform
    method = methods.AFFINE if len(coefficients) == 6 else methods.PERSPECTIVE
    resampling = (Image.Resampling.NEAREST, Image.Resampling.BILINEAR)[interpolation]
    moved = image.transform((width, height), method, coefficients, resampling, fillcolor=color)
    return np.array(moved)
