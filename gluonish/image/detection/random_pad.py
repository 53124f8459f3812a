"""DetRandomPadAug: images on a larger canvas, so that their objects become smaller."""

import random
from collections.abc import Sequence

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.augmenters.checks import checked_image
from gluonish.image.detection.augmenter import DetAugmenter
from gluonish.image.detection.proposal import (
    Range,
    checked_attempts,
    checked_range,
    drawn_height,
    nearest_side,
)
from gluonish.image.host_array import Array
from gluonish.image.region import Region
from gluonish.ops.image.layout import store

__all__ = ["DetRandomPadAug"]

_LEAST_BORDER = 2  # pixels that the canvas has to be wider and higher by
_BELOW_HALF = 0.499999  # rounds to nearest, a half down, when a fraction is cut off


class DetRandomPadAug(DetAugmenter):
    """Place an image, with its boxes, at a random position on a larger canvas.

    Sizes are drawn from Python's `random` until the canvas is larger than the image; if none is,
    the image is not changed.

    Args:
        aspect_ratio_range: Range (min, max) of the canvas's aspect ratio, width / height; or a
            single number.
        area_range: Range (min, max) of the canvas's area as a multiple of the image's; or a single
            number.
        max_attempts: Maximum number of sizes to try.
        pad_val: Color of the padding: one number for each channel, or one for all.

    Attributes:
        enabled: Whether the canvas can be larger than the image. (MXNet raises an error about a
            warning if it cannot.)

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ArgumentError: A range is reversed or negative, or an area is below 1.
    """

    def __init__(
        self,
        aspect_ratio_range: float | Range = (0.75, 1.33),
        area_range: float | Range = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: float | Sequence[float] = (128, 128, 128),
    ) -> None:
        name = "DetRandomPadAug"
        self.pad_val = pad_val
        self._color = _color(pad_val)
        self.aspect_ratio_range = checked_range(name, "aspect_ratio_range", aspect_ratio_range)
        self.area_range = checked_range(name, "area_range", area_range)
        if self.area_range[0] < 1:
            raise ArgumentError(f"{name}: expected area_range of at least 1, got {self.area_range}")
        self.max_attempts = checked_attempts(name, max_attempts)
        self.enabled = self.area_range[1] > 1
        super().__init__(
            aspect_ratio_range=self.aspect_ratio_range,
            area_range=self.area_range,
            max_attempts=max_attempts,
            pad_val=pad_val,
        )

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        wide, high = checked_image("DetRandomPadAug", image)
        if self._color.size not in (1, image.shape[2]):
            raise ArgumentError(
                f"DetRandomPadAug: expected an image of {self._color.size} channels, as pad_val "
                f"has, got {image.shape}"
            )
        for _ in range(self.max_attempts if self.enabled else 0):
            place = self._drawn(wide, high)
            if place is not None:
                return self._padded(image, place), _moved(boxes, place, wide, high)
        return image, boxes

    def _drawn(self, wide: int, high: int) -> Region | None:
        """Return where the image lies, and width and height of the canvas; None for no border."""
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        least, largest = (nearest_side(share * high * wide, ratio) for share in self.area_range)
        if round(least * ratio) < wide:
            least = int((wide + _BELOW_HALF) / ratio)
        h = drawn_height(min(max(least, high), largest), largest)
        w = round(h * ratio)
        if h - high < _LEAST_BORDER or w - wide < _LEAST_BORDER:
            return None
        y = random.randint(0, h - high)
        return random.randint(0, w - wide), y, w, h

    def _padded(self, image: Array, place: Region) -> Array:
        x, y, w, h = place
        tall, wide, channels = image.shape
        out = np.empty((h, w, channels), image.dtype)
        store(np, out, np.broadcast_to(self._color, out.shape))
        out[y : y + tall, x : x + wide] = image
        return out


def _moved(boxes: Array, place: Region, wide: int, high: int) -> Array:
    """Return boxes as shares of the canvas."""
    x, y, w, h = place
    made = boxes.copy()
    made[:, 1:5:2] = (boxes[:, 1:5:2] * wide + x) / w
    made[:, 2:5:2] = (boxes[:, 2:5:2] * high + y) / h
    return made


def _color(pad_val: float | Sequence[float]) -> Array:
    try:
        values = np.asarray(pad_val, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim > 1 or not values.size:
        raise ArgumentTypeError(
            f"DetRandomPadAug: expected a number, or one for each channel, as pad_val, got "
            f"{pad_val!r:.80}"
        )
    return values
