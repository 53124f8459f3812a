"""`mx.image` and its modules hold the names that MXNet 1.9.1's hold."""

import importlib

import pytest

import gluonish as mx

AUGMENTERS = (
    "Augmenter SequentialAug ResizeAug ForceResizeAug RandomCropAug RandomSizedCropAug "
    "CenterCropAug RandomOrderAug BrightnessJitterAug ContrastJitterAug SaturationJitterAug "
    "HueJitterAug ColorJitterAug LightingAug ColorNormalizeAug RandomGrayAug HorizontalFlipAug "
    "CastAug CreateAugmenter ImageIter"
)
FUNCTIONS = (
    "imread imresize imdecode scale_down copyMakeBorder resize_short fixed_crop random_crop "
    "center_crop color_normalize random_size_crop imrotate random_rotate"
)
DETECTION = (
    "DetAugmenter DetBorrowAug DetRandomSelectAug DetHorizontalFlipAug DetRandomCropAug "
    "DetRandomPadAug CreateMultiRandCropAugmenter CreateDetAugmenter ImageDetIter"
)
MODULES = {"image": AUGMENTERS + " " + FUNCTIONS, "detection": DETECTION, "det": DETECTION}


@pytest.mark.parametrize("module", MODULES)
def test_module_holds_what_the_package_holds(module: str) -> None:
    found = getattr(mx.image, module)
    for name in MODULES[module].split():
        assert getattr(found, name) is getattr(mx.image, name)


@pytest.mark.parametrize("module", ["image", "detection"])
def test_module_can_be_imported(module: str) -> None:
    assert importlib.import_module(f"gluonish.image.{module}") is getattr(mx.image, module)


def test_short_name_of_the_package_has_the_modules() -> None:
    assert mx.img.image.ImageIter is mx.image.ImageIter
    assert mx.img.det is mx.image.detection
