"""Which region of an image becomes a sample of the wanted size."""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.io.image_record.resizing import Image, resized
from gluonish.ops.image.interpolation import BY_SIZES, LINEAR

__all__ = ["Crop", "make_crop"]

Crop = Callable[[Image, random.Random], Image]

_ATTEMPTS = 10


def make_crop(name: str, parameters: Mapping[str, Any]) -> Crop:
    """Return the function that crops an image, and resizes the crop if needed, to ``data_shape``.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.

    Raises:
        ArgumentError: A range is reversed or not positive.
    """
    _, height, width = parameters["data_shape"]
    plain = _Plain(height, width, parameters["inter_method"], parameters["rand_crop"])
    if parameters["random_resized_crop"]:
        return _OfRandomArea(name, parameters, plain)
    if parameters["max_crop_size"] > 0 or parameters["min_crop_size"] > 0:
        return _Square(name, parameters, plain)
    return plain


class _Plain:
    """A region of the wanted size, in the middle or anywhere; a smaller image is enlarged first."""

    def __init__(self, height: int, width: int, method: int, anywhere: bool) -> None:
        self.height = height
        self.width = width
        self.method = method
        self.anywhere = anywhere

    def __call__(self, image: Image, rng: random.Random) -> Image:
        tall, wide = image.shape[:2]
        # Here MXNet is linear where the sizes decide.
        method = LINEAR if self.method == BY_SIZES else self.method
        if tall < self.height:
            tall, wide = self.height, max(1, wide * self.height // tall)
            image = resized(image, tall, wide, method, rng)
        if wide < self.width:
            tall, wide = tall * self.width // wide, self.width
            image = resized(image, tall, wide, method, rng)
        return self.cut(image, self.height, self.width, rng)

    def cut(self, image: Image, height: int, width: int, rng: random.Random) -> Image:
        """Return a region of an image that contains it."""
        down, right = image.shape[0] - height, image.shape[1] - width
        if self.anywhere:
            y, x = rng.randint(0, down), rng.randint(0, right)
        else:
            y, x = down // 2, right // 2
        return image[y : y + height, x : x + width]

    def fitted(self, image: Image, rng: random.Random) -> Image:
        """Return an image resampled to the wanted size."""
        return resized(image, self.height, self.width, self.method, rng)


class _Square:
    """A square of random side, resampled to the wanted size."""

    def __init__(self, name: str, parameters: Mapping[str, Any], plain: _Plain) -> None:
        self._name = name
        self._low, self._high = parameters["min_crop_size"], parameters["max_crop_size"]
        self._plain = plain
        if not 0 < self._low <= self._high:
            raise ArgumentError(
                f"{name}: expected 0 < min_crop_size <= max_crop_size, got {self._low} and "
                f"{self._high}"
            )

    def __call__(self, image: Image, rng: random.Random) -> Image:
        if min(image.shape[:2]) < self._high:
            raise OperatorError(
                f"{self._name}: expected an image of at least max_crop_size {self._high} pixels a "
                f"side, got {image.shape[0]} x {image.shape[1]}"
            )
        side = rng.randint(self._low, self._high)
        return self._plain.fitted(self._plain.cut(image, side, side, rng), rng)


class _OfRandomArea:
    """A region of random area and proportions anywhere in the image, resampled to the wanted size.

    Of proportions that do not fit in ten attempts nothing is left but the plain region.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any], plain: _Plain) -> None:
        self._areas = parameters["min_random_area"], parameters["max_random_area"]
        low, high = parameters["min_aspect_ratio"], parameters["max_aspect_ratio"]
        self._ratios = (1 - high, 1 + high) if low is None else (low, high)
        self._plain = plain
        for what, (least, most) in (("random_area", self._areas), ("aspect_ratio", self._ratios)):
            if not 0 < least <= most:
                raise ArgumentError(
                    f"{name}: expected a positive range by min_{what} and max_{what}, got {least} "
                    f"to {most}"
                )

    def __call__(self, image: Image, rng: random.Random) -> Image:
        tall, wide = image.shape[:2]
        for _ in range(_ATTEMPTS):
            area = rng.uniform(*self._areas) * tall * wide
            ratio = rng.uniform(*self._ratios)
            if rng.random() < 0.5:
                ratio = 1 / ratio
            width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < width <= wide and 0 < height <= tall:
                y, x = rng.randint(0, tall - height), rng.randint(0, wide - width)
                return self._plain.fitted(image[y : y + height, x : x + width], rng)
        return self._plain(image, rng)
