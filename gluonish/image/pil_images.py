"""Images of PIL as arrays; PIL is never imported here: whoever has an image has imported it."""

import sys
from typing import Any

import numpy as np

from gluonish.ndarray import NDArray, from_numpy
from gluonish.numpy.array import gluon_array

_COLORS = ("P", "PA", "CMYK", "YCbCr", "LAB", "HSV", "RGBX")  # modes that become RGB


def is_pil_image(image: object) -> bool:
    """Whether a value is an image of PIL."""
    if isinstance(image, NDArray | np.ndarray):
        return False
    module: Any = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def pixels_of(image: Any) -> np.ndarray[Any, Any]:
    """Return the pixels of an image of PIL, (height, width, channels).

    Palettes and other color spaces become RGB, and black and white (mode ``"1"``) gray. Pixels are
    uint8; those of the modes ``"I"`` and ``"I;16"`` int32, of ``"F"`` float32.
    """
    if image.mode in _COLORS:
        image = image.convert("RGB")
    elif image.mode == "1":
        image = image.convert("L")
    values = np.array(image)
    if values.dtype.kind == "u" and values.dtype != np.uint8:
        values = values.astype(np.int32)
    return values[..., None] if values.ndim == 2 else values


def as_image(image: Any) -> Any:
    """Return an image of PIL as an NDArray (height, width, channels); other values unchanged."""
    return gluon_array(from_numpy(pixels_of(image))) if is_pil_image(image) else image
