"""imrotate and random_rotate: images turned around their middle."""

from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray, array

__all__ = ["imrotate", "random_rotate"]

Array = np.ndarray[Any, Any]


def imrotate(
    src: NDArray, rotation_degrees: float | NDArray, zoom_in: bool = False, zoom_out: bool = False
) -> NDArray:
    """Rotate images about their centre, with bilinear interpolation; their size does not change.

    Args:
        src: (channels, height, width) or (N, channels, height, width), float32.
        rotation_degrees: Angle counterclockwise, in degrees; for N images also an array (N,).
        zoom_in: Whether to enlarge the image so that no empty corners are visible.
        zoom_out: Whether to shrink the image so that all of it is visible.

    Returns:
        Shape and dtype of ``src``; 0 outside the image.

    Raises:
        ArgumentTypeError: ``src`` is not float32, or an angle has the wrong type.
        ArgumentError: Both zooms are set, ``src`` has another shape, or the number of angles
            differs from that of the images.
    """
    if zoom_in and zoom_out:
        raise ArgumentError(
            "imrotate: expected zoom_in or zoom_out, got both; they cannot be both True"
        )
    if not isinstance(src, NDArray) or src.dtype != np.float32:
        raise ArgumentTypeError(
            "imrotate: expected an NDArray of float32, got "
            f"{getattr(src, 'dtype', type(src).__name__)}; call it after ToTensor"
        )
    if len(src.shape) not in (3, 4):
        raise ArgumentError(
            "imrotate: expected (channels, height, width) or (N, channels, height, width), "
            f"got {src.shape}"
        )
    images = src if len(src.shape) == 4 else src.expand_dims(0)
    angles = _angles(rotation_degrees, len(src.shape), images.shape[0])
    high, wide = images.shape[2:]
    grids = np.stack([_grid(angle, high, wide, zoom_in, zoom_out) for angle in angles])
    turned = nd.BilinearSampler(images, array(grids, ctx=src.context))
    made: NDArray = turned if len(src.shape) == 4 else turned.reshape(src.shape)
    return made


def _angles(given: float | NDArray, axes: int, count: int) -> Array:
    """Return an angle for each image, in radians."""
    if isinstance(given, int | float | np.number):
        return np.full(count, np.deg2rad(float(given)))
    if axes == 3:
        raise ArgumentTypeError(
            f"imrotate: expected a number of degrees for a single image, got {type(given).__name__}"
        )
    degrees = given.asnumpy() if isinstance(given, NDArray) else np.asarray(given)
    if degrees.shape != (count,):
        raise ArgumentError(
            f"imrotate: expected an angle for each of {count} images, got {degrees.shape}"
        )
    radians: Array = np.deg2rad(degrees.astype(np.float64))
    return radians


def _grid(angle: float, high: int, wide: int, zoom_in: bool, zoom_out: bool) -> Array:
    """Return where each pixel comes from, (2, height, width): x and y, the image from -1 to 1."""
    cosine, sine = np.cos(angle), np.sin(angle)
    scale = 1.0
    if zoom_in or zoom_out:
        # Extents of the box around the turned image, in its own.
        across = (wide * abs(cosine) + high * abs(sine)) / wide
        down = (wide * abs(sine) + high * abs(cosine)) / high
        scale = max(across, down) if zoom_out else 1 / max(across, down)
    middle_x, middle_y = (wide - 1) / 2, (high - 1) / 2
    y, x = np.mgrid[:high, :wide]
    x, y = scale * (x - middle_x), scale * (y - middle_y)
    grid = np.stack([cosine * x - sine * y, sine * x + cosine * y])
    # An extent of one pixel has no width between -1 and 1; it is all in its middle.
    half = np.array([middle_x or 1, middle_y or 1]).reshape(2, 1, 1)
    found: Array = (grid / half).astype(np.float32)
    return found


def random_rotate(
    src: NDArray,
    angle_limits: tuple[float, float],
    zoom_in: bool = False,
    zoom_out: bool = False,
) -> NDArray:
    """Rotate images about their centre by random angles, from NumPy's global generator.

    Args:
        src: (channels, height, width) or (N, channels, height, width), float32.
        angle_limits: Range (min, max) of the angle, in degrees.
        zoom_in: Whether to enlarge the image so that no empty corners are visible.
        zoom_out: Whether to shrink the image so that all of it is visible.

    Returns:
        Shape and dtype of ``src``; 0 outside the image.

    Raises:
        ArgumentTypeError: ``angle_limits`` is not a pair, or ``src`` is not float32.
        ArgumentError: Both zooms are set, or ``src`` has another shape.
    """
    if not isinstance(angle_limits, tuple | list) or len(angle_limits) != 2:
        raise ArgumentTypeError(
            f"random_rotate: expected angle_limits (min, max), got {angle_limits!r}"
        )
    if len(src.shape) == 3:
        drawn: Any = float(np.random.uniform(*angle_limits))  # noqa: NPY002  # as MXNet draws
    else:
        drawn = array(np.random.uniform(*angle_limits, size=src.shape[0]))  # noqa: NPY002
    return imrotate(src, drawn, zoom_in=zoom_in, zoom_out=zoom_out)
