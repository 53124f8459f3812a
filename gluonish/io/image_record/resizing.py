"""Images of bytes in other sizes, with a method that may depend on the sizes or on chance."""

import random
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.ops.image.interpolation import chosen_method
from gluonish.ops.image.resampling import resampled

__all__ = ["Image", "resized"]

Image = np.ndarray[Any, Any]  # (height, width, channels), uint8, as decoded

_MOST_PIXELS = 1 << 28


def resized(image: Image, height: int, width: int, method: int, rng: random.Random) -> Image:
    """Return a resized image; the image itself if it has that size already.

    Args:
        image: (height, width, channels).
        height: New height in pixels.
        width: New width in pixels.
        method: Interpolation method, as for `chosen_method`.
        rng: Random number generator.

    Raises:
        OperatorError: The result would have too many pixels.
    """
    if image.shape[:2] == (height, width):
        return image
    if height * width > _MOST_PIXELS:
        raise OperatorError(
            f"resize: expected an image of at most {_MOST_PIXELS} pixels, got {height} x {width} "
            f"from {image.shape[0]} x {image.shape[1]}"
        )
    chosen = chosen_method(method, image.shape, (height, width), rng)
    made: Image = resampled(image, height, width, chosen)
    return made
