"""Drawing of boxes into images."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError
from gluonish.image.pixels import Array
from gluonish.ops.image.resampling import open_cv

_TEXT_OFFSET = (5, 20)  # pixels from the box's upper left corner
_TEXT_SCALE = 0.5


def checked_color(name: str, color: Any) -> tuple[float, ...] | None:
    """Check a color (red, green, blue) or None, and return it.

    Args:
        name: Name of the calling function, for error messages.
        color: The color, or None.

    Raises:
        ArgumentTypeError: The color has the wrong type or length.
    """
    if color is None:
        return None
    numbers = isinstance(color, tuple | list | np.ndarray) and len(color) == 3
    if not numbers or not all(isinstance(value, int | float | np.number) for value in color):
        raise ArgumentTypeError(f"{name}: expected color (red, green, blue), got {color!r}")
    return tuple(float(value) for value in color)


def draw_boxes(
    image: Array,
    boxes: Array,
    color: tuple[float, ...] | None,
    thickness: int,
    names: Mapping[int, str] | None,
) -> Array:
    """Draw boxes and class names into an image, with OpenCV, or Pillow if that is not installed.

    Args:
        image: (height, width, 3), uint8, blue first; modified in place.
        boxes: Boxes (objects, 5 or more); a negative class is skipped.
        color: Red, green, blue; None for a random color for each box, from NumPy's generator.
        thickness: Width of the lines, in pixels.
        names: Names of classes by number; None draws no names.

    Returns:
        ``image``.
    """
    high, wide = image.shape[:2]
    draw = _rectangle_by_pillow if open_cv() is None else _rectangle_by_opencv
    write = _text_by_pillow if open_cv() is None else _text_by_opencv
    for row in boxes:
        if row[0] < 0:
            continue
        x0, y0, x1, y1 = row[1:5].tolist()
        left, top = int(x0 * wide), int(y0 * high)
        corners = (left, top, int(x1 * wide), int(y1 * high))
        drawn = _random_color() if color is None else color[::-1]
        draw(image, corners, drawn, thickness)
        name = names.get(int(row[0])) if names else None
        if name is not None:
            write(image, str(name), (left + _TEXT_OFFSET[0], top + _TEXT_OFFSET[1]), drawn)
    return image


def _random_color() -> tuple[float, ...]:
    return tuple((np.random.rand(3) * 255).tolist())  # noqa: NPY002  # as MXNet draws


def _rectangle_by_opencv(
    image: Array, corners: tuple[int, ...], color: tuple[float, ...], thickness: int
) -> None:
    open_cv().rectangle(image, corners[:2], corners[2:], color, thickness)


def _text_by_opencv(image: Array, text: str, at: tuple[int, int], color: tuple[float, ...]) -> None:
    cv2 = open_cv()
    cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, _TEXT_SCALE, color)


def _rectangle_by_pillow(
    image: Array, corners: tuple[int, ...], color: tuple[float, ...], thickness: int
) -> None:
    """Draw a rectangle like OpenCV, except that corners of lines thicker than 2 are rounder."""
    left, top, right, bottom = corners
    half = (thickness + 1) // 2 if thickness > 1 else 0
    high, wide = image.shape[:2]
    shown = np.clip(np.rint(color), 0, 255).astype(np.uint8)

    def fill(x0: int, y0: int, x1: int, y1: int) -> None:
        image[max(y0, 0) : min(y1 + 1, high), max(x0, 0) : min(x1 + 1, wide)] = shown

    for x in (left, right):
        fill(x - half, top, x + half, bottom)
    for y in (top, bottom):
        fill(left, y - half, right, y + half)


def _text_by_pillow(image: Array, text: str, at: tuple[int, int], color: tuple[float, ...]) -> None:
    from PIL import Image, ImageDraw

    picture = Image.fromarray(image)
    shown = tuple(round(min(max(value, 0), 255)) for value in color)
    # `at` is the lower left corner of the text, as in OpenCV.
    ImageDraw.Draw(picture).text((at[0], max(at[1] - 11, 0)), text, fill=shown)
    image[...] = np.asarray(picture)
