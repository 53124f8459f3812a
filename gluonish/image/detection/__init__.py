"""Images with boxes on them, augmented and in batches; also ``mx.image.det``."""

from gluonish.image.detection.augmenter import (
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomSelectAug,
)
from gluonish.image.detection.create import CreateDetAugmenter, CreateMultiRandCropAugmenter
from gluonish.image.detection.image_det_iter import ImageDetIter
from gluonish.image.detection.random_crop import DetRandomCropAug
from gluonish.image.detection.random_pad import DetRandomPadAug

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ImageDetIter",
]
