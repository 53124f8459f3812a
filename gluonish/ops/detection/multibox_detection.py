"""_contrib_MultiBoxDetection: decode the predictions of a detector to boxes, classes and scores.

References:
    W. Liu, D. Anguelov, D. Erhan, C. Szegedy, S. Reed, C. Fu, A. Berg, SSD: Single Shot MultiBox
        Detector, 2016.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import (
    Matrix,
    Rule,
    Suppress,
    check_boxes,
    suppress_overlaps,
    to_centers,
)
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.zero_gradient import zero_gradient
from gluonish.ops.vision.extents import check_floating

_NAME = "_contrib_MultiBoxDetection"


def _infer(cls_prob: Spec, loc_pred: Spec, anchor: Spec, **attrs: Any) -> tuple[Spec]:
    check_floating(_NAME, cls_prob, loc_pred, anchor)
    if len(cls_prob.shape) != 3 or not cls_prob.shape[1]:
        raise OperatorError(f"{_NAME}: expected cls_prob (N, classes, A), got {cls_prob.shape}")
    batch, _, anchors = cls_prob.shape
    if loc_pred.shape != (batch, 4 * anchors):
        raise OperatorError(
            f"{_NAME}: expected loc_pred ({batch}, {4 * anchors}), got {loc_pred.shape}"
        )
    check_boxes(_NAME, "anchor", anchor, 3)
    if anchor.shape[:2] != (1, anchors):
        raise OperatorError(f"{_NAME}: expected anchor (1, {anchors}, 4), got {anchor.shape}")
    if len(attrs["variances"]) != 4:
        raise OperatorError(f"{_NAME}: expected 4 variances, got {attrs['variances']}")
    return (Spec((batch, anchors, 6), cls_prob.dtype),)


def _decoded(anchors: Matrix, offsets: Matrix, variances: tuple[float, ...], clip: bool) -> Matrix:
    boxes = to_centers(np, anchors)
    scaled = offsets * np.asarray(variances, boxes.dtype)
    centers = scaled[:, :2] * boxes[:, 2:] + boxes[:, :2]
    with np.errstate(over="ignore"):
        half = np.exp(scaled[:, 2:]) * boxes[:, 2:] / 2
    corners = np.concatenate([centers - half, centers + half], axis=1)
    return np.clip(corners, 0, 1) if clip else corners


def _suppressed(rows: Matrix, attrs: Any, suppress: Suppress) -> Matrix:
    """Sort rows (class, score, box) by score, and set the class of suppressed rows to -1."""
    order = np.argsort(-rows[:, 1], kind="stable")
    topk = attrs["nms_topk"]
    count = min(topk, len(rows)) if topk > 0 else len(rows)
    result = rows.copy()
    result[:count] = rows[order[:count]]
    result[count:, 0] = -1
    best = result[:count]
    classes = None if attrs["force_suppress"] else best[:, 0].copy()
    best[~suppress(best[:, 2:], classes, Rule(attrs["nms_threshold"], equal=True)), 0] = -1
    return result


def _detected(
    scores: Matrix, offsets: Matrix, anchors: Matrix, attrs: Any, suppress: Suppress
) -> Matrix:
    """Return the rows (class, score, box) of one image."""
    real = scores.dtype.type
    if len(scores) < 2:
        return np.empty((0, 6), scores.dtype)
    best = scores[1:].argmax(axis=0)
    score = np.take_along_axis(scores[1:], best[None], axis=0)[0]
    (index,) = np.nonzero(score >= real(attrs["threshold"]))
    boxes = _decoded(anchors[index], offsets[index], attrs["variances"], attrs["clip"])
    found = [best[index, None].astype(scores.dtype), score[index, None], boxes]
    rows: Matrix = np.concatenate(found, axis=1)
    if len(rows) and 0 < attrs["nms_threshold"] <= 1:
        return _suppressed(rows, attrs, suppress)
    return rows


def multibox_detection_kernel(
    xp: ModuleType,
    out: Any,
    cls_prob: Any,
    loc_pred: Any,
    anchor: Any,
    *,
    suppress: Suppress = suppress_overlaps,
    **attrs: Any,
) -> None:
    """Fill the output; ``suppress`` removes boxes."""
    scores, offsets, anchors = (widened_on_host(xp, x) for x in (cls_prob, loc_pred, anchor))
    result = np.full(out.shape, -1, scores.dtype)
    for i in range(len(scores)):
        rows = _detected(scores[i], offsets[i].reshape(-1, 4), anchors[0], attrs, suppress)
        result[i, : len(rows)] = rows
    out[...] = xp.asarray(result).astype(out.dtype)


MULTIBOX_DETECTION = register(
    Operator(
        _NAME,
        _infer,
        multibox_detection_kernel,
        zero_gradient,
        doc=(
            "Decode the predictions of a detector to rows (class, score, xmin, ymin, xmax,\n"
            "ymax).\n\n"
            "cls_prob holds class probabilities, with the background as class 0, which is\n"
            "omitted: class 0 of the output is class 1 of cls_prob. loc_pred times variances is\n"
            "the shift of the center divided by the anchor's width and height, then the\n"
            "logarithms of box width / anchor width and box height / anchor height. Anchors are\n"
            "corners (xmin, ymin, xmax, ymax). Anchors with a best score below threshold are\n"
            "omitted; unused rows are -1. clip clips boxes to the image. With nms_threshold in\n"
            "(0, 1] rows are sorted by score, and boxes whose IoU with a better box of the same\n"
            "class (or any, with force_suppress) is at least nms_threshold get class -1; with\n"
            "nms_topk above 0 only that many boxes are considered, and the others get class -1.\n"
            "background_id is accepted and ignored. The gradient is zero.\n\n"
            "Shapes: cls_prob (N, classes, A), loc_pred (N, 4 * A), anchor (1, A, 4), output\n"
            "(N, A, 6)."
        ),
        inputs=("cls_prob", "loc_pred", "anchor"),
        schema=Schema(
            clip=boolean(True),
            threshold=number(0.01),
            background_id=integer(0),
            nms_threshold=number(0.5),
            force_suppress=boolean(False),
            variances=numbers((0.1, 0.1, 0.2, 0.2)),
            nms_topk=integer(-1),
        ),
        aliases=("_npx_multibox_detection",),
        execution=Execution(heavy=True),
    )
)
