"""Random erasing of a rectangle."""

import math
from collections.abc import Sequence

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_float
from gluonish.gluon.data.vision.transforms.augmentation import (
    Augmentation,
    range_of,
)
from gluonish.gluon.data.vision.transforms.host import Array

_ATTEMPTS = 10
_LAYOUTS = ("HWC", "CHW")


class RandomErasing(Augmentation):
    """Replace a random rectangle of an image by a value or by noise, with probability ``p``.

    Ten sizes are tried; an image that none of them fits does not change.

    Args:
        p: Probability that an image is changed.
        scale: Limits (min, max) of the rectangle's part of the area, in [0, 1].
        ratio: Limits (min, max) of its height divided by its width, above 0.
        value: New value, or one for each channel; ``"random"`` for normal noise of mean 0 and
            variance 1 in images of floats, and of all levels alike in images of bytes.
        layout: ``"HWC"``, or ``"CHW"`` for images after `ToTensor`.

    Inputs:
        x: (height, width, channels), or (channels, height, width) in layout CHW; uint8 or floating
            point.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An argument is out of its range, or limits are not in order; at the call: the
            input is no such image, or ``value`` has not a number for each channel.

    References:
        Z. Zhong, L. Zheng, G. Kang, S. Li, Y. Yang, Random Erasing Data Augmentation, AAAI 2020.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
        layout: str = "HWC",
    ) -> None:
        super().__init__(p)
        name = "RandomErasing"
        self._scale = range_of(name, "scale", scale, 0, 1)
        low, high = range_of(name, "ratio", ratio, 0)
        if low == 0:
            raise ArgumentError(f"{name}: expected ratio (min, max) above 0, got {ratio!r}")
        self._ratio = math.log(low), math.log(high)
        self._value: tuple[float, ...] | None = None
        if isinstance(value, str):
            if value != "random":
                raise ArgumentError(f"{name}: expected value to be 'random', got {value!r}")
        else:
            several = value if isinstance(value, Sequence) else (value,)
            self._value = tuple(as_float(name, "value", number) for number in several)
        if layout not in _LAYOUTS:
            raise ArgumentError(f"{name}: expected layout 'HWC' or 'CHW', got {layout!r}")
        self._layout = layout

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        out = values.copy()
        image = out if self._layout == "HWC" else out.transpose(1, 2, 0)
        height, width, channels = image.shape
        number = None if self._value is None else len(self._value)
        if number not in (None, 1, channels):
            raise ArgumentError(
                f"RandomErasing: expected value with 1 or {channels} numbers, the channels of the "
                f"image, got {self._value}"
            )
        for _ in range(_ATTEMPTS):
            area = height * width * rng.uniform(*self._scale)
            ratio = math.exp(rng.uniform(*self._ratio))
            rows, columns = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if rows < height and columns < width:
                top = rng.integers(0, height - rows + 1)
                left = rng.integers(0, width - columns + 1)
                region = image[top : top + rows, left : left + columns]
                region[...] = self._content(region, rng)
                break
        return out

    def _content(self, region: Array, rng: np.random.Generator) -> Array:
        if self._value is not None:
            found: Array = np.asarray(self._value)
            if region.dtype == np.uint8:
                found = np.clip(np.rint(found), 0, 255)
            return found
        if region.dtype == np.uint8:
            return np.asarray(rng.integers(0, 256, region.shape, np.uint8))
        return np.asarray(rng.standard_normal(region.shape))
