"""Affine and perspective maps of images (height, width, channels), sampled by Pillow.

A map gives for each pixel of the result the position in the image, in pixels from the top left
corner; the center of the first pixel is at (0.5, 0.5).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.gluon.data.vision.transforms.host import Array

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
    height, width, channels = values.shape
    if values.dtype == np.uint8 and channels in _MODES:
        pixels = values[..., 0] if channels == 1 else values
        color: Any = tuple(round(value) for value in fill)
        color = color[0] if channels == 1 else color
        found = _sampled(pixels, _MODES[channels], coefficients, interpolation, color)
        return found.reshape(height, width, channels)
    out = np.empty(values.shape, values.dtype)
    whole = values.dtype == np.uint8
    for channel in range(channels):
        plane = np.ascontiguousarray(values[..., channel], None if whole else np.float32)
        value = round(fill[channel]) if whole else fill[channel]
        mode = "L" if whole else "F"
        out[..., channel] = _sampled(plane, mode, coefficients, interpolation, value)
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
