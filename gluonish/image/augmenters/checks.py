"""Checks of augmenters' arguments."""

import math
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError

Array = np.ndarray[Any, Any]


def checked_amount(name: str, arg: str, amount: float) -> float:
    """Check that an amount is a finite number of at least 0, and return it.

    Raises:
        ArgumentTypeError: The amount is not a number.
        ArgumentError: The amount is below 0, or not finite.
    """
    if isinstance(amount, bool) or not isinstance(amount, int | float | np.number):
        raise ArgumentTypeError(f"{name}: expected a number as {arg}, got {amount!r}")
    if not 0 <= amount < math.inf:
        raise ArgumentError(f"{name}: expected {arg} of at least 0, got {amount}")
    return amount


def checked_probability(name: str, arg: str, probability: float) -> float:
    """Check that a probability is a number in [0, 1], and return it.

    Raises:
        ArgumentTypeError: The probability is not a number.
        ArgumentError: The probability is not in [0, 1].
    """
    if not isinstance(probability, int | float | np.number):
        raise ArgumentTypeError(f"{name}: expected a number as {arg}, got {probability!r}")
    if not 0 <= probability <= 1:
        raise ArgumentError(f"{name}: expected {arg} from 0 to 1, got {probability}")
    return probability


def checked_extents(name: str, extents: Any) -> None:
    """Check sizes in pixels.

    Raises:
        ArgumentTypeError: A size is not an integer.
        ArgumentError: A size is below 1.
    """
    for extent in extents:
        if isinstance(extent, bool) or not isinstance(extent, int | np.integer):
            raise ArgumentTypeError(f"{name}: expected a size in whole pixels, got {extent!r}")
        if extent < 1:
            raise ArgumentError(f"{name}: expected a size of at least 1 pixel, got {extent}")


def checked_image(name: str, image: Array) -> tuple[int, int]:
    """Check an image; return its width and height in pixels.

    Raises:
        ArgumentError: The image's shape is not (height, width, channels), or it has no pixels.
    """
    if image.ndim != 3 or 0 in image.shape:
        raise ArgumentError(
            f"{name}: expected an image (height, width, channels) with pixels, got {image.shape}"
        )
    return image.shape[1], image.shape[0]
