"""Random cropping and padding of images with boxes."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.augmenters.checks import checked_amount, checked_image
from gluonish.image.detection.augmenter import DetAugmenter
from gluonish.image.pixels import Array
from gluonish.image.region import Region
from gluonish.ops.image.pixel_math import store

Range = tuple[float, float]


def checked_range(name: str, arg: str, value: float | Range) -> Range:
    """Check a range (min, max); a single number is both ends.

    Args:
        name: Class name of the caller, for error messages.
        arg: Name of the argument.
        value: The argument.

    Raises:
        ArgumentTypeError: The argument is neither a number nor a pair.
        ArgumentError: The minimum is above the maximum or below 0, or the maximum is 0.
    """
    if isinstance(value, int | float):
        limits: Any = (value, value)
    else:
        limits = value
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise ArgumentTypeError(f"{name}: expected {arg} (min, max), got {value!r}")
    if not 0 <= limits[0] <= limits[1] or limits[1] == 0:
        raise ArgumentError(f"{name}: expected 0 <= min <= max for {arg}, got {tuple(limits)}")
    return limits[0], limits[1]


def checked_attempts(name: str, max_attempts: int) -> int:
    """Check that a number of attempts is an integer, and return it.

    Raises:
        ArgumentTypeError: ``max_attempts`` is not an integer.
    """
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int):
        raise ArgumentTypeError(
            f"{name}: expected a whole number as max_attempts, got {max_attempts!r}"
        )
    return max_attempts


def height_of(area: float, ratio: float) -> int:
    """Return the height in pixels of a region, from its area and aspect ratio (width / height)."""
    return round(math.sqrt(area / ratio))


def random_height(lower: int, upper: int) -> int:
    """Draw a height from Python's `random`; ``upper`` if the range is empty."""
    return random.randint(lower, upper) if lower < upper else upper


_MIN_OBJECT = 2  # pixels; smaller objects do not constrain the region
_BELOW_HALF = 0.4999999  # rounds to nearest, half down, before truncation


class DetRandomCropAug(DetAugmenter):
    """Crop a random region of an image that contains enough of its objects.

    Regions are drawn from Python's `random` until one satisfies the limits; if none does, the image
    is not changed. Boxes are clipped to the region, and objects that mostly lie outside are
    removed.

    Args:
        min_object_covered: Minimum fraction of the area of each object in the region that the
            region must contain.
        aspect_ratio_range: Range (min, max) of the region's aspect ratio, width / height; or a
            single number.
        area_range: Range (min, max) of the region's area as a fraction of the image's; or a single
            number.
        min_eject_coverage: Objects are removed if at most this fraction of their area remains.
        max_attempts: Maximum number of regions to try.

    Attributes:
        enabled: True. (In MXNet a reversed range is meant to disable the augmenter, but fails; here
            it is an error.)

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ArgumentError: A number is negative, or a range is reversed.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: float | Range = (0.75, 1.33),
        area_range: float | Range = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        name = "DetRandomCropAug"
        self.min_object_covered = checked_amount(name, "min_object_covered", min_object_covered)
        self.min_eject_coverage = checked_amount(name, "min_eject_coverage", min_eject_coverage)
        self.max_attempts = checked_attempts(name, max_attempts)
        self.aspect_ratio_range = checked_range(name, "aspect_ratio_range", aspect_ratio_range)
        self.area_range = checked_range(name, "area_range", area_range)
        self.enabled = True
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=self.aspect_ratio_range,
            area_range=self.area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )

    def _change(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        wide, high = checked_image("DetRandomCropAug", image)
        for _ in range(self.max_attempts if self.enabled else 0):
            region = self._draw(wide, high)
            if region is None or not self._covers_objects(boxes, region, wide, high):
                continue
            left = self._remaining_boxes(boxes, region, wide, high)
            if len(left):
                x, y, w, h = region
                return image[y : y + h, x : x + w], left
        return image, boxes

    def _draw(self, wide: int, high: int) -> Region | None:
        """Draw a region; return None if no size in whole pixels has an area in the range."""
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        lower, upper = (share * high * wide for share in self.area_range)
        tallest = height_of(upper, ratio)
        if round(tallest * ratio) > wide:
            tallest = int((wide + _BELOW_HALF) / ratio)
        tallest = min(tallest, high)
        h = random_height(min(height_of(lower, ratio), tallest), tallest)
        w = round(h * ratio)
        # Rounding may have missed the area.
        if w * h < lower:
            h += 1
            w = round(h * ratio)
        if w * h > upper:
            h -= 1
            w = round(h * ratio)
        if not (lower <= w * h <= upper and 0 < w <= wide and 0 < h <= high):
            return None
        y = random.randint(0, high - h)
        return random.randint(0, wide - w), y, w, h

    def _covers_objects(self, boxes: Array, region: Region, wide: int, high: int) -> bool:
        """Whether a region covers enough of each object that it intersects."""
        x, y, w, h = region
        corners = boxes[:, 1:5]
        large = _areas(corners) * wide * high > _MIN_OBJECT
        if not large.any():
            return False
        # Computed in the dtype of the boxes, so that a box that only touches the region does not
        # intersect it.
        ends = (x / wide, y / high, (x + w) / wide, (y + h) / high)
        x0, y0, x1, y1 = np.array(ends, boxes.dtype)
        visible = _areas(np.clip(corners, (x0, y0, x0, y0), (x1, y1, x1, y1)))[large]
        shares = visible / _areas(corners)[large]
        shares = shares[shares > 0]
        return bool(shares.size and shares.min() > self.min_object_covered)

    def _remaining_boxes(self, boxes: Array, region: Region, wide: int, high: int) -> Array:
        """Return the boxes that have enough of their area in a region, relative to that region."""
        x, y, w, h = (
            value / extent for value, extent in zip(region, (wide, high) * 2, strict=True)
        )
        made = boxes.copy()
        start, extent = np.array((x, y, x, y), boxes.dtype), np.array((w, h, w, h), boxes.dtype)
        shifted = (boxes[:, 1:5] - start) / extent
        made[:, 1:5] = np.clip(shifted, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = _areas(made[:, 1:5]) * w * h / _areas(boxes[:, 1:5])
        visible = (made[:, 3] > made[:, 1]) & (made[:, 4] > made[:, 2])
        remaining: Any = made[visible & (shares > self.min_eject_coverage)]
        return remaining  # type: ignore[no-any-return]  # an array


def _areas(corners: Array) -> Array:
    """Return the areas of boxes, (N, 4): left, top, right, bottom."""
    sides = np.maximum(0, corners[:, 2:] - corners[:, :2])
    found: Array = sides[:, 0] * sides[:, 1]
    return found


_MIN_BORDER = 2  # pixels; minimum difference between canvas and image, in width and in height
_RANDOM_PAD_BELOW_HALF = 0.499999  # rounds to nearest, half down, before truncation


class DetRandomPadAug(DetAugmenter):
    """Place an image, with its boxes, at a random position on a larger canvas.

    Sizes are drawn from Python's `random` until the canvas is larger than the image; if all
    attempts fail, the image is not changed.

    Args:
        aspect_ratio_range: Range (min, max) of the canvas's aspect ratio, width / height; or a
            single number.
        area_range: Range (min, max) of the canvas's area as a multiple of the image's; or a single
            number.
        max_attempts: Maximum number of sizes to try.
        pad_val: Color of the padding: one number for each channel, or one for all.

    Attributes:
        enabled: Whether the canvas can be larger than the image.

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
            placement = self._draw(wide, high)
            if placement is not None:
                return self._padded(image, placement), _to_canvas(boxes, placement, wide, high)
        return image, boxes

    def _draw(self, wide: int, high: int) -> Region | None:
        """Draw the image's position and the canvas's size; None if the canvas is too small."""
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        lower, upper = (height_of(share * high * wide, ratio) for share in self.area_range)
        if round(lower * ratio) < wide:
            lower = int((wide + _RANDOM_PAD_BELOW_HALF) / ratio)
        h = random_height(min(max(lower, high), upper), upper)
        w = round(h * ratio)
        if h - high < _MIN_BORDER or w - wide < _MIN_BORDER:
            return None
        y = random.randint(0, h - high)
        return random.randint(0, w - wide), y, w, h

    def _padded(self, image: Array, placement: Region) -> Array:
        x, y, w, h = placement
        tall, wide, channels = image.shape
        out = np.empty((h, w, channels), image.dtype)
        store(np, out, np.broadcast_to(self._color, out.shape))
        out[y : y + tall, x : x + wide] = image
        return out


def _to_canvas(boxes: Array, placement: Region, wide: int, high: int) -> Array:
    """Convert boxes from fractions of the image to fractions of the canvas."""
    x, y, w, h = placement
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
