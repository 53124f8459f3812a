"""Sizes and resampling of images: by OpenCV where it is installed, else by NumPy.

Methods have OpenCV's numbers: 0 the nearest pixel, 1 linear, 2 cubic, 3 the area's mean, 4 Lanczos.
Pixels are squares, whose centres lie half a pixel inside the image. Bytes that NumPy makes differ
from OpenCV's by at most one.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.image.opencv import open_cv
from gluonish.ops.image.weights import by_weights

__all__ = ["check_resampling", "resample", "resampled"]

_NEAREST, _LINEAR, _METHODS = 0, 1, 5
_ONE = 1 << 11  # of the fixed-point weights that bytes are mixed with
_LARGEST = 1 << 15  # pixels a side


def check_resampling(name: str, data: Spec, height: int, width: int, interp: int) -> None:
    """Check what `resample` gets.

    Raises:
        OperatorError: For an empty image, a size out of range, another dtype, an unknown method.
    """
    if data.dtype not in (UINT8, FLOAT32, FLOAT64):
        raise OperatorError(
            f"{name}: expected uint8, float32 or float64 data, got {data.dtype.name}"
        )
    if 0 in data.shape[-3:]:
        raise OperatorError(f"{name}: expected an image with pixels, got {data.shape}")
    if not (0 < height <= _LARGEST and 0 < width <= _LARGEST):
        raise OperatorError(
            f"{name}: expected a width and height from 1 to {_LARGEST}, got {width} and {height}"
        )
    if not 0 <= interp < _METHODS:
        raise OperatorError(f"{name}: expected interp from 0 to {_METHODS - 1}, got {interp}")


def resampled(data: Any, height: int, width: int, interp: int) -> Any:
    """Return a NumPy image (height, width, channels) in another size; see `check_resampling`."""
    cv2 = open_cv()
    if cv2 is not None:
        return _by_opencv(cv2, data, height, width, interp)
    out = np.empty((height, width, data.shape[2]), data.dtype)
    resample(np, out, data, interp)
    return out


def resample(xp: ModuleType, out: Any, data: Any, interp: int) -> None:
    """Fill an image (height, width, channels) from one of another size."""
    cv2 = open_cv() if xp is np else None
    if cv2 is not None:
        out[...] = _by_opencv(cv2, data, out.shape[0], out.shape[1], interp)
    elif interp == _NEAREST:
        rows = _nearest(xp, data.shape[0], out.shape[0])
        columns = _nearest(xp, data.shape[1], out.shape[1])
        out[...] = data[rows][:, columns]
    elif interp == _LINEAR:
        _linear(xp, out, data)
    else:
        by_weights(xp, out, data, interp)


def _nearest(xp: ModuleType, extent: int, wanted: int) -> Any:
    return xp.minimum((xp.arange(wanted) * (extent / wanted)).astype(xp.int64), extent - 1)


def _neighbours(xp: ModuleType, extent: int, wanted: int) -> tuple[Any, Any, Any]:
    """Return the two pixels that each new one lies between, and the weight of the second."""
    position = (xp.arange(wanted) + 0.5) * (extent / wanted) - 0.5
    position = xp.clip(position.astype(xp.float32), 0, extent - 1)
    first = xp.floor(position).astype(xp.int64)
    return first, xp.minimum(first + 1, extent - 1), position - first.astype(xp.float32)


def _linear(xp: ModuleType, out: Any, data: Any) -> None:
    top, bottom, down = _neighbours(xp, data.shape[0], out.shape[0])
    left, right, across = _neighbours(xp, data.shape[1], out.shape[1])
    if data.dtype == UINT8:
        whole = data.astype(xp.int32)
        mixed = whole[:, left] * _fixed(xp, 1 - across) + whole[:, right] * _fixed(xp, across)
        mixed >>= 4
        upper = (_fixed(xp, 1 - down)[:, None] * mixed[top]) >> 16
        lower = (_fixed(xp, down)[:, None] * mixed[bottom]) >> 16
        out[...] = ((upper + lower + 2) >> 2).astype(out.dtype)
        return
    across, down = across[:, None], down[:, None, None]
    mixed = data[:, left] * (1 - across) + data[:, right] * across
    out[...] = mixed[top] * (1 - down) + mixed[bottom] * down


def _fixed(xp: ModuleType, weight: Any) -> Any:
    """Return weights as whole numbers of 1 / `_ONE`, with an axis for channels."""
    return xp.rint(weight * _ONE).astype(xp.int32)[:, None]


def _by_opencv(cv2: Any, data: Any, height: int, width: int, interp: int) -> Any:
    channels = data.shape[2]
    dense = data.strides[1:] == (channels * data.itemsize, data.itemsize)
    if not dense or data.strides[0] < data.shape[1] * data.strides[1]:
        data = np.ascontiguousarray(data)  # OpenCV takes rows apart, but nothing else
    made = cv2.resize(data, (width, height), interpolation=interp)
    return made.reshape(height, width, channels)
