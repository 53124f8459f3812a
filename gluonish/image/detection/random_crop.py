"""DetRandomCropAug: regions of images in which enough of their objects is left."""

import random
from typing import Any

import numpy as np

from gluonish.image.augmenters.checks import checked_amount, checked_image
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

__all__ = ["DetRandomCropAug"]

_LEAST_OBJECT = 2  # pixels: smaller ones have no say in whether a region is good
_BELOW_HALF = 0.4999999  # rounds to nearest, a half down, when a fraction is cut off


class DetRandomCropAug(DetAugmenter):
    """Crop a random region of an image that contains enough of its objects.

    Regions are drawn from Python's `random` until one satisfies the limits; if none does, the image
    is not changed. Boxes are clipped to the region, and objects of which too little remains are
    removed.

    Args:
        min_object_covered: Minimum fraction of its area that the region must contain of each object
            that it touches.
        aspect_ratio_range: Range (min, max) of the region's aspect ratio, width / height; or a
            single number.
        area_range: Range (min, max) of the region's area as a fraction of the image's; or a single
            number.
        min_eject_coverage: Objects of which at most this fraction remains are removed.
        max_attempts: Maximum number of regions to try.

    Attributes:
        enabled: True. (In MXNet a reversed range is meant to switch the augmenter off, but fails;
            here it is an error, too.)

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
            region = self._drawn(wide, high)
            if region is None or not self._is_good(boxes, region, wide, high):
                continue
            left = self._left_boxes(boxes, region, wide, high)
            if len(left):
                x, y, w, h = region
                return image[y : y + h, x : x + w], left
        return image, boxes

    def _drawn(self, wide: int, high: int) -> Region | None:
        """Return a region; None where pixels do not allow the area that was drawn."""
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        least, largest = (share * high * wide for share in self.area_range)
        tallest = nearest_side(largest, ratio)
        if round(tallest * ratio) > wide:
            tallest = int((wide + _BELOW_HALF) / ratio)
        tallest = min(tallest, high)
        h = drawn_height(min(nearest_side(least, ratio), tallest), tallest)
        w = round(h * ratio)
        # Rounding may have missed the area.
        if w * h < least:
            h += 1
            w = round(h * ratio)
        if w * h > largest:
            h -= 1
            w = round(h * ratio)
        if not (least <= w * h <= largest and 0 < w <= wide and 0 < h <= high):
            return None
        y = random.randint(0, high - h)
        return random.randint(0, wide - w), y, w, h

    def _is_good(self, boxes: Array, region: Region, wide: int, high: int) -> bool:
        """Return whether enough is seen of each object that a region touches."""
        x, y, w, h = region
        corners = boxes[:, 1:5]
        large = _areas(corners) * wide * high > _LEAST_OBJECT
        if not large.any():
            return False
        # In the precision of the boxes, so that one that only touches the region is not in it.
        ends = (x / wide, y / high, (x + w) / wide, (y + h) / high)
        x0, y0, x1, y1 = np.array(ends, boxes.dtype)
        seen = _areas(np.clip(corners, (x0, y0, x0, y0), (x1, y1, x1, y1)))[large]
        shares = seen / _areas(corners)[large]
        shares = shares[shares > 0]
        return bool(shares.size and shares.min() > self.min_object_covered)

    def _left_boxes(self, boxes: Array, region: Region, wide: int, high: int) -> Array:
        """Return the boxes of which enough is left, as they are in the region."""
        x, y, w, h = (part / extent for part, extent in zip(region, (wide, high) * 2, strict=True))
        made = boxes.copy()
        start, extent = np.array((x, y, x, y), boxes.dtype), np.array((w, h, w, h), boxes.dtype)
        moved = (boxes[:, 1:5] - start) / extent
        made[:, 1:5] = np.clip(moved, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = _areas(made[:, 1:5]) * w * h / _areas(boxes[:, 1:5])
        seen = (made[:, 3] > made[:, 1]) & (made[:, 4] > made[:, 2])
        kept: Any = made[seen & (shares > self.min_eject_coverage)]
        return kept  # type: ignore[no-any-return]  # an array


def _areas(corners: Array) -> Array:
    """Return the areas of boxes, (N, 4): left, top, right, bottom."""
    sides = np.maximum(0, corners[:, 2:] - corners[:, :2])
    found: Array = sides[:, 0] * sides[:, 1]
    return found
