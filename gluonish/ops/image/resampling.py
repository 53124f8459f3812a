"""Resampling of images, with OpenCV if it is installed.

The methods are OpenCV's: cubic with the parameter -0.75, Lanczos over four pixels to each side, and
the mean over the area of a new pixel, which becomes linear interpolation if the image grows. The
border pixels are replicated outside the image.

References:
    R. Keys, Cubic Convolution Interpolation for Digital Image Processing, IEEE Transactions on
    Acoustics, Speech, and Signal Processing, 1981; there the parameter is -0.5.
    C. Duchon, Lanczos Filtering in One and Two Dimensions, Journal of Applied Meteorology, 1979.

Methods have OpenCV's numbers: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos. Pixels are squares
with centers half a pixel inside the image. NumPy's uint8 results differ by at most 1 from OpenCV's.
"""

import random
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, UINT8
from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.core.spec import Spec

LINEAR, CUBIC, _AREA, _METHODS = 1, 2, 3, 5
BY_SIZES, _RANDOM = 9, 10


def chosen_method(
    interp: int, old: tuple[int, ...], new: tuple[int, ...], rng: random.Random | None = None
) -> int:
    """Return OpenCV's number of the resampling method to use.

    Args:
        interp: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos; 9 cubic to grow, area to shrink,
            else linear; 10 a random method from 0 to 4.
        old: Height and width before, in pixels; further elements are ignored.
        new: Height and width after.
        rng: Random number generator for 10; None for the global generator of `random`.

    Raises:
        ArgumentError: ``interp`` is any other number.
    """
    if interp == _RANDOM:
        draw = random.randrange if rng is None else rng.randrange
        return draw(_METHODS)
    if interp == BY_SIZES:
        if new[0] > old[0] and new[1] > old[1]:
            return CUBIC
        return _AREA if new[0] < old[0] and new[1] < old[1] else LINEAR
    if not 0 <= interp < _METHODS:
        raise ArgumentError(
            f"imresize: expected interp from 0 to {_METHODS - 1}, {BY_SIZES} or {_RANDOM}, "
            f"got {interp}"
        )
    return interp


_WEIGHTS_CUBIC, _WEIGHTS_AREA = 2, 3
_SHARPNESS = -0.75
_LANCZOS_REACH = 4  # pixels to each side

Array = np.ndarray[Any, Any]


def by_weights(xp: ModuleType, out: Any, data: Any, interp: int) -> None:
    """Resize an image (height, width, channels) to ``out``; 2 is cubic, 3 area, else Lanczos."""
    shrinks = out.shape[0] <= data.shape[0] and out.shape[1] <= data.shape[1]
    rows, columns = (
        xp.asarray(_weights(data.shape[axis], out.shape[axis], interp, shrinks)) for axis in (0, 1)
    )
    real = data.astype(FLOAT64 if data.dtype == FLOAT64 else xp.float32)
    mixed = xp.tensordot(rows.astype(real.dtype), real, (1, 0))
    mixed = xp.tensordot(mixed, columns.astype(real.dtype), (1, 1)).swapaxes(1, 2)
    out[...] = xp.clip(xp.rint(mixed), 0, 255).astype(UINT8) if out.dtype == UINT8 else mixed


def _weights(extent: int, new_extent: int, interp: int, shrinks: bool) -> Array:
    """Return the weight of each old pixel in each new one, (new_extent, extent)."""
    if interp == _WEIGHTS_AREA and shrinks:
        return _areas(extent, new_extent)
    if interp == _WEIGHTS_AREA:
        return _mixed_areas(extent, new_extent)
    position = (np.arange(new_extent) + 0.5) * (extent / new_extent) - 0.5
    first = np.floor(position)
    reach = 2 if interp == _WEIGHTS_CUBIC else _LANCZOS_REACH
    taps = first[:, None] + np.arange(1 - reach, reach + 1)
    distance = np.abs(position[:, None] - taps)
    weight = (
        _cubic(distance)
        if interp == _WEIGHTS_CUBIC
        else np.sinc(distance) * np.sinc(distance / reach)
    )
    return _scattered(extent, taps, weight / weight.sum(axis=1, keepdims=True))


def _cubic(distance: Array) -> Array:
    a, d = _SHARPNESS, distance
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _areas(extent: int, new_extent: int) -> Array:
    edges = np.arange(new_extent + 1) * (extent / new_extent)
    pixels = np.arange(extent)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    covered = np.clip(covered, 0, None)
    share: Array = covered / covered.sum(axis=1, keepdims=True)
    return share


def _mixed_areas(extent: int, new_extent: int) -> Array:
    """Return the weights of the old pixels, two per new pixel, as a matrix (new_extent, extent)."""
    # In integers: at the edge of two pixels a rounding error would select the wrong one.
    new = np.arange(new_extent)
    first = new * extent // new_extent
    excess = (new + 1) * extent - (first + 1) * new_extent
    second = np.where(excess <= 0, 0, excess % extent / extent)
    taps = first[:, None] + np.arange(2)
    return _scattered(extent, taps, np.stack([1 - second, second], axis=1))


def _scattered(extent: int, taps: Array, weight: Array) -> Array:
    """Return the weights as a matrix (new_extent, extent); pixels outside map to the border."""
    matrix = np.zeros((len(taps), extent))
    rows = np.broadcast_to(np.arange(len(taps))[:, None], taps.shape)
    np.add.at(matrix, (rows, np.clip(taps, 0, extent - 1).astype(np.int64)), weight)
    return matrix


def open_cv() -> Any:
    """Return the module ``cv2``, or None if it cannot be imported."""
    try:
        import cv2  # pyright: ignore[reportMissingImports]  # optional
    except IMPORT_FAILURES:
        return None
    return cv2


_NEAREST, _LINEAR, _RESAMPLING_METHODS = 0, 1, 5
_ONE = 1 << 11  # the fixed-point weight 1 for uint8
_MAX_EXTENT = 1 << 15  # pixels per side


def check_resampling(name: str, data: Spec, height: int, width: int, interp: int) -> None:
    """Raise OperatorError for an empty image, or an invalid size, dtype or method."""
    if data.dtype not in (UINT8, FLOAT32, FLOAT64):
        raise OperatorError(
            f"{name}: expected uint8, float32 or float64 data, got {data.dtype.name}"
        )
    if 0 in data.shape[-3:]:
        raise OperatorError(f"{name}: expected a nonempty image, got {data.shape}")
    if not (0 < height <= _MAX_EXTENT and 0 < width <= _MAX_EXTENT):
        raise OperatorError(
            f"{name}: expected a width and height from 1 to {_MAX_EXTENT}, got {width} and {height}"
        )
    if not 0 <= interp < _RESAMPLING_METHODS:
        raise OperatorError(f"{name}: expected interp from 0 to {_METHODS - 1}, got {interp}")


def resampled(data: Any, height: int, width: int, interp: int) -> Any:
    """Return a resized NumPy image (height, width, channels); see `check_resampling`."""
    cv2 = open_cv()
    if cv2 is not None:
        return _by_opencv(cv2, data, height, width, interp)
    out = np.empty((height, width, data.shape[2]), data.dtype)
    resample(np, out, data, interp)
    return out


def resample(xp: ModuleType, out: Any, data: Any, interp: int) -> None:
    """Resize an image (height, width, channels) to ``out``."""
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


def _nearest(xp: ModuleType, extent: int, new_extent: int) -> Any:
    return xp.minimum((xp.arange(new_extent) * (extent / new_extent)).astype(xp.int64), extent - 1)


def _neighbours(xp: ModuleType, extent: int, new_extent: int) -> tuple[Any, Any, Any]:
    """Return the two old pixels around each new pixel, and the weight of the second."""
    position = (xp.arange(new_extent) + 0.5) * (extent / new_extent) - 0.5
    position = xp.clip(position.astype(xp.float32), 0, extent - 1)
    first = xp.floor(position).astype(xp.int64)
    return first, xp.minimum(first + 1, extent - 1), position - first.astype(xp.float32)


def _linear(xp: ModuleType, out: Any, data: Any) -> None:
    top, bottom, down = _neighbours(xp, data.shape[0], out.shape[0])
    left, right, across = _neighbours(xp, data.shape[1], out.shape[1])
    if data.dtype == UINT8:
        wide = data.astype(xp.int32)
        mixed = wide[:, left] * _fixed(xp, 1 - across) + wide[:, right] * _fixed(xp, across)
        mixed >>= 4
        upper = (_fixed(xp, 1 - down)[:, None] * mixed[top]) >> 16
        lower = (_fixed(xp, down)[:, None] * mixed[bottom]) >> 16
        out[...] = ((upper + lower + 2) >> 2).astype(out.dtype)
        return
    across, down = across[:, None], down[:, None, None]
    mixed = data[:, left] * (1 - across) + data[:, right] * across
    out[...] = mixed[top] * (1 - down) + mixed[bottom] * down


def _fixed(xp: ModuleType, weight: Any) -> Any:
    """Return fixed-point weights in units of 1 / `_ONE`, with an axis for channels."""
    return xp.rint(weight * _ONE).astype(xp.int32)[:, None]


def _by_opencv(cv2: Any, data: Any, height: int, width: int, interp: int) -> Any:
    channels = data.shape[2]
    dense = data.strides[1:] == (channels * data.itemsize, data.itemsize)
    if not dense or data.strides[0] < data.shape[1] * data.strides[1]:
        data = np.ascontiguousarray(data)  # OpenCV only supports strides between rows
    resized = cv2.resize(data, (width, height), interpolation=interp)
    return resized.reshape(height, width, channels)
