"""Boxes as raw arrays: conversion of formats, and intersection over union.

A box is (x1, y1, x2, y2), or center and size (x, y, width, height), in the last axis.

_contrib_box_iou: intersection over union of all pairs of boxes.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_floating

Matrix = np.ndarray[Any, Any]


def check_boxes(operator: str, name: str, spec: Spec, rank: int | None = None) -> None:
    """Raise OperatorError for an array that is not (..., 4), or has another rank."""
    expected = "(..., 4)" if rank is None else f"of {rank} axes, the last of extent 4"
    wrong_rank = len(spec.shape) < 2 if rank is None else len(spec.shape) != rank
    if wrong_rank or spec.shape[-1] != 4:
        raise OperatorError(f"{operator}: expected {name} {expected}, got {spec.shape}")


def as_corners(xp: ModuleType, boxes: Any, form: str) -> Any:
    """Convert boxes (..., 4) in the format ``form``, ``corner`` or ``center``, to corners."""
    if form == "corner":
        return boxes
    half = boxes[..., 2:] / 2
    return xp.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


def to_centers(xp: ModuleType, boxes: Any) -> Any:
    """Convert boxes (..., 4) from corners to center and size."""
    low, high = boxes[..., :2], boxes[..., 2:]
    return xp.concatenate([(low + high) / 2, high - low], axis=-1)


def box_overlaps(xp: ModuleType, first: Any, second: Any, border: int = 0) -> Any:
    """Return the intersection over union of boxes (..., 4) as corners, which broadcast.

    A box with corners in the wrong order has no area; 0 / 0 gives 0. ``border`` is added to every
    side: 1 if the corners are pixels within the box.
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
    """Options of non-maximum suppression.

    Attributes:
        threshold: Largest permitted overlap.
        equal: Whether an overlap of exactly ``threshold`` is suppressed.
        border: Added to every side.
        most: Maximum number of boxes; None for all.
    """

    threshold: float
    equal: bool = False
    border: int = 0
    most: int | None = None


# (corners (M, 4), best first; classes or None; rule) -> mask of the boxes that remain
Suppress = Callable[[Matrix, Matrix | None, Rule], Matrix]


def suppress_overlaps(boxes: Matrix, classes: Matrix | None, rule: Rule) -> Matrix:
    """Return the mask of boxes that remain after non-maximum suppression.

    Args:
        boxes: Corners (M, 4), best first.
        classes: Boxes only suppress boxes of the same class; None for any class.
        rule: Further options.
    """
    bound, found = boxes.dtype.type(rule.threshold), 0
    remains = np.ones(len(boxes), bool)
    for i in range(len(boxes)):
        if not remains[i]:
            continue
        found += 1
        if found == rule.most:
            remains[i + 1 :] = False
            break
        rest = slice(i + 1, None)
        overlaps = box_overlaps(np, boxes[i], boxes[rest], rule.border)
        hit = overlaps >= bound if rule.equal else overlaps > bound
        if classes is not None:
            hit &= classes[rest] == classes[i]
        remains[rest] &= ~hit
    return remains


_NAME = "_contrib_box_iou"


def _infer(lhs: Spec, rhs: Spec, **_: str) -> tuple[Spec]:
    check_boxes(_NAME, "lhs", lhs)
    check_boxes(_NAME, "rhs", rhs)
    check_floating(_NAME, lhs, rhs)
    return (Spec(limited(_NAME, lhs.shape[:-1] + rhs.shape[:-1]), lhs.dtype),)


def _kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any, **attrs: str) -> None:
    first = as_corners(xp, widen(lhs), attrs["format"]).reshape(math.prod(lhs.shape[:-1]), 1, 4)
    second = as_corners(xp, widen(rhs), attrs["format"]).reshape(math.prod(rhs.shape[:-1]), 4)
    out[...] = box_overlaps(xp, first, second).reshape(out.shape)


BOX_IOU = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Compute the intersection over union (IoU) of all pairs of boxes.\n\n"
            "format 'corner' is (xmin, ymin, xmax, ymax), 'center' (x, y, width, height). Two\n"
            "boxes without area give 0. The gradient is zero.\n\n"
            "Shapes: lhs (..., 4), rhs (..., 4), output lhs.shape[:-1] + rhs.shape[:-1]."
        ),
        inputs=("lhs", "rhs"),
        schema=Schema(format=choice("center", "corner", default="corner")),
    )
)
