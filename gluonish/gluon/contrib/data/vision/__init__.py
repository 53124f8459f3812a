"""`contrib.data.vision`: transforms and loaders of images, with bounding boxes or without."""

from gluonish.gluon.contrib.data.vision import dataloader, transforms
from gluonish.gluon.contrib.data.vision.dataloader import (
    BboxLabelTransform,
    ImageBboxDataLoader,
    ImageDataLoader,
    create_bbox_augment,
    create_image_augment,
)
from gluonish.gluon.contrib.data.vision.transforms import (
    ImageBboxCrop,
    ImageBboxRandomCropWithConstraints,
    ImageBboxRandomExpand,
    ImageBboxRandomFlipLeftRight,
    ImageBboxResize,
)

__all__ = [
    "BboxLabelTransform",
    "ImageBboxCrop",
    "ImageBboxDataLoader",
    "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomExpand",
    "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize",
    "ImageDataLoader",
    "create_bbox_augment",
    "create_image_augment",
    "dataloader",
    "transforms",
]
