"""Augmenters and iterators of images with boxes; also ``mx.image.det``."""

from gluonish.image.detection.augmenter import (
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomSelectAug,
)
from gluonish.image.detection.create import CreateDetAugmenter, CreateMultiRandCropAugmenter
from gluonish.image.detection.cropping import DetRandomCropAug, DetRandomPadAug
from gluonish.image.detection.image_det_iter import ImageDetIter

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
