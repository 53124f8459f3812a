"""_contrib_box_iou: intersection over union of all pairs of boxes."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, choice
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import as_corners, box_overlaps, check_boxes
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.zero_gradient import zero_gradient
from gluonish.ops.vision.extents import check_floating

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
