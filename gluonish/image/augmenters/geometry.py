"""Augmenters that resize, crop or flip an image."""

import random
import warnings
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.image.augmenters.augmenter import Augmenter
from gluonish.image.augmenters.checks import checked_extents, checked_image, checked_probability
from gluonish.image.pixels import Array
from gluonish.image.region import (
    Size,
    center_region,
    checked_size,
    crop,
    random_position,
    random_region,
    resize,
    short_size,
)


def _pixels(name: str, size: Size) -> Size:
    wide, high = checked_size(name, size)
    checked_extents(name, (wide, high))
    return wide, high


class ResizeAug(Augmenter):
    """Resize an image so that its shorter side has a given length.

    Args:
        size: The length, in pixels.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentTypeError: ``size`` is not a whole number.
        ArgumentError: When called: ``size`` is below 1.
    """

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        with DeferErrorToCall(self):
            checked_extents("ResizeAug", (size,))
        self.size = size
        self.interp = interp

    def _change(self, image: Array) -> Array:
        wide, high = short_size(*checked_image("ResizeAug", image), self.size)
        return resize("ResizeAug", image, wide, high, self.interp)


class ForceResizeAug(Augmenter):
    """Resize an image to a given size, changing its aspect ratio.

    Args:
        size: Width and height, in pixels.
        interp: Interpolation method, as for `imresize`.

    Raises:
        ArgumentTypeError: ``size`` is not a pair of whole numbers.
        ArgumentError: When called: a size is below 1.
    """

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        with DeferErrorToCall(self):
            _pixels("ForceResizeAug", size)
        self.size = size
        self.interp = interp

    def _change(self, image: Array) -> Array:
        checked_image("ForceResizeAug", image)
        return resize("ForceResizeAug", image, *self.size, self.interp)


class RandomCropAug(Augmenter):
    """Crop a region at a random position; see `random_crop`.

    Args:
        size: Width and height, in pixels.
        interp: Interpolation method for images that are too small, as for `imresize`.

    Raises:
        ArgumentTypeError: ``size`` is not a pair of whole numbers.
        ArgumentError: When called: a size is below 1.
    """

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        with DeferErrorToCall(self):
            self.size = _pixels("RandomCropAug", size)
        self.interp = interp

    def _change(self, image: Array) -> Array:
        region = random_position(*checked_image("RandomCropAug", image), self.size)
        return crop("RandomCropAug", image, region, self.size, self.interp)


class CenterCropAug(Augmenter):
    """Crop the center of an image; see `center_crop`.

    Args:
        size: Width and height, in pixels.
        interp: Interpolation method for images that are too small, as for `imresize`.

    Raises:
        ArgumentTypeError: ``size`` is not a pair of whole numbers.
        ArgumentError: When called: a size is below 1.
    """

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        with DeferErrorToCall(self):
            self.size = _pixels("CenterCropAug", size)
        self.interp = interp

    def _change(self, image: Array) -> Array:
        region = center_region(*checked_image("CenterCropAug", image), self.size)
        return crop("CenterCropAug", image, region, self.size, self.interp)


class RandomSizedCropAug(Augmenter):
    """Crop a region of random position, area and aspect ratio, and resize it.

    See `random_size_crop`.

    Args:
        size: (width, height) of the result, in pixels.
        area: Range (min, max) of the region's area as a fraction of the image's, or only the
            minimum.
        ratio: Range (min, max) of the aspect ratio, width / height.
        interp: Interpolation method, as for `imresize`.
        **kwargs: ``min_area``, a deprecated name of ``area``.

    Raises:
        ArgumentTypeError: ``size`` is not a pair of integers, ``ratio`` or ``area`` is not a pair,
            or a keyword is unknown.
        ArgumentError: When called: a number is out of range.
    """

    def __init__(
        self,
        size: Size,
        area: float | tuple[float, float],
        ratio: tuple[float, float],
        interp: int = 2,
        **kwargs: Any,
    ) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        if "min_area" in kwargs:
            area = kwargs.pop("min_area")
            warnings.warn(
                "RandomSizedCropAug: min_area is deprecated; use area", DeprecationWarning, 2
            )
        if kwargs:
            raise ArgumentTypeError(
                "RandomSizedCropAug: expected no other keyword than min_area, got "
                f"{', '.join(kwargs)}"
            )
        self.size = size
        self._shares = (area, 1.0) if isinstance(area, int | float) else area
        with DeferErrorToCall(self):
            self.size = _pixels("RandomSizedCropAug", size)
            _check_range("area", self._shares)
            _check_range("ratio", ratio)
        self.area = area
        self.ratio = ratio
        self.interp = interp

    def _change(self, image: Array) -> Array:
        wide, high = checked_image("RandomSizedCropAug", image)
        region = random_region(wide, high, self._shares, self.ratio)
        if region is None:
            region = center_region(wide, high, self.size)
        return crop("RandomSizedCropAug", image, region, self.size, self.interp)


def _check_range(arg: str, limits: Any) -> None:
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise ArgumentTypeError(f"RandomSizedCropAug: expected {arg} (min, max), got {limits!r}")
    if not 0 < limits[0] <= limits[1]:
        raise ArgumentError(f"RandomSizedCropAug: expected 0 < min <= max for {arg}, got {limits}")


class HorizontalFlipAug(Augmenter):
    """Flip an image left to right with a given probability.

    Args:
        p: The probability; random numbers come from Python's `random`.

    Raises:
        ArgumentTypeError: ``p`` is not a number.
        ArgumentError: ``p`` is not in [0, 1].
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = checked_probability("HorizontalFlipAug", "p", p)

    def _change(self, image: Array) -> Array:
        if random.random() < self.p:
            checked_image("HorizontalFlipAug", image)
            return image[:, ::-1]
        return image
