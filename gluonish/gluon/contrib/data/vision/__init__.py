"""`contrib.data.vision`: transforms of images together with boxes on them."""

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
