"""_contrib_Proposal and _contrib_MultiProposal: region proposals.

References:
    S. Ren, K. He, R. Girshick, J. Sun, Faster R-CNN: Towards Real-Time Object Detection with Region
        Proposal Networks, 2015.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, numbers
from gluonish.core.spec import Spec
from gluonish.ops.detection.boxes import Matrix, Rule, Suppress, suppress_overlaps
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import widened_on_host
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_floating, check_rank

_Numbers = tuple[float, ...]


def base_anchors(stride: int, scales: _Numbers, ratios: _Numbers) -> Matrix:
    """Return the anchors of the first pixel (ratios * scales, 4), as corners in whole pixels."""
    middle = 0.5 * (stride - 1)
    found = []
    for ratio in ratios:
        width = np.floor(np.sqrt(np.floor(stride * stride / ratio)) + 0.5)
        height = np.floor(width * ratio + 0.5)
        for scale in scales:
            half = 0.5 * (width * scale - 1), 0.5 * (height * scale - 1)
            found.append((middle - half[0], middle - half[1], middle + half[0], middle + half[1]))
    return np.array(found, np.float64)


def _grid(height: int, width: int, attrs: Any) -> Matrix:
    """Return the anchors of all pixels (height, width, anchors, 4)."""
    base = base_anchors(attrs["feature_stride"], attrs["scales"], attrs["ratios"])
    steps = np.zeros((height, width, 1, 4))
    steps[..., 0::2] = (np.arange(width) * attrs["feature_stride"])[None, :, None, None]
    steps[..., 1::2] = (np.arange(height) * attrs["feature_stride"])[:, None, None, None]
    grid: Matrix = base + steps
    return grid


def _decoded(anchors: Matrix, offsets: Matrix, iou_loss: bool) -> Matrix:
    """Apply predicted offsets to anchors (..., 4)."""
    if iou_loss:
        corners: Matrix = anchors + offsets
        return corners
    sizes = anchors[..., 2:] - anchors[..., :2] + 1
    centers = anchors[..., :2] + 0.5 * (sizes - 1)
    centers = offsets[..., :2] * sizes + centers
    with np.errstate(over="ignore"):
        half = 0.5 * (np.exp(offsets[..., 2:]) * sizes - 1)
    return np.concatenate([centers - half, centers + half], axis=-1)


def _cells(extent: Any, stride: int) -> int:
    """Return how many pixels of the feature map lie within an image along an axis."""
    return int(min(max(extent / stride, 0), 2**31)) if extent == extent else 0


def _proposed(
    scores: Matrix, offsets: Matrix, image: Matrix, attrs: Any, suppress: Suppress
) -> tuple[Matrix, Matrix]:
    """Return boxes (n, 4) and scores (n,) of an image.

    Args:
        scores: Foreground scores (anchors, H, W).
        offsets: Predicted offsets (4 * anchors, H, W).
        image: Height, width and scale of the image.
        suppress: Removes overlapping boxes.
    """
    count, height, width = scores.shape
    stride, real = attrs["feature_stride"], scores.dtype.type
    anchors = _grid(height, width, attrs).astype(scores.dtype)
    shifts = offsets.reshape(count, 4, height, width).transpose(2, 3, 0, 1)
    ends = np.array([image[1] - 1, image[0] - 1] * 2, scores.dtype)
    boxes = np.maximum(np.minimum(_decoded(anchors, shifts, attrs["iou_loss"]), ends), 0)
    values = scores.transpose(1, 2, 0).copy()
    # Padding pixels of the feature map have no proposals.
    rows, columns = (_cells(extent, stride) for extent in image[:2])
    values[rows:], values[:, columns:] = -1, -1
    least = real(attrs["rpn_min_size"]) * image[2]
    small = (boxes[..., 2:] - boxes[..., :2] + 1 < least).any(axis=-1)
    boxes[small] += np.array([-1, -1, 1, 1], scores.dtype) * (least / 2)
    values[small] = -1
    flat, boxes = values.reshape(-1), boxes.reshape(-1, 4)
    before = attrs["rpn_pre_nms_top_n"]
    order = np.argsort(-flat, kind="stable")
    order = order[:before] if before > 0 else order
    most = min(attrs["rpn_post_nms_top_n"], len(order))
    rule = Rule(attrs["threshold"], border=1, most=most)
    selected = order[suppress(boxes[order], None, rule)]
    return boxes[selected], flat[selected]


def proposal_kernel(
    xp: ModuleType,
    out: Any,
    cls_prob: Any,
    bbox_pred: Any,
    im_info: Any,
    *,
    suppress: Suppress = suppress_overlaps,
    **attrs: Any,
) -> None:
    """Fill the rows and scores of either operator; ``suppress`` removes overlapping boxes."""
    scores, offsets, images = (widened_on_host(xp, x) for x in (cls_prob, bbox_pred, im_info))
    count, anchors = attrs["rpn_post_nms_top_n"], scores.shape[1] // 2
    rows = np.zeros((len(scores), count, 5), scores.dtype)
    values = np.zeros((len(scores), count, 1), scores.dtype)
    for i in range(len(scores)):
        boxes, found = _proposed(scores[i, anchors:], offsets[i], images[i], attrs, suppress)
        index = np.arange(count) % len(boxes)  # repeats boxes if there are too few
        rows[i, :, 0], rows[i, :, 1:] = i, boxes[index]
        values[i, :, 0] = found[index]
    for target, value in zip(out, (rows, values), strict=True):
        target[...] = xp.asarray(value.reshape(target.shape)).astype(target.dtype)


def _family(name: str, doc: str, many: bool) -> Operator:
    """Register one of the two operators; ``many`` allows several images."""

    def infer(cls_prob: Spec, bbox_pred: Spec, im_info: Spec, **attrs: Any) -> tuple[Spec, ...]:
        check_floating(name, cls_prob, bbox_pred, im_info)
        check_rank(name, "cls_prob", cls_prob, "N 2A H W")
        batch, channels, *extents = cls_prob.shape
        if batch != 1 and not many:
            raise OperatorError(
                f"{name}: expected one image, got cls_prob {cls_prob.shape}; "
                "use MultiProposal for several images"
            )
        anchors = len(attrs["scales"]) * len(attrs["ratios"])
        if not anchors or min(attrs["ratios"]) <= 0 or attrs["rpn_post_nms_top_n"] < 1:
            raise OperatorError(
                f"{name}: expected scales, ratios above 0 and rpn_post_nms_top_n above 0, got "
                f"{attrs['scales']}, {attrs['ratios']} and {attrs['rpn_post_nms_top_n']}"
            )
        if channels != 2 * anchors or min(extents) < 1:
            raise OperatorError(
                f"{name}: expected cls_prob (N, {2 * anchors}, H, W) for {anchors} anchors, "
                f"got {cls_prob.shape}"
            )
        if bbox_pred.shape != (batch, 4 * anchors, *extents):
            raise OperatorError(
                f"{name}: expected bbox_pred {(batch, 4 * anchors, *extents)}, got "
                f"{bbox_pred.shape}"
            )
        if im_info.shape != (batch, 3):
            raise OperatorError(f"{name}: expected im_info ({batch}, 3), got {im_info.shape}")
        rows = batch * attrs["rpn_post_nms_top_n"]
        limited(name, (*extents, anchors, 4))
        boxes = Spec(limited(name, (rows, 5)), cls_prob.dtype)
        return boxes, Spec((rows, 1), cls_prob.dtype)

    return register(
        Operator(
            name,
            infer,
            proposal_kernel,
            zero_gradient,
            doc=doc,
            inputs=("cls_prob", "bbox_pred", "im_info"),
            schema=Schema(
                rpn_pre_nms_top_n=integer(6000),
                rpn_post_nms_top_n=integer(300),
                threshold=number(0.7),
                rpn_min_size=integer(16),
                scales=numbers((4.0, 8.0, 16.0, 32.0)),
                ratios=numbers((0.5, 1.0, 2.0)),
                feature_stride=integer(16, low=1),
                output_score=boolean(False),
                iou_loss=boolean(False),
            ),
            outputs=2,
            visible=lambda attrs: 2 if attrs["output_score"] else 1,
            output_names=("output", "score"),
            execution=Execution(heavy=True),
        )
    )


_DOC = (
    "The second half of cls_prob holds the scores of the A anchors of each pixel.\n"
    "bbox_pred holds the shifts of the center, divided by the anchor's width and\n"
    "height, and the logarithms of box width / anchor width and box height / anchor\n"
    "height, or with iou_loss the shifts of the corners in pixels. im_info holds\n"
    "height, width and scale of each image. There is an anchor for every ratio and\n"
    "scale, with sizes times feature_stride. Boxes are clipped to the image; boxes with\n"
    "a side shorter than rpn_min_size are ranked last. Among the rpn_pre_nms_top_n best\n"
    "boxes (all if at most 0), boxes whose IoU with a better one is above threshold are\n"
    "removed. If fewer than rpn_post_nms_top_n remain, they are repeated. The gradient\n"
    "is zero.\n\n"
    "Shapes: cls_prob (N, 2 * A, H, W), bbox_pred (N, 4 * A, H, W), im_info (N, 3),\n"
    "outputs (N * rpn_post_nms_top_n, 5) with rows (image, xmin, ymin, xmax, ymax) and,\n"
    "with output_score, (N * rpn_post_nms_top_n, 1)."
)

PROPOSAL = _family(
    "_contrib_Proposal",
    f"Compute region proposals for one image from region proposal network outputs.\n\n{_DOC}",
    False,
)
MULTI_PROPOSAL = _family(
    "_contrib_MultiProposal",
    f"Compute region proposals for images from region proposal network outputs.\n\n{_DOC}",
    True,
)
