"""Transforms of images with bounding boxes, and functions of boxes."""

from gluonish.gluon.contrib.data.vision.transforms.bbox import boxes as utils
from gluonish.gluon.contrib.data.vision.transforms.bbox.boxes import (
    bbox_clip_xyxy,
    bbox_crop,
    bbox_flip,
    bbox_iou,
    bbox_random_crop_with_constraints,
    bbox_resize,
    bbox_translate,
    bbox_xywh_to_xyxy,
    bbox_xyxy_to_xywh,
)
from gluonish.gluon.contrib.data.vision.transforms.bbox.image_bbox import (
    ImageBboxCrop,
    ImageBboxRandomCropWithConstraints,
    ImageBboxRandomExpand,
    ImageBboxRandomFlipLeftRight,
    ImageBboxResize,
)

__all__ = [
    "ImageBboxCrop",
    "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomExpand",
    "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize",
    "bbox_clip_xyxy",
    "bbox_crop",
    "bbox_flip",
    "bbox_iou",
    "bbox_random_crop_with_constraints",
    "bbox_resize",
    "bbox_translate",
    "bbox_xywh_to_xyxy",
    "bbox_xyxy_to_xywh",
    "utils",
]
