"""Transforms of the levels of an image: contrast, histogram, fewer levels, negatives, sharpness."""

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_int
from gluonish.gluon.data.vision.transforms import levels
from gluonish.gluon.data.vision.transforms.augmentation import (
    Augmentation,
    number_from,
    number_in,
)
from gluonish.gluon.data.vision.transforms.host import Array


class _Levels(Augmentation):
    """Base class of transforms that change the levels of color channels by `_leveled`."""

    _colors = True

    def _leveled(self, values: Array) -> Array:
        raise NotImplementedError

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        return levels.on_colors(self._leveled, np.ascontiguousarray(values))


class AutoContrast(_Levels):
    """Stretch each channel linearly, so that its darkest value is 0 and its lightest the largest.

    Args:
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1]; a
            fourth channel (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``; bytes are those of Pillow's ``ImageOps.autocontrast``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1]; at the call: the input is no such image.
    """

    def __init__(self, p: float = 1.0) -> None:
        super().__init__(p)

    def _leveled(self, values: Array) -> Array:
        return levels.contrasted(values)


class Equalize(_Levels):
    """Equalize the histogram of each channel, so that all levels are about equally frequent.

    Args:
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1],
            which is rounded to 256 levels; a fourth channel (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``; bytes are those of Pillow's ``ImageOps.equalize``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1]; at the call: the input is no such image.
    """

    def __init__(self, p: float = 1.0) -> None:
        super().__init__(p)

    def _leveled(self, values: Array) -> Array:
        return levels.equalized(values)


class Posterize(_Levels):
    """Keep the highest bits of each value, and set the others to 0.

    Args:
        bits: Number of bits to keep, 1 to 8; the image then has ``2**bits`` levels.
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1]; a
            fourth channel (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``; bytes are those of Pillow's ``ImageOps.posterize``.

    Raises:
        ArgumentError: ``bits`` is not 1 to 8, or ``p`` is outside [0, 1]; at the call: the input is
            no such image.
        ArgumentTypeError: ``bits`` is not an int.
    """

    def __init__(self, bits: int, p: float = 1.0) -> None:
        super().__init__(p)
        self._bits = as_int("Posterize", "bits", bits)
        if not 1 <= self._bits <= 8:
            raise ArgumentError(f"Posterize: expected bits from 1 to 8, got {bits}")

    def _leveled(self, values: Array) -> Array:
        return levels.posterized(values, self._bits)


class Solarize(_Levels):
    """Invert all values from a threshold on.

    Args:
        threshold: The smallest inverted value, 0 to 255; for floats it is divided by 255.
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1]; a
            fourth channel (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``; bytes are those of Pillow's ``ImageOps.solarize``.

    Raises:
        ArgumentError: ``threshold`` is outside [0, 255], or ``p`` outside [0, 1]; at the call: the
            input is no such image.
    """

    def __init__(self, threshold: float = 128, p: float = 1.0) -> None:
        super().__init__(p)
        self._threshold = number_in("Solarize", "threshold", threshold, 0, 255)

    def _leveled(self, values: Array) -> Array:
        return levels.solarized(values, self._threshold)


class Invert(_Levels):
    """Invert the colors: the negative of an image.

    Args:
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1]; a
            fourth channel (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: ``p`` is outside [0, 1]; at the call: the input is no such image.
    """

    def __init__(self, p: float = 1.0) -> None:
        super().__init__(p)

    def _leveled(self, values: Array) -> Array:
        return levels.inverted(values)


class Sharpness(_Levels):
    """Make an image smoother or sharper by a given factor.

    Args:
        sharpness_factor: 0 for a smoothed image, 1 for the image itself, 2 for twice the sharpness.
        p: Probability that an image is changed.

    Inputs:
        x: (height, width, channels), of 1, 3 or 4 channels, uint8, or floating point in [0, 1]; a
            fourth channel (alpha) does not change.

    Outputs:
        y: shape and dtype of ``x``; bytes are those of Pillow's ``ImageEnhance.Sharpness``.

    Raises:
        ArgumentError: ``sharpness_factor`` is negative, or ``p`` is outside [0, 1]; at the call:
            the input is no such image.
    """

    def __init__(self, sharpness_factor: float, p: float = 1.0) -> None:
        super().__init__(p)
        self._factor = number_from("Sharpness", "sharpness_factor", sharpness_factor, 0)

    def _leveled(self, values: Array) -> Array:
        return levels.with_sharpness(values, self._factor)
