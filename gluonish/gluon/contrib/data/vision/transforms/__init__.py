"""Transforms of images with bounding boxes."""

from gluonish.gluon.contrib.data.vision.transforms import bbox
from gluonish.gluon.contrib.data.vision.transforms.bbox import (
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
    "bbox",
]
