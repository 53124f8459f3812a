"""_contrib_mrcnn_mask_target: what the mask branch of Mask R-CNN is to learn.

References:
    K. He, G. Gkioxari, P. Dollar, R. Girshick, Mask R-CNN, 2017.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.zero_gradient import zero_gradient
from gluonish.ops.vision.extents import check_pair
from gluonish.ops.vision.roi_align import ROI_ALIGN, check_samples

_NAME = "_contrib_mrcnn_mask_target"


def _infer(
    rois: Spec,
    gt_masks: Spec,
    matches: Spec,
    cls_targets: Spec,
    *,
    num_rois: int,
    num_classes: int,
    mask_size: Shape,
    sample_ratio: int,
    aligned: bool,
) -> tuple[Spec, Spec]:
    check_pair(_NAME, "mask_size", mask_size)
    check_samples(_NAME, "sample_ratio", sample_ratio)
    if len(gt_masks.shape) != 4 or not gt_masks.shape[1]:
        raise OperatorError(f"{_NAME}: expected gt_masks (B, M, H, W), got {gt_masks.shape}")
    pairs = (gt_masks.shape[0], num_rois)
    wanted: dict[str, tuple[Spec, Shape]] = {"rois": (rois, (*pairs, 4))}
    wanted |= {"matches": (matches, pairs), "cls_targets": (cls_targets, pairs)}
    for name, (given, expected) in wanted.items():
        if given.shape != expected:
            raise OperatorError(f"{_NAME}: expected {name} {expected}, got {given.shape}")
    made = Spec(limited(_NAME, (*pairs, num_classes, *mask_size)), gt_masks.dtype)
    return made, made


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    rois: Any,
    gt_masks: Any,
    matches: Any,
    cls_targets: Any,
    *,
    num_rois: int,
    num_classes: int,
    mask_size: Shape,
    sample_ratio: int,
    aligned: bool,
) -> None:
    targets, weights = outputs
    images, masks = gt_masks.shape[:2]
    own = xp.clip(matches.astype(xp.int64), 0, masks - 1)
    numbers = (own + masks * xp.arange(images)[:, None]).astype(rois.dtype)
    regions = xp.concatenate([numbers[:, :, None], rois], axis=2).reshape(-1, 5)
    pooled = xp.empty((images * num_rois, 1, *mask_size), dtype=gt_masks.dtype)
    planes = gt_masks.reshape(images * masks, 1, *gt_masks.shape[2:])
    attrs = {"pooled_size": mask_size, "spatial_scale": 1.0, "sample_ratio": sample_ratio}
    ROI_ALIGN.kernel(
        xp, pooled, planes, regions, position_sensitive=False, aligned=aligned, **attrs
    )
    targets[...] = pooled.reshape(images, num_rois, 1, *mask_size)
    weights[...] = (cls_targets[:, :, None] == xp.arange(num_classes))[:, :, :, None, None]


MRCNN_MASK_TARGET = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Training targets of Mask R-CNN's mask branch: the mask of each region, and a mask\n"
            "of the classes to train.\n\n"
            "The mask that a region is matched with is sampled in the region as\n"
            "_contrib_ROIAlign samples an image, once for each class; the second output is 1\n"
            "for the region's own class, else 0. A match below 0 means mask 0. No gradient\n"
            "flows through it.\n\n"
            "Shapes: rois (B, num_rois, 4) with rows (xmin, ymin, xmax, ymax), gt_masks (B, M,\n"
            "H, W) of the images' size, matches (B, num_rois) in [0, M), cls_targets (B,\n"
            "num_rois) in [0, num_classes), not counting the background, outputs (B, num_rois,\n"
            "num_classes, *mask_size)."
        ),
        inputs=("rois", "gt_masks", "matches", "cls_targets"),
        outputs=2,
        schema=Schema(
            num_rois=integer(low=1),
            num_classes=integer(low=1),
            mask_size=shape(),
            sample_ratio=integer(2),
            aligned=boolean(False),
        ),
        execution=Execution(heavy=True),
    )
)
