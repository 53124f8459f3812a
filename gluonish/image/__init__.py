"""`mx.image`: images from files, in other sizes, cut out, turned, augmented, and in batches."""

import gluonish.image as image
import gluonish.image.detection as det
from gluonish.image import detection
from gluonish.image import names as _names  # noqa: F401  # it makes `image` importable
from gluonish.image.augmenters import (
    Augmenter,
    BrightnessJitterAug,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    CreateAugmenter,
    ForceResizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SaturationJitterAug,
    SequentialAug,
)
from gluonish.image.crop import center_crop, fixed_crop, random_crop, random_size_crop, scale_down
from gluonish.image.decode import imdecode, imread
from gluonish.image.detection import (
    CreateDetAugmenter,
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
    ImageDetIter,
)
from gluonish.image.iteration import ImageIter
from gluonish.image.pixels import color_normalize, copyMakeBorder
from gluonish.image.resize import _get_interp_method, imresize, resize_short  # noqa: F401
from gluonish.image.rotate import imrotate, random_rotate

__all__ = [
    "Augmenter",
    "BrightnessJitterAug",
    "CastAug",
    "CenterCropAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "CreateAugmenter",
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "HueJitterAug",
    "ImageDetIter",
    "ImageIter",
    "LightingAug",
    "RandomCropAug",
    "RandomGrayAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SaturationJitterAug",
    "SequentialAug",
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "det",
    "detection",
    "fixed_crop",
    "image",
    "imdecode",
    "imread",
    "imresize",
    "imrotate",
    "random_crop",
    "random_rotate",
    "random_size_crop",
    "resize_short",
    "scale_down",
]
