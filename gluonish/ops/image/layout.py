"""Checks of image layouts, and conversion of floats to the dtype of an image."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec


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
