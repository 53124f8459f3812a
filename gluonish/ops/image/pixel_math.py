"""Color adjustments shared by operators and augmenters.

Images are (height, width, channels), of floats. Images without 3 channels are gray; a fourth
channel is alpha, which `on_colors` does not change.

Also checks image layouts, and converts floats to the dtype of an image.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec

GRAY = (0.299, 0.587, 0.114)  # weights of red, green and blue in the brightness of a pixel
# Principal components of the colors of ImageNet's pixels, in columns, in RGB order, and their
# standard deviations.
COLOR_COMPONENTS = (
    (-0.5675, 0.7192, 0.4009),
    (-0.5808, -0.0045, -0.8140),
    (-0.5836, -0.6948, 0.4203),
)
COLOR_DEVIATIONS = (55.46, 4.794, 1.148)


def gray(xp: ModuleType, image: Any, shares: tuple[float, ...] = GRAY) -> Any:
    """Return the brightness of each pixel (height, width, 1): channels weighted by ``shares``."""
    if image.shape[-1] != 3:
        return image
    return image @ xp.asarray(shares, dtype=image.dtype).reshape(3, 1)


def scale_brightness(xp: ModuleType, image: Any, factor: float) -> Any:
    """Scale the brightness of an image."""
    return image * factor


def scale_contrast(xp: ModuleType, image: Any, factor: float) -> Any:
    """Scale the difference of an image from its mean gray."""
    mean = gray(xp, image).mean(dtype=xp.float64).astype(image.dtype) if image.size else 0
    return image * factor + mean * (1 - factor)


def scale_saturation(xp: ModuleType, image: Any, factor: float) -> Any:
    """Scale the difference of each pixel from its gray."""
    if image.shape[-1] != 3:
        return image
    return image * factor + gray(xp, image) * (1 - factor)


def add_offsets(xp: ModuleType, image: Any, offsets: Sequence[float]) -> Any:
    """Add an offset to each channel."""
    rows, repeated = long_rows(xp, image, xp.asarray(offsets, dtype=image.dtype))
    return (rows + repeated).reshape(image.shape)


def on_colors(xp: ModuleType, image: Any, change: Callable[[Any], Any]) -> Any:
    """Apply ``change`` to an image, or to its first 3 channels if the fourth is alpha."""
    if image.shape[-1] != 4:
        return change(image)
    return xp.concatenate([change(image[..., :3]), image[..., 3:]], axis=-1)


def long_rows(xp: ModuleType, image: Any, amounts: Any) -> tuple[Any, Any]:
    """Return an image as (height, width * channels), and ``amounts`` repeated along such a row.

    NumPy is faster on long rows. ``amounts`` has one element, or one for each channel.
    """
    height, width, channels = image.shape
    repeated = xp.tile(amounts, width) if amounts.size == channels else amounts
    return image.reshape(height, width * channels), repeated


def mix_channels(xp: ModuleType, image: Any, matrix: Any) -> Any:
    """Multiply the pixels of an image by a matrix from the right."""
    return image @ xp.asarray(matrix, dtype=image.dtype)


def check_image(operator: str, data: Spec) -> Spec:
    """Raise OperatorError unless data is one numeric image (height, width, channels)."""
    if len(data.shape) != 3 or data.dtype == BOOL:
        raise OperatorError(
            f"{operator}: expected a numeric image (height, width, channels), got {data}"
        )
    return data


def check_color_image(operator: str, data: Spec) -> Spec:
    """Raise OperatorError unless data is one numeric image of 1, 3 or 4 channels."""
    check_image(operator, data)
    if data.shape[-1] not in (1, 3, 4):
        raise OperatorError(
            f"{operator}: expected an image (height, width, channels) of 1, 3 or 4 channels (gray, "
            f"color, color and alpha), got {data}"
        )
    return data


def check_images(operator: str, data: Spec) -> Spec:
    """Raise OperatorError unless data is a numeric image, or a batch of them (N, ...)."""
    if len(data.shape) not in (3, 4) or data.dtype == BOOL:
        raise OperatorError(
            f"{operator}: expected a numeric image (height, width, channels) or a batch of them, "
            f"got {data}"
        )
    return data


def store(xp: ModuleType, out: Any, values: Any) -> None:
    """Fill ``out``; for integer dtypes truncate toward zero and clip to the dtype's range."""
    if is_floating(out.dtype):
        out[...] = values.astype(out.dtype)
        return
    limits = np.iinfo(out.dtype)
    if out.dtype.itemsize < 4:
        values = xp.clip(values, limits.min, limits.max)
    out[...] = xp.trunc(values).astype(out.dtype)
