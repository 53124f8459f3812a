"""Random regions of an image whose boxes they must overlap by given shares."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.contrib.data.vision.transforms.bbox.boxes import bbox_crop, bbox_iou, checked_boxes
from gluonish.core.errors import ArgumentError

__all__ = ["Constraint", "bbox_random_crop_with_constraints", "check_limits"]

Array = np.ndarray[Any, Any]
Constraint = tuple[float | None, float | None]
Region = tuple[int, int, int, int]

_OVERLAPS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


def check_limits(name: str, min_scale: float, max_scale: float, max_aspect_ratio: float) -> None:
    """Check the arguments of `bbox_random_crop_with_constraints`.

    Raises:
        ArgumentError: The scales are not in order in (0, 1], or the ratio is below 1.
    """
    if not 0 < min_scale <= max_scale <= 1 or max_aspect_ratio < 1:
        raise ArgumentError(
            f"{name}: expected 0 < min_scale <= max_scale <= 1 and max_aspect_ratio of at least 1, "
            f"got {min_scale}, {max_scale} and {max_aspect_ratio}"
        )


def bbox_random_crop_with_constraints(
    bbox: Array,
    size: tuple[int, int],
    min_scale: float = 0.3,
    max_scale: float = 1,
    max_aspect_ratio: float = 2,
    constraints: Sequence[Constraint] | None = None,
    max_trial: int = 50,
) -> tuple[Array, Region]:
    """Return a random region of an image, and its boxes; drawn from `random`.

    For each constraint a region is looked for that all boxes overlap as it says; one of those that
    were found, or the whole image, is taken.

    Args:
        bbox: (N, 4 or more).
        size: Width and height of the image, in pixels.
        min_scale: Least ratio of the region's sides to the image's, but for the proportions.
        max_scale: The largest.
        max_aspect_ratio: How much the proportions may differ from the image's.
        constraints: Least and largest intersection over union of the region with each box, or None
            for no limit; the default are those of the reference.
        max_trial: How many regions are tried for each.

    Returns:
        The boxes whose middle is in the region, in its coordinates; and left, upper edge, width
        and height of the region. The whole image where no region has a box.

    Raises:
        ArgumentError: ``bbox`` has another shape, or limits are out of order.

    References:
        W. Liu, D. Anguelov, D. Erhan, C. Szegedy, S. Reed, C. Fu, A. Berg, SSD: Single Shot
        MultiBox Detector, ECCV 2016.
    """
    name = "bbox_random_crop_with_constraints"
    boxes = checked_boxes(name, bbox)
    check_limits(name, min_scale, max_scale, max_aspect_ratio)
    found: list[Region] = [(0, 0, *size)]
    for constraint in _OVERLAPS if constraints is None else constraints:
        for _ in range(max_trial):
            region = _region(size, random.uniform(min_scale, max_scale), max_aspect_ratio)
            if _overlap(boxes, region, constraint):
                found.append(region)
                break
    while found:
        region = found.pop(random.randrange(len(found)))
        left = bbox_crop(boxes, region, allow_outside_center=False)
        if len(left) or not len(boxes):
            return left, region
    return boxes.copy(), (0, 0, *size)


def _region(size: tuple[int, int], scale: float, most: float) -> Region:
    wide, high = size
    # Proportions with which the region stays inside.
    ratio = random.uniform(max(1 / most, scale * scale), min(most, 1 / (scale * scale)))
    width = min(wide, max(1, int(wide * scale * math.sqrt(ratio))))
    height = min(high, max(1, int(high * scale / math.sqrt(ratio))))
    return random.randint(0, wide - width), random.randint(0, high - height), width, height


def _overlap(boxes: Array, region: Region, constraint: Constraint) -> bool:
    if not len(boxes):
        return True
    x, y, width, height = region
    overlaps = bbox_iou(boxes, np.array([[x, y, x + width, y + height]]))
    least, most = constraint
    above = least is None or overlaps.min() >= least
    return bool(above and (most is None or overlaps.max() <= most))
