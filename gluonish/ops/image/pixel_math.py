"""Changes of an image's colours by given amounts: operators and augmenters share them.

Images are (height, width, channels), of floats. Of other than 3 channels each one is its own gray;
of 4 the last is alpha, which `on_colors` leaves alone.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

GRAY = (0.299, 0.587, 0.114)  # shares of red, green and blue in the brightness of a pixel
# Principal components of the colours of ImageNet's pixels, in columns, red first, and the roots of
# their variances.
COLOR_COMPONENTS = (
    (-0.5675, 0.7192, 0.4009),
    (-0.5808, -0.0045, -0.8140),
    (-0.5836, -0.6948, 0.4203),
)
COLOR_DEVIATIONS = (55.46, 4.794, 1.148)


def gray(xp: ModuleType, image: Any, shares: tuple[float, ...] = GRAY) -> Any:
    """Return the brightness of each pixel, with an axis of one channel.

    Args:
        image: (height, width, channels), of floats.
        shares: How much of it red, green and blue are.
    """
    if image.shape[-1] != 3:
        return image
    return image @ xp.asarray(shares, dtype=image.dtype).reshape(3, 1)


def changed_brightness(xp: ModuleType, image: Any, factor: float) -> Any:
    """Return an image times a factor."""
    return image * factor


def changed_contrast(xp: ModuleType, image: Any, factor: float) -> Any:
    """Return an image whose distance from its mean gray is a factor of what it was."""
    mean = gray(xp, image).mean(dtype=xp.float64).astype(image.dtype) if image.size else 0
    return image * factor + mean * (1 - factor)


def changed_saturation(xp: ModuleType, image: Any, factor: float) -> Any:
    """Return an image whose pixels' distance from their gray is a factor of what it was."""
    if image.shape[-1] != 3:
        return image
    return image * factor + gray(xp, image) * (1 - factor)


def lit(xp: ModuleType, image: Any, offsets: Sequence[float]) -> Any:
    """Return an image with an offset added to each channel."""
    rows, repeated = long_rows(xp, image, xp.asarray(offsets, dtype=image.dtype))
    return (rows + repeated).reshape(image.shape)


def on_colors(xp: ModuleType, image: Any, change: Callable[[Any], Any]) -> Any:
    """Return an image whose colors are changed; a fourth channel (alpha) stays as it is.

    Args:
        image: (height, width, channels), of floats.
        change: Function that returns the changed image; it gets 3 channels of 4, else all.
    """
    if image.shape[-1] != 4:
        return change(image)
    return xp.concatenate([change(image[..., :3]), image[..., 3:]], axis=-1)


def long_rows(xp: ModuleType, image: Any, amounts: Any) -> tuple[Any, Any]:
    """Return an image and an amount for each channel in a form that is quick to compute with.

    Args:
        image: (height, width, channels).
        amounts: (channels,), or one for all.

    Returns:
        The image as (height, width x channels), and the amounts repeated along such a row.
    """
    height, width, channels = image.shape
    repeated = xp.tile(amounts, width) if amounts.size == channels else amounts
    return image.reshape(height, width * channels), repeated


def tinted(xp: ModuleType, image: Any, matrix: Any) -> Any:
    """Return an image whose pixels are multiplied by a matrix from the right."""
    return image @ xp.asarray(matrix, dtype=image.dtype)
