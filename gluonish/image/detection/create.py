"""CreateMultiRandCropAugmenter and CreateDetAugmenter: the augmenters of an `ImageDetIter`."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.image.augmenters.augmenter import Augmenter
from gluonish.image.augmenters.color import CastAug
from gluonish.image.augmenters.create import (
    checked_data_shape,
    color_augmenters,
    normalizing_augmenters,
)
from gluonish.image.augmenters.geometry import ForceResizeAug, ResizeAug
from gluonish.image.detection.augmenter import (
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomSelectAug,
)
from gluonish.image.detection.cropping import (
    DetRandomCropAug,
    DetRandomPadAug,
    Range,
    checked_range,
)


def CreateMultiRandCropAugmenter(
    min_object_covered: float | Sequence[float] = 0.1,
    aspect_ratio_range: float | Range | Sequence[Range] = (0.75, 1.33),
    area_range: float | Range | Sequence[Range] = (0.05, 1.0),
    min_eject_coverage: float | Sequence[float] = 0.3,
    max_attempts: int | Sequence[int] = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """Create an augmenter that crops each image with one of several `DetRandomCropAug`, at random.

    A list has one value for each augmenter; a single value, or a list of one, applies to all.

    Args:
        min_object_covered: Minimum fraction of each object's area that a crop must contain.
        aspect_ratio_range: Range (min, max) of the aspect ratio, width / height.
        area_range: Range (min, max) of the crop's area as a fraction of the image's.
        min_eject_coverage: Objects are removed if at most this fraction of their area remains.
        max_attempts: Maximum number of regions to try.
        skip_prob: Probability of leaving an image unchanged.

    Raises:
        ArgumentError: Lists have different lengths, or a value is out of range.
        ArgumentTypeError: A value has the wrong type.
    """
    args: dict[str, Any] = {
        "min_object_covered": min_object_covered,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "min_eject_coverage": min_eject_coverage,
        "max_attempts": max_attempts,
    }
    columns = {
        arg: list(value) if isinstance(value, list) else [value] for arg, value in args.items()
    }
    count = max(map(len, columns.values()))
    for arg, values in columns.items():
        if len(values) not in (1, count):
            raise ArgumentError(
                f"CreateMultiRandCropAugmenter: expected 1 or {count} values as {arg}, got "
                f"{len(values)}"
            )
        columns[arg] = values * (count // len(values))
    crops = [
        DetRandomCropAug(**dict(zip(columns, row, strict=True)))
        for row in zip(*columns.values(), strict=True)
    ]
    return DetRandomSelectAug(crops, skip_prob)


def CreateDetAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: float | Sequence[float] = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: float | Sequence[float] = 0.3,
    max_attempts: int | Sequence[int] = 50,
    pad_val: float | Sequence[float] = (127, 127, 127),
) -> list[DetAugmenter]:
    """Create a list of standard augmenters for images with boxes; they return float32 of one size.

    Args:
        data_shape: Shape (channels, height, width) of the resulting images.
        resize: Length in pixels to which the shorter side is resized first; 0 does not resize.
        rand_crop: Probability of cropping an image; see `CreateMultiRandCropAugmenter`.
        rand_pad: Probability of padding an image; see `DetRandomPadAug`.
        rand_gray: Probability of converting an image to gray.
        rand_mirror: Whether to flip images left to right with probability 1/2.
        mean: Mean to subtract: 1 or 3 numbers, or True for ImageNet's.
        std: Standard deviation to divide by: 1 or 3 numbers, or True for ImageNet's.
        brightness: See `BrightnessJitterAug`.
        contrast: See `ContrastJitterAug`.
        saturation: See `SaturationJitterAug`.
        pca_noise: Standard deviation of PCA noise; see `LightingAug`.
        hue: See `HueJitterAug`.
        inter_method: Interpolation method, as for `imresize`.
        min_object_covered: Minimum fraction of each object's area that a crop must contain.
        aspect_ratio_range: Range (min, max) of the aspect ratio, width / height, of crops and
            padded canvases.
        area_range: Range (min, max) of the area as a fraction of the image's: up to 1 for crops,
            from 1 for padded canvases.
        min_eject_coverage: Objects are removed if at most this fraction of their area remains.
        max_attempts: Maximum number of crops or paddings to try.
        pad_val: Color of the padding.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ArgumentError: A number is out of range.
    """
    _, high, wide = checked_data_shape("CreateDetAugmenter", data_shape)
    _check_probabilities(rand_crop=rand_crop, rand_pad=rand_pad)
    found: list[DetAugmenter] = []
    if resize > 0:
        found.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        found.append(
            CreateMultiRandCropAugmenter(
                min_object_covered,
                aspect_ratio_range,
                area_range,
                min_eject_coverage,
                max_attempts,
                skip_prob=1 - rand_crop,
            )
        )
    if rand_mirror:
        found.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        # Lists have a value for each crop augmenter; the padding uses the first.
        areas, ratios, attempts = map(_first, (area_range, aspect_ratio_range, max_attempts))
        lower, upper = checked_range("CreateDetAugmenter", "area_range", areas)
        multiples = (max(1.0, lower), max(1.0, upper))
        canvas = DetRandomPadAug(ratios, multiples, attempts, pad_val)
        found.append(DetRandomSelectAug([canvas], 1 - rand_pad))
    image_augmenters: list[Augmenter] = [ForceResizeAug((wide, high), inter_method), CastAug()]
    image_augmenters += color_augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray
    )
    image_augmenters += normalizing_augmenters("CreateDetAugmenter", mean, std)
    return found + [DetBorrowAug(augmenter) for augmenter in image_augmenters]


def _check_probabilities(**args: float) -> None:
    for arg, value in args.items():
        if not 0 <= value <= 1:
            raise ArgumentError(f"CreateDetAugmenter: expected {arg} from 0 to 1, got {value}")


def _first(args: Any) -> Any:
    return args[0] if isinstance(args, list) and args else args
