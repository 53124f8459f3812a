"""What image operators share: layouts, and numbers that are put back into whole ones."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec


def check_image(operator: str, data: Spec) -> Spec:
    """Check one image (height, width, channels).

    Raises:
        OperatorError: It has other axes, or holds truth values.
    """
    if len(data.shape) != 3 or data.dtype == BOOL:
        raise OperatorError(
            f"{operator}: expected an image (height, width, channels) of numbers, got {data}"
        )
    return data


def check_color_image(operator: str, data: Spec) -> Spec:
    """Check one image (height, width, channels): gray, of colors, or of colors and alpha.

    Raises:
        OperatorError: It has other axes or channels, or holds truth values.
    """
    check_image(operator, data)
    if data.shape[-1] not in (1, 3, 4):
        raise OperatorError(
            f"{operator}: expected an image (height, width, channels) of 1, 3 or 4 channels (gray, "
            f"colors, colors and alpha), got {data}"
        )
    return data


def check_images(operator: str, data: Spec) -> Spec:
    """Check one image (height, width, channels) or a batch of them, (N, ...).

    Raises:
        OperatorError: It has other axes, or holds truth values.
    """
    if len(data.shape) not in (3, 4) or data.dtype == BOOL:
        raise OperatorError(
            f"{operator}: expected an image (height, width, channels) or a batch of them, of "
            f"numbers, got {data}"
        )
    return data


def store(xp: ModuleType, out: Any, values: Any) -> None:
    """Fill ``out``; whole numbers are cut toward zero, and the nearest that the dtype has."""
    if is_floating(out.dtype):
        out[...] = values.astype(out.dtype)
        return
    limits = np.iinfo(out.dtype)
    if out.dtype.itemsize < 4:
        values = xp.clip(values, limits.min, limits.max)
    out[...] = xp.trunc(values).astype(out.dtype)
