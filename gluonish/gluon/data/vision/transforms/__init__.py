"""Transforms of images, for `Dataset.transform_first`; each is a Block."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.user_functions import use_np
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.affine import RandomAffine, RandomPerspective
from gluonish.gluon.data.vision.transforms.blur import GaussianBlur
from gluonish.gluon.data.vision.transforms.color import (
    RandomBrightness,
    RandomColorJitter,
    RandomContrast,
    RandomGray,
    RandomHue,
    RandomLighting,
    RandomSaturation,
)
from gluonish.gluon.data.vision.transforms.compose import (
    Compose,
    HybridCompose,
    HybridRandomApply,
    RandomApply,
)
from gluonish.gluon.data.vision.transforms.erasing import RandomErasing
from gluonish.gluon.data.vision.transforms.geometry import (
    CenterCrop,
    CropResize,
    RandomCrop,
    RandomFlipLeftRight,
    RandomFlipTopBottom,
    RandomResizedCrop,
    RandomRotation,
    Resize,
    Rotate,
)
from gluonish.gluon.data.vision.transforms.mixing import CutMix, MixUp
from gluonish.gluon.data.vision.transforms.pixelwise import (
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Sharpness,
    Solarize,
)
from gluonish.gluon.data.vision.transforms.policies import (
    AugMix,
    RandAugment,
    TrivialAugmentWide,
)
from gluonish.gluon.data.vision.transforms.tensor import Cast, Normalize, ToTensor
from gluonish.gluon.nn.sequential import HybridSequential, Sequential

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "AugMix",
    "AutoContrast",
    "Block",
    "Cast",
    "CenterCrop",
    "Compose",
    "CropResize",
    "CutMix",
    "Equalize",
    "GaussianBlur",
    "HybridBlock",
    "HybridCompose",
    "HybridRandomApply",
    "HybridSequential",
    "Invert",
    "MixUp",
    "Normalize",
    "Posterize",
    "RandAugment",
    "RandomAffine",
    "RandomApply",
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomErasing",
    "RandomFlipLeftRight",
    "RandomFlipTopBottom",
    "RandomGray",
    "RandomHue",
    "RandomLighting",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSaturation",
    "Resize",
    "Rotate",
    "Sequential",
    "Sharpness",
    "Solarize",
    "ToTensor",
    "TrivialAugmentWide",
    "use_np",
]
