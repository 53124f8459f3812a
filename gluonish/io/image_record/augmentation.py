"""From a decoded image to the region that is a sample, with whatever was asked for in between."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.io.image_record.colors import color_changes
from gluonish.io.image_record.crops import make_crop
from gluonish.io.image_record.resizing import Image, resized
from gluonish.io.image_record.warping import Warp

__all__ = ["Augmentation", "shorter_side"]

_MOST_PAD = 1 << 14  # pixels


class Augmentation:
    """Augments an image in MXNet's order: resize, warp, pad, crop, change colours.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.

    Raises:
        ArgumentError: A parameter is out of range.
        NotSupportedError: A parameter needs OpenCV, which is not installed.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        p = parameters
        steps: list[Callable[[Image, random.Random], Image]] = []
        if p["resize"] > 0:
            side, method = p["resize"], p["inter_method"]
            steps.append(lambda image, rng: shorter_side(image, side, method, rng))
        if Warp.wanted(p):
            steps.append(Warp(name, p))
        if not 0 <= p["pad"] <= _MOST_PAD:
            raise ArgumentError(f"{name}: expected pad from 0 to {_MOST_PAD}, got {p['pad']}")
        if p["pad"]:
            margins = ((p["pad"],) * 2, (p["pad"],) * 2, (0, 0))
            fill = p["fill_value"]
            steps.append(lambda image, _: np.pad(image, margins, constant_values=fill))
        steps.append(make_crop(name, p))
        steps.extend(color_changes(name, p))
        self._steps = steps

    def __call__(self, image: Image, rng: random.Random) -> Image:
        """Return the augmented image (height, width, channels), which may be a view of ``image``.

        Args:
            image: Decoded image (height, width, channels), uint8.
            rng: Random number generator.
        """
        for step in self._steps:
            image = step(image, rng)
        return image


def shorter_side(image: Image, side: int, method: int, rng: random.Random) -> Image:
    """Return an image resized so that its shorter side has a given length; the aspect ratio stays.

    Args:
        image: (height, width, channels).
        side: New length of the shorter side, in pixels.
        method: Interpolation method, as for `chosen_method`.
        rng: Random number generator.
    """
    tall, wide = image.shape[:2]
    if tall > wide:
        return resized(image, tall * side // wide, side, method, rng)
    return resized(image, side, wide * side // tall, method, rng)
