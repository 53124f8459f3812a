"""Resampling by weights: each row and column of the new image is a sum of the old one's.

The methods are OpenCV's: cubic with the parameter -0.75, Lanczos over four pixels to each side,
and the mean over the area that a new pixel covers, which turns into linear mixing of neighbours
where the image grows. Outside the image lie copies of its border.

References:
    R. Keys, Cubic Convolution Interpolation for Digital Image Processing, IEEE Transactions on
    Acoustics, Speech, and Signal Processing, 1981; there the parameter is -0.5.
    C. Duchon, Lanczos Filtering in One and Two Dimensions, Journal of Applied Meteorology, 1979.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, UINT8

__all__ = ["by_weights"]

_CUBIC, _AREA = 2, 3
_SHARPNESS = -0.75
_LANCZOS_REACH = 4  # pixels to each side

Array = np.ndarray[Any, Any]


def by_weights(xp: ModuleType, out: Any, data: Any, interp: int) -> None:
    """Fill an image (height, width, channels) from one of another size.

    Args:
        xp: NumPy or CuPy.
        out: The new image.
        data: The old one.
        interp: 2 is cubic, 3 the mean of the area, others Lanczos.
    """
    shrinks = out.shape[0] <= data.shape[0] and out.shape[1] <= data.shape[1]
    rows, columns = (
        xp.asarray(_weights(data.shape[axis], out.shape[axis], interp, shrinks)) for axis in (0, 1)
    )
    real = data.astype(FLOAT64 if data.dtype == FLOAT64 else xp.float32)
    mixed = xp.tensordot(rows.astype(real.dtype), real, (1, 0))
    mixed = xp.tensordot(mixed, columns.astype(real.dtype), (1, 1)).swapaxes(1, 2)
    out[...] = xp.clip(xp.rint(mixed), 0, 255).astype(UINT8) if out.dtype == UINT8 else mixed


def _weights(extent: int, wanted: int, interp: int, shrinks: bool) -> Array:
    """Return how much of each old pixel is in each new one, (wanted, extent)."""
    if interp == _AREA and shrinks:
        return _areas(extent, wanted)
    if interp == _AREA:
        return _mixed_areas(extent, wanted)
    position = (np.arange(wanted) + 0.5) * (extent / wanted) - 0.5
    first = np.floor(position)
    reach = 2 if interp == _CUBIC else _LANCZOS_REACH
    taps = first[:, None] + np.arange(1 - reach, reach + 1)
    distance = np.abs(position[:, None] - taps)
    weight = _cubic(distance) if interp == _CUBIC else np.sinc(distance) * np.sinc(distance / reach)
    return _scattered(extent, taps, weight / weight.sum(axis=1, keepdims=True))


def _cubic(distance: Array) -> Array:
    a, d = _SHARPNESS, distance
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _areas(extent: int, wanted: int) -> Array:
    edges = np.arange(wanted + 1) * (extent / wanted)
    pixels = np.arange(extent)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    covered = np.clip(covered, 0, None)
    share: Array = covered / covered.sum(axis=1, keepdims=True)
    return share


def _mixed_areas(extent: int, wanted: int) -> Array:
    """Return weights of the two old pixels that a new one lies over."""
    # In whole numbers: at an edge that two pixels share, a rounding error would take the wrong one.
    new = np.arange(wanted)
    first = new * extent // wanted
    beyond = (new + 1) * extent - (first + 1) * wanted
    second = np.where(beyond <= 0, 0, beyond % extent / extent)
    taps = first[:, None] + np.arange(2)
    return _scattered(extent, taps, np.stack([1 - second, second], axis=1))


def _scattered(extent: int, taps: Array, weight: Array) -> Array:
    """Return a matrix (wanted, extent) of the weights at pixels, those outside at the border."""
    matrix = np.zeros((len(taps), extent))
    rows = np.broadcast_to(np.arange(len(taps))[:, None], taps.shape)
    np.add.at(matrix, (rows, np.clip(taps, 0, extent - 1).astype(np.int64)), weight)
    return matrix
