"""Random regions of an image whose boxes they must overlap by given shares."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.data.vision.transforms.bbox.boxes import (
    bbox_crop,
    bbox_iou,
    checked_boxes,
)

__all__ = ["Constraint", "bbox_random_crop_with_constraints", "check_limits"]

Array = np.ndarray[Any, Any]
Constraint = tuple[float | None, float | None]
Region = tuple[int, int, int, int]

_OVERLAPS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


def check_limits(name: str, min_scale: float, max_scale: float, max_aspect_ratio: float) -> None:
    """Check the limits that `bbox_random_crop_with_constraints` takes.

    Args:
        name: Name of the calling function, for the error message.
        min_scale: Minimum ratio of the region's sides to the image's.
        max_scale: Maximum of that ratio.
        max_aspect_ratio: Maximum change of the aspect ratio.

    Raises:
        ArgumentError: Not 0 < min_scale <= max_scale <= 1, or ``max_aspect_ratio`` is below 1.
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
    """Crop a random region that overlaps the boxes of an image, as in SSD.

    For each constraint it searches for a region whose IoU with every box is within the limits. One
    of the regions found, or the whole image, is chosen at random. Python's `random` draws the
    numbers.

    Args:
        bbox: Boxes (N, 4 or more): xmin, ymin, xmax, ymax in pixels, and further columns.
        size: (width, height) of the image, in pixels.
        min_scale: Minimum ratio of the region's sides to the image's, before the aspect ratio
            changes.
        max_scale: Maximum of that ratio.
        max_aspect_ratio: Maximum factor by which the aspect ratio may change.
        constraints: Pairs of the minimum and maximum IoU, None for no limit; by default those of
            the reference.
        max_trial: Number of regions to try for each constraint.

    Returns:
        The boxes whose centre is in the region, in its coordinates; and (left, top, width, height)
        of the region. If no region keeps a box, the whole image.

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
