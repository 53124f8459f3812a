"""_contrib_mrcnn_mask_target: training targets of Mask R-CNN's mask branch.

References:
    K. He, G. Gkioxari, P. Dollar, R. Girshick, Mask R-CNN, 2017.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_pair
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
    checks: dict[str, tuple[Spec, Shape]] = {"rois": (rois, (*pairs, 4))}
    checks |= {"matches": (matches, pairs), "cls_targets": (cls_targets, pairs)}
    for name, (spec, expected) in checks.items():
        if spec.shape != expected:
            raise OperatorError(f"{_NAME}: expected {name} {expected}, got {spec.shape}")
    out = Spec(limited(_NAME, (*pairs, num_classes, *mask_size)), gt_masks.dtype)
    return out, out


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
    matched = xp.clip(matches.astype(xp.int64), 0, masks - 1)
    numbers = (matched + masks * xp.arange(images)[:, None]).astype(rois.dtype)
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
            "Compute training targets of Mask R-CNN's mask branch: the mask of each region,\n"
            "and a mask of the classes to train.\n\n"
            "The matched mask of a region is sampled in the region as in _contrib_ROIAlign,\n"
            "and repeated for each class; the second output is 1 for the region's class, else\n"
            "0. A match below 0 means mask 0. The gradient is zero.\n\n"
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
