"""`contrib.data.vision`: transforms of images with bounding boxes."""

from gluonish.gluon.contrib.data.vision import transforms
from gluonish.gluon.contrib.data.vision.transforms import (
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
    "transforms",
]
