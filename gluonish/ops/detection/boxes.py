"""Boxes as raw arrays: corners and centres, areas, and intersection over union.

A box is (x1, y1, x2, y2), or (x, y, width, height) of its centre, in the last axis.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec

Matrix = np.ndarray[Any, Any]


def check_boxes(operator: str, name: str, spec: Spec, rank: int | None = None) -> None:
    """Refuse an array that is not (..., 4), or that has another rank.

    Raises:
        OperatorError: naming the array.
    """
    wanted = "(..., 4)" if rank is None else f"of {rank} axes, the last of extent 4"
    short = len(spec.shape) < 2 if rank is None else len(spec.shape) != rank
    if short or spec.shape[-1] != 4:
        raise OperatorError(f"{operator}: expected {name} {wanted}, got {spec.shape}")


def as_corners(xp: ModuleType, boxes: Any, form: str) -> Any:
    """Return boxes (..., 4) by their corners; ``form`` is ``corner`` or ``center``."""
    if form == "corner":
        return boxes
    half = boxes[..., 2:] / 2
    return xp.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


def to_centers(xp: ModuleType, boxes: Any) -> Any:
    """Return boxes (..., 4) by centre and size, of their corners."""
    low, high = boxes[..., :2], boxes[..., 2:]
    return xp.concatenate([(low + high) / 2, high - low], axis=-1)


def box_overlaps(xp: ModuleType, first: Any, second: Any, border: int = 0) -> Any:
    """Return the intersection over union of boxes (..., 4) by corners that broadcast; 0 for 0 / 0.

    A box whose corners are in the wrong order has no area.

    Args:
        first: Boxes.
        second: Boxes.
        border: Added to every side: 1 where corners are pixels that the box takes in.
    """
    left, top, right, bottom = (first[..., i] for i in range(4))
    x1, y1, x2, y2 = (second[..., i] for i in range(4))
    common = _area(
        xp,
        xp.minimum(right, x2) - xp.maximum(left, x1),
        xp.minimum(bottom, y2) - xp.maximum(top, y1),
        border,
    )
    union = _area(xp, right - left, bottom - top, border) + _area(xp, x2 - x1, y2 - y1, border)
    union = union - common
    positive = union > 0
    return xp.where(positive, common, 0) / xp.where(positive, union, 1)


def _area(xp: ModuleType, width: Any, height: Any, border: int) -> Any:
    if border:
        width, height = width + border, height + border
    return xp.maximum(width, 0) * xp.maximum(height, 0)


class Rule(NamedTuple):
    """How boxes remove others.

    Attributes:
        threshold: Largest overlap that remains.
        equal: An overlap of exactly ``threshold`` does not remain.
        border: Added to every side.
        most: No more boxes are asked for; None: all.
    """

    threshold: float
    equal: bool = False
    border: int = 0
    most: int | None = None


# Of boxes by corners (M, 4), the best first, and their classes (or None), which remain.
Suppress = Callable[[Matrix, Matrix | None, Rule], Matrix]


def kept_by_overlap(boxes: Matrix, classes: Matrix | None, rule: Rule) -> Matrix:
    """Return which boxes remain when each removes those behind it that overlap it too much.

    Args:
        boxes: Corners (M, 4), the best first.
        classes: Only boxes of one class remove each other; None: all do.
        rule: The other options.
    """
    bound, found = boxes.dtype.type(rule.threshold), 0
    kept = np.ones(len(boxes), bool)
    for i in range(len(boxes)):
        if not kept[i]:
            continue
        found += 1
        if found == rule.most:
            kept[i + 1 :] = False
            break
        rest = slice(i + 1, None)
        overlaps = box_overlaps(np, boxes[i], boxes[rest], rule.border)
        hit = overlaps >= bound if rule.equal else overlaps > bound
        if classes is not None:
            hit &= classes[rest] == classes[i]
        kept[rest] &= ~hit
    return kept
