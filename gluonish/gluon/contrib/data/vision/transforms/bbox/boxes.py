"""Functions of bounding boxes.

Further columns, such as a class, are preserved. Inputs are not modified.
"""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError

Array = np.ndarray[Any, Any]
Size = tuple[float, float]


def checked_boxes(name: str, bbox: Any, copy: bool = False) -> Array:
    """Check boxes; return them as a NumPy array.

    Args:
        name: Name of the calling function, for the error message.
        bbox: Boxes (N, 4 or more).
        copy: Whether the result must be a copy.

    Raises:
        ArgumentError: ``bbox`` has another shape.
    """
    boxes = np.array(bbox) if copy else np.asarray(bbox)
    if boxes.ndim != 2 or boxes.shape[1] < 4:
        raise ArgumentError(
            f"{name}: expected boxes (N, 4 or more columns) of xmin, ymin, xmax, ymax, got shape "
            f"{boxes.shape}"
        )
    return boxes


def bbox_crop(
    bbox: Array, crop_box: Sequence[float | None] | None = None, allow_outside_center: bool = True
) -> Array:
    """Clip boxes to a cropped region, and return them in the region's coordinates.

    Args:
        bbox: Boxes (N, 4 or more): xmin, ymin, xmax, ymax in pixels, and further columns.
        crop_box: Left, top, width and height of the region, in pixels. A left or top of None is 0,
            a width or height of None no limit; without ``crop_box`` the boxes are not changed.
        allow_outside_center: Whether to keep boxes whose centre is outside the region.

    Returns:
        At most N boxes: boxes outside the region are dropped.

    Raises:
        ArgumentError: ``crop_box`` does not have four entries, or ``bbox`` has another shape.

    Example:
        >>> import numpy as np
        >>> from gluonish.gluon.contrib.data.vision.transforms.bbox import bbox_crop
        >>> bbox_crop(np.array([[10, 10, 50, 50]]), (20, 0, 100, 30)).tolist()
        [[0, 10, 30, 30]]
    """
    boxes = checked_boxes("bbox_crop", bbox, copy=True)
    if crop_box is None:
        return boxes
    if len(crop_box) != 4:
        raise ArgumentError(f"bbox_crop: expected crop_box of 4 numbers or None, got {crop_box}")
    left, top, wide, high = crop_box
    low = np.array([left or 0, top or 0], float)
    size = np.array([np.inf if extent is None else extent for extent in (wide, high)], float)
    middles = (boxes[:, :2] + boxes[:, 2:4]) / 2
    corners = boxes[:, :4].reshape(-1, 2, 2)
    clipped = np.clip(corners, low, low + size) - low
    mask = (clipped[:, 0] < clipped[:, 1]).all(axis=1)
    if not allow_outside_center:
        mask &= ((low <= middles) & (middles < low + size)).all(axis=1)
    boxes[:, :4] = clipped.reshape(-1, 4)
    found: Array = boxes[mask]
    return found


def bbox_flip(bbox: Array, size: Size, flip_x: bool = False, flip_y: bool = False) -> Array:
    """Return the boxes of a flipped image.

    Args:
        bbox: Boxes (N, 4 or more).
        size: (width, height) of the image, in pixels.
        flip_x: Whether the image was flipped left to right.
        flip_y: Whether the image was flipped top to bottom.

    Raises:
        ArgumentError: ``size`` is not a pair, or ``bbox`` has another shape.
    """
    boxes = checked_boxes("bbox_flip", bbox, copy=True)
    wide, high = _pair("bbox_flip", "size", size)
    if flip_x:
        boxes[:, [0, 2]] = wide - boxes[:, [2, 0]]
    if flip_y:
        boxes[:, [1, 3]] = high - boxes[:, [3, 1]]
    return boxes


def bbox_resize(bbox: Array, in_size: Size, out_size: Size) -> Array:
    """Return the boxes of a resized image.

    Args:
        bbox: Boxes (N, 4 or more).
        in_size: (width, height) of the original image, in pixels.
        out_size: (width, height) of the resized image.

    Raises:
        ArgumentError: A size is not a pair, or ``bbox`` has another shape.
    """
    boxes = checked_boxes("bbox_resize", bbox, copy=True)
    before = np.array(_pair("bbox_resize", "in_size", in_size), float)
    after = np.array(_pair("bbox_resize", "out_size", out_size), float)
    boxes[:, :4] = boxes[:, :4] * np.tile(after / before, 2)
    return boxes


def bbox_translate(bbox: Array, x_offset: float = 0, y_offset: float = 0) -> Array:
    """Shift boxes.

    Args:
        bbox: (N, 4 or more).
        x_offset: Shift to the right, in pixels.
        y_offset: Shift downward, in pixels.

    Raises:
        ArgumentError: ``bbox`` has another shape.
    """
    boxes = checked_boxes("bbox_translate", bbox, copy=True)
    boxes[:, :4] = boxes[:, :4] + np.array([x_offset, y_offset] * 2)
    return boxes


def bbox_iou(bbox_a: Array, bbox_b: Array, offset: float = 0) -> Array:
    """Return the intersection over union (IoU) of each pair of boxes.

    Args:
        bbox_a: Boxes (N, 4 or more).
        bbox_b: Boxes (M, 4 or more).
        offset: Added to widths and heights: 1 if xmax and ymax are the last pixels inside the box.

    Returns:
        IoU in [0, 1], (N, M); 0 if neither box has an area.

    Raises:
        ArgumentError: The boxes have other shapes.
    """
    first = checked_boxes("bbox_iou", bbox_a).astype(float)[:, None, :4]
    second = checked_boxes("bbox_iou", bbox_b).astype(float)[None, :, :4]
    low = np.maximum(first[..., :2], second[..., :2])
    high = np.minimum(first[..., 2:], second[..., 2:])
    both = np.maximum(high - low + offset, 0).prod(axis=-1)
    areas = [(boxes[..., 2:] - boxes[..., :2] + offset).prod(axis=-1) for boxes in (first, second)]
    union = areas[0] + areas[1] - both
    shares: Array = np.divide(both, union, out=np.zeros_like(both), where=union > 0)
    return shares


def bbox_xywh_to_xyxy(xywh: Any) -> Any:
    """Convert boxes from position and size to corners; xmax and ymax are the last pixels inside.

    Args:
        xywh: Left, top, width and height of one box, or an array (N, 4).

    Returns:
        xmin, ymin, xmin + width - 1, ymin + height - 1, in the same form; a width or height below 1
        is set to 1.

    Raises:
        ArgumentError: There are not four numbers for a box.
    """
    return _converted("bbox_xywh_to_xyxy", xywh, lambda low, size: low + np.maximum(size - 1, 0))


def bbox_xyxy_to_xywh(xyxy: Any) -> Any:
    """Convert boxes from corners to left, top, width and height; see `bbox_xywh_to_xyxy`.

    Args:
        xyxy: xmin, ymin, xmax and ymax of one box, or an array (N, 4).

    Raises:
        ArgumentError: There are not four numbers for a box.
    """
    return _converted("bbox_xyxy_to_xywh", xyxy, lambda low, high: high - low + 1)


def bbox_clip_xyxy(xyxy: Any, width: float, height: float) -> Any:
    """Clip the corners of boxes to an image.

    Args:
        xyxy: xmin, ymin, xmax and ymax of one box, or an array (N, 4).
        width: Width of the image, in pixels.
        height: Height of the image, in pixels.

    Raises:
        ArgumentError: There are not four numbers for a box.
    """
    last = np.array([width - 1, height - 1])
    return _converted(
        "bbox_clip_xyxy",
        xyxy,
        lambda low, high: np.clip(high, 0, last),
        lambda low: np.clip(low, 0, last),
    )


def _converted(name: str, box: Any, second: Any, first: Any = None) -> Any:
    boxes = np.asarray(box)
    if boxes.ndim not in (1, 2) or boxes.shape[-1] != 4:
        raise ArgumentError(
            f"{name}: expected four numbers or rows of four, got shape {boxes.shape}"
        )
    low, other = boxes[..., :2], boxes[..., 2:]
    made = np.concatenate([low if first is None else first(low), second(low, other)], axis=-1)
    return tuple(made.tolist()) if boxes.ndim == 1 and not isinstance(box, np.ndarray) else made


def _pair(name: str, argument: str, size: Any) -> Size:
    if len(size) != 2:
        raise ArgumentError(f"{name}: expected {argument} (width, height), got {size}")
    return size[0], size[1]


Constraint = tuple[float | None, float | None]
Region = tuple[int, int, int, int]

_OVERLAPS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


def check_limits(name: str, min_scale: float, max_scale: float, max_aspect_ratio: float) -> None:
    """Check the limits of `bbox_random_crop_with_constraints`.

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

    For each constraint, random regions are tried until the IoU with every box is within the limits.
    One of the regions found, or the whole image, is chosen at random. Random numbers come from
    Python's `random`.

    Args:
        bbox: Boxes (N, 4 or more): xmin, ymin, xmax, ymax in pixels, and further columns.
        size: (width, height) of the image, in pixels.
        min_scale: Minimum ratio of the region's sides to the image's, before the aspect ratio
            changes.
        max_scale: Maximum of that ratio.
        max_aspect_ratio: Maximum factor by which the aspect ratio may change.
        constraints: Pairs of the minimum and maximum IoU, None for no limit; by default the
            reference's.
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


def _region(size: tuple[int, int], scale: float, upper: float) -> Region:
    wide, high = size
    # Range of the aspect ratio with which the region fits into the image.
    ratio = random.uniform(max(1 / upper, scale * scale), min(upper, 1 / (scale * scale)))
    width = min(wide, max(1, int(wide * scale * math.sqrt(ratio))))
    height = min(high, max(1, int(high * scale / math.sqrt(ratio))))
    return random.randint(0, wide - width), random.randint(0, high - height), width, height


def _overlap(boxes: Array, region: Region, constraint: Constraint) -> bool:
    if not len(boxes):
        return True
    x, y, width, height = region
    overlaps = bbox_iou(boxes, np.array([[x, y, x + width, y + height]]))
    lower, upper = constraint
    above = lower is None or overlaps.min() >= lower
    return bool(above and (upper is None or overlaps.max() <= upper))
