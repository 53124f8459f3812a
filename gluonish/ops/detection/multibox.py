"""The operators of SSD: anchor boxes, their training targets, and decoding of predictions.

References:
    W. Liu, D. Anguelov, D. Erhan, C. Szegedy, S. Reed, C. Fu, A. Berg, SSD: Single Shot MultiBox
        Detector, 2016.
"""

import math
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
    box_overlaps,
    check_boxes,
    suppress_overlaps,
    to_centers,
)
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_floating

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
    """Fill the output; ``suppress`` removes overlapping boxes."""
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


_PRIOR = "_contrib_MultiBoxPrior"
_Numbers = tuple[float, ...]


def _infer_multibox_prior(
    data: Spec,
    *,
    sizes: _Numbers,
    ratios: _Numbers,
    clip: bool,
    steps: _Numbers,
    offsets: _Numbers,
) -> tuple[Spec]:
    if len(data.shape) < 4 or min(data.shape[2:4]) < 1:
        raise OperatorError(f"{_PRIOR}: expected nonempty data (N, C, H, W), got {data.shape}")
    check_floating(_PRIOR, data)
    if not sizes or not ratios or min(ratios) <= 0:
        raise OperatorError(
            f"{_PRIOR}: expected at least one size, and at least one ratio, all above 0, got sizes "
            f"{sizes} and ratios {ratios}"
        )
    if len(steps) != 2 or len(offsets) != 2 or steps[0] * steps[1] < 0:
        raise OperatorError(
            f"{_PRIOR}: expected two steps, both positive or neither, and two offsets, got "
            f"{steps} and {offsets}"
        )
    count = data.shape[2] * data.shape[3] * (len(sizes) + len(ratios) - 1)
    return (Spec(limited(_PRIOR, (1, count, 4)), data.dtype),)


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    sizes: _Numbers,
    ratios: _Numbers,
    clip: bool,
    steps: _Numbers,
    offsets: _Numbers,
) -> None:
    height, width = data.shape[2:4]
    step = [s if s > 0 else 1 / n for s, n in zip(steps, (height, width), strict=True)]
    rows = (np.arange(height) + offsets[0]) * step[0]
    columns = (np.arange(width) + offsets[1]) * step[1]
    # Every size with the first ratio, then every other ratio with the first size.
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    halves = np.array(
        [
            (size * height / width * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)
            for size, ratio in shapes
        ]
    )
    centers = np.empty((height, width, 1, 2))
    centers[..., 0] = columns[None, :, None]
    centers[..., 1] = rows[:, None, None]
    boxes = np.concatenate([centers - halves, centers + halves], axis=-1)
    if clip:
        boxes = np.clip(boxes, 0, 1)
    wide = boxes.reshape(out.shape).astype(accumulator(out.dtype))
    out[...] = xp.asarray(wide)


MULTIBOX_PRIOR = register(
    Operator(
        _PRIOR,
        _infer_multibox_prior,
        _kernel,
        zero_gradient,
        doc=(
            "Generate anchor boxes centered at every pixel of a feature map, as corners (xmin,\n"
            "ymin, xmax, ymax).\n\n"
            "Coordinates are fractions of the image's width and height. Each pixel has a box of\n"
            "every size with the first aspect ratio (width / height), and a box of the first\n"
            "size with every other ratio. A size is the side of the square box (ratio 1), as a\n"
            "fraction of the image's height. steps are the distances between pixels along y and\n"
            "x (1 / H and 1 / W unless positive), offsets the position (y, x) of the center\n"
            "within a pixel. clip clips boxes to the image. Only the shape of data is used.\n\n"
            "Shapes: data (N, C, H, W), output (1, H * W * (sizes + ratios - 1), 4)."
        ),
        schema=Schema(
            sizes=numbers((1.0,)),
            ratios=numbers((1.0,)),
            clip=boolean(False),
            steps=numbers((-1.0, -1.0)),
            offsets=numbers((0.5, 0.5)),
        ),
        aliases=("_npx_multibox_prior",),
    )
)


_TARGET = "_contrib_MultiBoxTarget"
_MIN_OVERLAP = 1e-6  # of a box and its best anchor, which is matched regardless of the threshold
_NEGATIVE, _IGNORED = -1, -2  # instead of the index of a box


def _infer_multibox_target(
    anchor: Spec, label: Spec, cls_pred: Spec, **attrs: Any
) -> tuple[Spec, ...]:
    check_floating(_TARGET, anchor, label, cls_pred)
    check_boxes(_TARGET, "anchor", anchor, 3)
    if anchor.shape[0] != 1 or not anchor.shape[1]:
        raise OperatorError(f"{_TARGET}: expected anchor (1, A, 4), got {anchor.shape}")
    if len(label.shape) != 3 or label.shape[2] < 5 or not label.shape[1]:
        raise OperatorError(
            f"{_TARGET}: expected label (N, L, 5 or more) with at least one row, got {label.shape}"
        )
    batch, anchors = label.shape[0], anchor.shape[1]
    shape = cls_pred.shape
    if len(shape) != 3 or (shape[0], shape[2]) != (batch, anchors) or not shape[1]:
        raise OperatorError(
            f"{_TARGET}: expected cls_pred ({batch}, classes, {anchors}), got {shape}"
        )
    if len(attrs["variances"]) != 4:
        raise OperatorError(f"{_TARGET}: expected 4 variances, got {attrs['variances']}")
    if attrs["negative_mining_ratio"] == math.inf:
        raise OperatorError(f"{_TARGET}: expected a finite negative_mining_ratio, got inf")
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


def _kernel_multibox_target(
    xp: ModuleType, out: Any, anchor: Any, label: Any, cls_pred: Any, **attrs: Any
) -> None:
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
        _TARGET,
        _infer_multibox_target,
        _kernel_multibox_target,
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
