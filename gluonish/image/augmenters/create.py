"""CreateAugmenter: the augmenters of an `ImageIter`."""

from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.augmenters.augmenter import Augmenter
from gluonish.image.augmenters.color import (
    CastAug,
    ColorJitterAug,
    ColorNormalizeAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
)
from gluonish.image.augmenters.geometry import (
    CenterCropAug,
    HorizontalFlipAug,
    RandomCropAug,
    RandomSizedCropAug,
    ResizeAug,
)
from gluonish.image.pixels import Array
from gluonish.ndarray import NDArray
from gluonish.ops.image.pixel_math import COLOR_COMPONENTS, COLOR_DEVIATIONS

# Statistics of ImageNet's pixels, red first.
_IMAGENET = {"mean": (123.68, 116.28, 103.53), "std": (58.395, 57.12, 57.375)}
_MIN_AREA, _RATIO = 0.08, (3.0 / 4.0, 4.0 / 3.0)


def CreateAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """Create a list of standard augmenters that return float32 images of a given size.

    Args:
        data_shape: Shape (channels, height, width) of the resulting images.
        resize: Length in pixels to which the shorter side is resized before cropping; 0 does not
            resize.
        rand_crop: Whether to crop at a random position instead of the center.
        rand_resize: Whether to crop regions of random area (at least 8 %) and random aspect ratio
            (3/4 to 4/3); needs ``rand_crop``.
        rand_mirror: Whether to flip images left to right with probability 1/2.
        mean: Mean to subtract: 1 or 3 numbers, or True for ImageNet's.
        std: Standard deviation to divide by: 1 or 3 numbers, or True for ImageNet's.
        brightness: See `BrightnessJitterAug`.
        contrast: See `ContrastJitterAug`.
        saturation: See `SaturationJitterAug`.
        hue: See `HueJitterAug`.
        pca_noise: Standard deviation of PCA noise; see `LightingAug`.
        rand_gray: Probability of converting an image to gray.
        inter_method: Interpolation method, as for `imresize`.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        ArgumentError: A number is out of range, or ``rand_resize`` is set without ``rand_crop``.

    Example:
        >>> import gluonish as mx
        >>> augmenters = mx.image.CreateAugmenter((3, 24, 24), resize=32, rand_mirror=True)
        >>> image = mx.nd.zeros((60, 40, 3), dtype="uint8")
        >>> for augmenter in augmenters:
        ...     image = augmenter(image)
        >>> image.shape, image.dtype.__name__
        ((24, 24, 3), 'float32')
    """
    _, high, wide = checked_data_shape("CreateAugmenter", data_shape)
    augmenters: list[Augmenter] = []
    if resize > 0:
        augmenters.append(ResizeAug(resize, inter_method))
    size = (wide, high)
    if rand_resize:
        if not rand_crop:
            raise ArgumentError("CreateAugmenter: expected rand_crop with rand_resize, got False")
        augmenters.append(RandomSizedCropAug(size, _MIN_AREA, _RATIO, inter_method))
    elif rand_crop:
        augmenters.append(RandomCropAug(size, inter_method))
    else:
        augmenters.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        augmenters.append(HorizontalFlipAug(0.5))
    augmenters.append(CastAug())
    augmenters += color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return augmenters + normalizing_augmenters("CreateAugmenter", mean, std, np.float32)


def checked_data_shape(name: str, data_shape: Any) -> tuple[int, int, int]:
    """Check ``data_shape``; return channels, height and width.

    Args:
        name: Class name of the caller, for error messages.
        data_shape: The argument.

    Raises:
        ArgumentTypeError: ``data_shape`` does not have three items.
    """
    if not isinstance(data_shape, tuple | list) or len(data_shape) != 3:
        raise ArgumentTypeError(
            f"{name}: expected data_shape (channels, height, width), got {data_shape!r}"
        )
    channels, high, wide = data_shape
    return channels, high, wide


def color_augmenters(
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    pca_noise: float,
    rand_gray: float,
) -> list[Augmenter]:
    """Create the color augmenters with nonzero amounts; see `CreateAugmenter`."""
    found: list[Augmenter] = []
    if brightness or contrast or saturation:
        found.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        found.append(HueJitterAug(hue))
    if pca_noise > 0:
        deviations, components = np.array(COLOR_DEVIATIONS), np.array(COLOR_COMPONENTS)
        found.append(LightingAug(pca_noise, deviations, components))
    if rand_gray > 0:
        found.append(RandomGrayAug(rand_gray))
    return found


def normalizing_augmenters(
    name: str, mean: Any, std: Any, dtype: type[np.floating[Any]] = np.float64
) -> list[Augmenter]:
    """Create the augmenter for a mean and a standard deviation; an empty list if both are None."""
    amounts = mean_or_std(name, "mean", mean, dtype), mean_or_std(name, "std", std, dtype)
    return [ColorNormalizeAug(*amounts)] if any(a is not None for a in amounts) else []


def mean_or_std(
    name: str, arg: str, value: Any, dtype: type[np.floating[Any]] = np.float64
) -> Array | None:
    """Convert an argument ``mean`` or ``std`` to an array.

    Args:
        name: Class name of the caller, for error messages.
        arg: Name of the argument.
        value: 1 or 3 numbers, True for ImageNet's, None or False for none.
        dtype: Dtype of the array for ImageNet; `Augmenter.dumps` shows it.

    Raises:
        ArgumentTypeError: The argument has the wrong type or shape.
    """
    if value is None or value is False:
        return None
    if value is True:
        return np.array(_IMAGENET[arg], dtype)
    values = value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
    if values.dtype.kind not in "iuf" or values.shape not in ((1,), (3,)):
        raise ArgumentTypeError(
            f"{name}: expected True, None, or 1 or 3 numbers as {arg}, got {value!r:.80}"
        )
    return values
