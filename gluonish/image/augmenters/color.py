"""Color augmenters.

Integer images are computed in floats, truncated toward zero and clipped to the range of their
dtype; MXNet raises an error for them, or multiplies brightness by an integer, 0. The fourth of 4
channels is alpha and is not changed; MXNet supports 4 channels for brightness only.

References:
    A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep Convolutional Neural
    Networks, NeurIPS 2012 (`LightingAug`).
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.image.augmenters.augmenter import Augmenter, RandomOrderAug
from gluonish.image.augmenters.checks import checked_amount, checked_image, checked_probability
from gluonish.image.pixels import Array
from gluonish.ndarray import NDArray, array
from gluonish.ops.image.pixel_math import (
    GRAY,
    add_offsets,
    gray,
    long_rows,
    mix_channels,
    on_colors,
    scale_contrast,
    scale_saturation,
    store,
)

Numbers = Sequence[float] | Array | NDArray

_TO_YIQ = (GRAY, (0.596, -0.274, -0.321), (0.211, -0.523, 0.311))
_FROM_YIQ = ((1.0, 0.956, 0.621), (1.0, -0.272, -0.647), (1.0, -1.107, 1.705))
_GRAY = (0.21, 0.72, 0.07)  # weights for RandomGrayAug; contrast and saturation use GRAY


def _floats(image: Array) -> Array:
    """Convert an image to the floating-point dtype to compute in."""
    return image if image.dtype in (np.float32, np.float64) else image.astype(np.float32)


def _restore_dtype(values: Array, image: Array) -> Array:
    """Convert values to the image's dtype, with clipping."""
    if values.dtype == image.dtype:
        return values
    out = np.empty(values.shape, image.dtype)
    store(np, out, values)
    return out


def _apply_to_colors(
    name: str, image: Array, change: Callable[[Array], Array], *, gray_too: bool = False
) -> Array:
    """Apply a function to the colors of an image, not to alpha; preserve its dtype.

    Args:
        name: Class name of the augmenter, for error messages.
        image: (height, width, channels).
        change: Function of the colors, as floats.
        gray_too: Whether images with one channel are also supported.

    Raises:
        ArgumentError: The number of channels is not supported.
    """
    checked_image(name, image)
    counts = (1, 3, 4) if gray_too else (3, 4)
    if image.shape[2] not in counts:
        *first, last = map(str, counts)
        raise ArgumentError(
            f"{name}: expected an image of {', '.join(first)} or {last} channels, got {image.shape}"
        )
    return _restore_dtype(on_colors(np, _floats(image), change), image)


class BrightnessJitterAug(Augmenter):
    """Change the brightness: multiply the image by a random factor.

    Args:
        brightness: The factor is drawn from [1 - brightness, 1 + brightness].

    Raises:
        ArgumentTypeError: ``brightness`` is not a number.
        ArgumentError: When called: the argument is below 0.
    """

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness
        with DeferErrorToCall(self):
            checked_amount("BrightnessJitterAug", "brightness", brightness)

    def _change(self, image: Array) -> Array:
        factor = 1.0 + random.uniform(-self.brightness, self.brightness)
        return _restore_dtype(on_colors(np, _floats(image), lambda x: x * factor), image)


class ContrastJitterAug(Augmenter):
    """Change the contrast: scale the distance from the image's mean gray by a random factor.

    Args:
        contrast: The factor is drawn from [1 - contrast, 1 + contrast].

    Raises:
        ArgumentTypeError: ``contrast`` is not a number.
        ArgumentError: When called: the argument is below 0.
    """

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast
        with DeferErrorToCall(self):
            checked_amount("ContrastJitterAug", "contrast", contrast)

    def _change(self, image: Array) -> Array:
        factor = 1.0 + random.uniform(-self.contrast, self.contrast)
        name = "ContrastJitterAug"
        return _apply_to_colors(name, image, lambda x: scale_contrast(np, x, factor), gray_too=True)


class SaturationJitterAug(Augmenter):
    """Change the saturation: scale each pixel's distance from its gray by a random factor.

    Args:
        saturation: The factor is drawn from [1 - saturation, 1 + saturation].

    Raises:
        ArgumentTypeError: ``saturation`` is not a number.
        ArgumentError: When called: the argument is below 0.
    """

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation
        with DeferErrorToCall(self):
            checked_amount("SaturationJitterAug", "saturation", saturation)

    def _change(self, image: Array) -> Array:
        factor = 1.0 + random.uniform(-self.saturation, self.saturation)
        name = "SaturationJitterAug"
        return _apply_to_colors(
            name, image, lambda x: scale_saturation(np, x, factor), gray_too=True
        )


class HueJitterAug(Augmenter):
    """Change the hue: rotate the colors by a random angle in the YIQ color space.

    Args:
        hue: The angle is drawn from [-hue, hue]; 1 is half a turn (180 degrees).

    Attributes:
        hue: The argument.
        tyiq: Matrix (3, 3) from RGB to YIQ.
        ityiq: Matrix (3, 3) from YIQ to RGB.

    Raises:
        ArgumentTypeError: ``hue`` is not a number.
        ArgumentError: When called: the argument is below 0.
    """

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue
        with DeferErrorToCall(self):
            checked_amount("HueJitterAug", "hue", hue)
        self.tyiq = np.array(_TO_YIQ)
        self.ityiq = np.array(_FROM_YIQ)

    def _change(self, image: Array) -> Array:
        angle = math.pi * random.uniform(-self.hue, self.hue)
        cosine, sine = math.cos(angle), math.sin(angle)
        rotation = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
        matrix = (self.ityiq @ rotation @ self.tyiq).T
        return _apply_to_colors("HueJitterAug", image, lambda x: mix_channels(np, x, matrix))


class ColorJitterAug(RandomOrderAug):
    """Change brightness, contrast and saturation at random, in random order.

    Args:
        brightness: See `BrightnessJitterAug`; 0 for no change.
        contrast: See `ContrastJitterAug`; 0 for no change.
        saturation: See `SaturationJitterAug`; 0 for no change.

    Raises:
        ArgumentTypeError: An amount is not a number.
        ArgumentError: When called: the argument is below 0.
    """

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        augmenters: list[Augmenter] = []
        for amount, augmenter in (
            (brightness, BrightnessJitterAug(brightness)),
            (contrast, ContrastJitterAug(contrast)),
            (saturation, SaturationJitterAug(saturation)),
        ):
            if amount > 0:
                augmenters.append(augmenter)
        super().__init__(augmenters)


class LightingAug(Augmenter):
    """Add random light along principal color components (PCA noise), from NumPy's generator.

    Args:
        alphastd: Standard deviation of the amount along each component.
        eigval: (3,), eigenvalues of the components.
        eigvec: (3, 3), eigenvectors (the components) as columns.

    Raises:
        ArgumentTypeError: ``alphastd`` is not a number.
        ArgumentError: ``eigval`` or ``eigvec`` has the wrong shape; when called: ``alphastd`` is
            below 0.
    """

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        with DeferErrorToCall(self):
            checked_amount("LightingAug", "alphastd", alphastd)
        shapes = np.shape(eigval), np.shape(eigvec)
        if shapes != ((3,), (3, 3)):
            raise ArgumentError(
                f"LightingAug: expected eigval (3,) and eigvec (3, 3), got {shapes[0]} and "
                f"{shapes[1]}"
            )
        self.eigval = eigval
        self.eigvec = eigvec

    def _change(self, image: Array) -> Array:
        amounts = np.random.normal(0, self.alphastd, size=(3,))  # noqa: NPY002  # as MXNet draws
        offsets = np.dot(np.asarray(self.eigvec) * amounts, np.asarray(self.eigval))
        return _apply_to_colors("LightingAug", image, lambda x: add_offsets(np, x, offsets))


class ColorNormalizeAug(Augmenter):
    """Normalize a floating-point image: subtract a mean, and divide by a standard deviation.

    Args:
        mean: One number for each channel, or one for all; None for 0.
        std: One number for each channel, or one for all; None for 1.

    Attributes:
        mean: NDArray of float32, or None.
        std: NDArray of float32, or None.

    Raises:
        ArgumentTypeError: ``mean`` or ``std`` is not numeric.
    """

    def __init__(self, mean: float | Numbers | None, std: float | Numbers | None) -> None:
        super().__init__(mean=mean, std=std)
        self.mean = None if mean is None else _numbers("mean", mean)
        self.std = None if std is None else _numbers("std", std)
        self._mean = None if self.mean is None else self.mean.asnumpy()
        self._std = None if self.std is None else self.std.asnumpy()

    def _change(self, image: Array) -> Array:
        if self._mean is None and self._std is None:
            return image
        if not is_floating(image.dtype):
            raise ArgumentTypeError(
                f"ColorNormalizeAug: expected an image of floats, got {image.dtype}; put a CastAug "
                "before it"
            )
        for amounts in (self._mean, self._std):
            if amounts is not None and amounts.shape not in ((), (1,), image.shape[-1:]):
                raise ArgumentError(
                    f"ColorNormalizeAug: expected an image of {amounts.size} channels, got "
                    f"{image.shape}"
                )
        made = image
        for operation, amounts in ((np.subtract, self._mean), (np.divide, self._std)):
            if amounts is not None:
                rows, repeated = long_rows(np, made, amounts.astype(image.dtype))
                # The result of the first operation may be overwritten.
                out = rows if made is not image else None
                made = operation(rows, repeated, out=out).reshape(image.shape)
        return made


def _numbers(arg: str, value: Any) -> NDArray:
    try:
        return array(value.asnumpy() if isinstance(value, NDArray) else np.asarray(value, "f4"))
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"ColorNormalizeAug: expected numbers as {arg}, got {value!r:.80}"
        ) from None


class RandomGrayAug(Augmenter):
    """Convert an image to gray with a given probability.

    Args:
        p: The probability; random numbers come from Python's `random`.

    Attributes:
        p: The argument.
        mat: Matrix (3, 3) of the conversion.

    Raises:
        ArgumentTypeError: ``p`` is not a number.
        ArgumentError: ``p`` is not in [0, 1].
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = checked_probability("RandomGrayAug", "p", p)
        self.mat = array([[share] * 3 for share in _GRAY])

    def _change(self, image: Array) -> Array:
        if random.random() >= self.p:
            return image
        return _apply_to_colors(
            "RandomGrayAug", image, lambda x: np.repeat(gray(np, x, _GRAY), 3, axis=2)
        )


class CastAug(Augmenter):
    """Convert an image to a dtype.

    Args:
        typ: The dtype.

    Raises:
        ArgumentTypeError: There is no such dtype.
    """

    def __init__(self, typ: Any = "float32") -> None:
        super().__init__(type=typ)
        self._dtype = normalize_dtype(typ)
        self.typ = typ

    def _change(self, image: Array) -> Array:
        if self._dtype.kind in "iu" and is_floating(image.dtype):
            # Via int64, so that overflow wraps around on every machine.
            image = image.astype(np.int64)
        return image.astype(self._dtype)
