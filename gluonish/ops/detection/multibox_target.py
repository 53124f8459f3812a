"""_contrib_MultiBoxTarget: training targets of a detector's anchors.

References:
    W. Liu, D. Anguelov, D. Erhan, C. Szegedy, S. Reed, C. Fu, A. Berg, SSD: Single Shot MultiBox
        Detector, 2016.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import Matrix, box_overlaps, check_boxes, to_centers
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.zero_gradient import zero_gradient
from gluonish.ops.vision.extents import check_floating

_NAME = "_contrib_MultiBoxTarget"
_MIN_OVERLAP = 1e-6  # of a box and its best anchor, which is matched regardless of the threshold
_NEGATIVE, _IGNORED = -1, -2  # instead of the index of a box


def _infer(anchor: Spec, label: Spec, cls_pred: Spec, **attrs: Any) -> tuple[Spec, ...]:
    check_floating(_NAME, anchor, label, cls_pred)
    check_boxes(_NAME, "anchor", anchor, 3)
    if anchor.shape[0] != 1 or not anchor.shape[1]:
        raise OperatorError(f"{_NAME}: expected anchor (1, A, 4), got {anchor.shape}")
    if len(label.shape) != 3 or label.shape[2] < 5 or not label.shape[1]:
        raise OperatorError(
            f"{_NAME}: expected label (N, L, 5 or more) with at least one row, got {label.shape}"
        )
    batch, anchors = label.shape[0], anchor.shape[1]
    shape = cls_pred.shape
    if len(shape) != 3 or (shape[0], shape[2]) != (batch, anchors) or not shape[1]:
        raise OperatorError(
            f"{_NAME}: expected cls_pred ({batch}, classes, {anchors}), got {shape}"
        )
    if len(attrs["variances"]) != 4:
        raise OperatorError(f"{_NAME}: expected 4 variances, got {attrs['variances']}")
    if attrs["negative_mining_ratio"] == math.inf:
        raise OperatorError(f"{_NAME}: expected a finite negative_mining_ratio, got inf")
    boxes = Spec((batch, 4 * anchors), anchor.dtype)
    return boxes, boxes, Spec((batch, anchors), anchor.dtype)


def match_boxes(overlaps: Matrix, threshold: float) -> tuple[Matrix, Matrix]:
    """Match anchors to boxes; return the box of each anchor (-1 for none), and its best overlap.

    First match every box to the anchor with the largest overlap, best pairs first; then match every
    other anchor to the box with the largest overlap, if that is above ``threshold`` and
    ``threshold`` is above 0. ``overlaps`` has shape (anchors, boxes).
    """
    matched = np.full(len(overlaps), -1)
    left = overlaps.copy()
    for _ in range(min(left.shape)):
        anchor, box = divmod(int(left.argmax()), left.shape[1])
        if not left[anchor, box] > _MIN_OVERLAP:
            break
        matched[anchor] = box
        left[anchor], left[:, box] = -1, -1
    best = overlaps.max(axis=1)
    if threshold > 0:
        above = (matched < 0) & (best > overlaps.dtype.type(threshold))
        matched[above] = overlaps.argmax(axis=1)[above]
    return matched, best


def _mined(matched: Matrix, best: Matrix, scores: Matrix, ratio: float, bound: float) -> Matrix:
    """Mark anchors that are neither positive nor hard negatives as ignored.

    Hard negatives are the anchors with the least probable background, ratio times the positives.
    """
    unmatched = matched < 0
    count = int(min((~unmatched).sum() * ratio, unmatched.sum()))
    (candidates,) = np.nonzero(unmatched & (best < best.dtype.type(bound)))
    exponents = np.exp(scores - scores.max(axis=0))
    background = exponents[0] / exponents.sum(axis=0)
    hardest = candidates[np.argsort(background[candidates], kind="stable")][:count]
    result = np.where(unmatched, _IGNORED, matched)
    result[hardest] = _NEGATIVE
    return result


def _offsets(anchors: Matrix, boxes: Matrix, variances: tuple[float, ...]) -> Matrix:
    """Return the shifts of centers in units of anchor sizes, and the logarithms of size ratios."""
    source, target = to_centers(np, anchors), to_centers(np, boxes)
    with np.errstate(all="ignore"):
        shifts = (target[:, :2] - source[:, :2]) / source[:, 2:]
        sizes = np.log(np.maximum(target[:, 2:] / source[:, 2:], 0))
    scaled: Matrix = np.concatenate([shifts, sizes], axis=1) / np.asarray(variances, source.dtype)
    return scaled


def _kernel(xp: ModuleType, out: Any, anchor: Any, label: Any, cls_pred: Any, **attrs: Any) -> None:
    anchors, labels, scores = (widened_on_host(xp, x) for x in (anchor, label, cls_pred))
    anchors = anchors[0]
    shape = (len(labels), len(anchors))
    targets = np.zeros((*shape, 4), anchors.dtype)
    masks = np.zeros((*shape, 4), anchors.dtype)
    classes = np.full(shape, attrs["ignore_label"], anchors.dtype)
    for i, rows in enumerate(labels):
        (ends,) = np.nonzero(rows[:, 0] == -1)
        rows = rows[: ends[0]] if ends.size else rows
        if not len(rows):
            continue
        overlaps = box_overlaps(np, anchors[:, None], rows[:, 1:5])
        matched, best = match_boxes(overlaps, attrs["overlap_threshold"])
        if attrs["negative_mining_ratio"] > 0:
            mining = attrs["negative_mining_ratio"], attrs["negative_mining_thresh"]
            matched = _mined(matched, best, scores[i], *mining)
        positive = matched >= 0
        boxes = rows[matched[positive]]
        targets[i, positive] = _offsets(anchors[positive], boxes[:, 1:5], attrs["variances"])
        masks[i, positive] = 1
        classes[i, positive] = boxes[:, 0] + 1
        classes[i, matched == _NEGATIVE] = 0
    for target, value in zip(out, (targets, masks, classes), strict=True):
        target[...] = xp.asarray(value.reshape(target.shape)).astype(target.dtype)


MULTIBOX_TARGET = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Compute training targets for anchors: offsets to boxes, a mask of the matched\n"
            "anchors, and classes.\n\n"
            "Each label row is (class, xmin, ymin, xmax, ymax, ...); labels end at the first\n"
            "row with class -1. Anchors are corners, too. Boxes and anchors are matched\n"
            "greedily by IoU: each box is matched to the free anchor of largest IoU; then each\n"
            "remaining anchor is matched to the box of largest IoU, if the IoU is above\n"
            "overlap_threshold and overlap_threshold is above 0. Offsets are the shift of the\n"
            "center divided by the anchor's width and height, then the logarithms of box width\n"
            "/ anchor width and box height / anchor height, all divided by variances. The class\n"
            "of an anchor is the class of its box plus 1, or 0 (background) without a box. With\n"
            "negative_mining_ratio above 0, only that many anchors for each matched anchor are\n"
            "background: anchors with IoU below negative_mining_thresh and the lowest background\n"
            "probability in cls_pred; the others have ignore_label. All anchors of an image\n"
            "without boxes have ignore_label. minimum_negative_samples is accepted and ignored.\n"
            "The gradient is zero.\n\n"
            "Shapes: anchor (1, A, 4), label (N, L, 5 or more), cls_pred (N, classes, A),\n"
            "outputs (N, 4 * A), (N, 4 * A) and (N, A)."
        ),
        inputs=("anchor", "label", "cls_pred"),
        schema=Schema(
            overlap_threshold=number(0.5),
            ignore_label=number(-1.0),
            negative_mining_ratio=number(-1.0),
            negative_mining_thresh=number(0.5),
            minimum_negative_samples=integer(0),
            variances=numbers((0.1, 0.1, 0.2, 0.2)),
        ),
        aliases=("_npx_multibox_target",),
        outputs=3,
        output_names=("loc_target", "loc_mask", "cls_target"),
        execution=Execution(heavy=True),
    )
)
