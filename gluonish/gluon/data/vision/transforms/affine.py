"""Random affine and perspective maps of images."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_float
from gluonish.gluon.data.vision.transforms.augmentation import (
    Augmentation,
    Fill,
    fill_of,
    filled,
    interpolation_of,
    number_from,
    number_in,
    range_of,
)
from gluonish.gluon.data.vision.transforms.host import Array
from gluonish.gluon.data.vision.transforms.warp import affine_map, perspective_map, warped


class RandomAffine(Augmentation):
    """Rotate, translate, scale and shear an image by random amounts about its center.

    Args:
        degrees: Limits (min, max) of the angle in degrees, clockwise; a number stands for
            (-degrees, degrees).
        translate: Largest translations as fractions of width and height, each in [0, 1]; None for
            no translation.
        scale: Limits (min, max) of the scale, above 0; None for 1.
        shear: Limits (min, max) of the shear along x in degrees, or (min x, max x, min y, max y); a
            number stands for (-shear, shear); None for no shear.
        interpolation: ``"nearest"`` (0) or ``"bilinear"`` (1).
        fill: Value of pixels from outside of the image, or one for each channel, in units of the
            image.
        center: Fixed point (x, y) in pixels from the top left corner; None for the image's center.

    Inputs:
        x: (height, width, channels), uint8 or floating point.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An argument is out of its range, or limits are not in order; at the call: the
            input is no such image, or ``fill`` has not a value for each of its channels.
        ArgumentTypeError: An argument is not of its type.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: int | str = "nearest",
        fill: Fill = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        name = "RandomAffine"
        self._degrees = _around_zero(name, "degrees", degrees)
        self._translate = (0.0, 0.0)
        if translate is not None:
            width, height = _pair(name, "translate", translate)
            self._translate = (
                number_in(name, "translate[0]", width, 0, 1),
                number_in(name, "translate[1]", height, 0, 1),
            )
        self._scale = (1.0, 1.0)
        if scale is not None:
            self._scale = range_of(name, "scale", scale, 0)
            if self._scale[0] == 0:
                raise ArgumentError(f"{name}: expected scale (min, max) above 0, got {scale!r}")
        self._shear = _shear_limits(name, shear)
        self._interpolation = interpolation_of(name, interpolation)
        self._fill = fill_of(name, fill)
        self._center = None
        if center is not None:
            x, y = _pair(name, "center", center)
            self._center = as_float(name, "center[0]", x), as_float(name, "center[1]", y)

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        height, width, channels = values.shape
        angle = rng.uniform(*self._degrees)
        right, down = (
            float(round(rng.uniform(-part * extent, part * extent)))
            for part, extent in zip(self._translate, (width, height), strict=True)
        )
        scale = rng.uniform(*self._scale)
        shear = rng.uniform(*self._shear[:2]), rng.uniform(*self._shear[2:])
        center = self._center or (width / 2, height / 2)
        found = affine_map(center, angle, (right, down), scale, shear)
        return warped(
            values, found, self._interpolation, filled("RandomAffine", self._fill, channels)
        )


def _pair(name: str, argument: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise ArgumentTypeError(f"{name}: expected {argument} to be two numbers, got {value!r}")
    return value[0], value[1]


def _around_zero(name: str, argument: str, value: Any) -> tuple[float, float]:
    """Return limits; a number stands for the range from its negative to itself."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return range_of(name, argument, value)
    limit = number_from(name, argument, value, 0)
    return -limit, limit


def _shear_limits(name: str, shear: Any) -> tuple[float, float, float, float]:
    """Return (min x, max x, min y, max y), each between -90 and 90 degrees."""
    if shear is None:
        return (0.0, 0.0, 0.0, 0.0)
    if isinstance(shear, Sequence) and len(shear) == 4:
        limits = (*range_of(name, "shear", shear[:2]), *range_of(name, "shear", shear[2:]))
    else:
        limits = (*_around_zero(name, "shear", shear), 0.0, 0.0)
    if max(map(abs, limits)) >= 90:
        raise ArgumentError(f"{name}: expected shear between -90 and 90 degrees, got {shear!r}")
    return limits


class RandomPerspective(Augmentation):
    """Move the corners of an image inward by random amounts, as if it were seen from the side.

    Args:
        distortion_scale: Largest move of a corner, as a fraction of half the width and half the
            height, in [0, 1].
        p: Probability that an image is changed.
        interpolation: ``"nearest"`` (0) or ``"bilinear"`` (1).
        fill: Value of pixels from outside of the image, or one for each channel, in units of the
            image.

    Inputs:
        x: (height, width, channels), uint8 or floating point.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: An argument is out of its range; at the call: the input is no such image, or
            ``fill`` has not a value for each of its channels.
    """

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: int | str = "bilinear",
        fill: Fill = 0,
    ) -> None:
        super().__init__(p)
        name = "RandomPerspective"
        self._scale = number_in(name, "distortion_scale", distortion_scale, 0, 1)
        self._interpolation = interpolation_of(name, interpolation)
        self._fill = fill_of(name, fill)

    def changed(self, values: Array, rng: np.random.Generator) -> Array:
        """Return the changed image."""
        height, width, channels = values.shape
        fill = filled("RandomPerspective", self._fill, channels)
        if min(height, width) < 2:
            return values
        right, bottom = width - 1, height - 1
        corners = [(0, 0), (right, 0), (right, bottom), (0, bottom)]
        # Less than half of the extent, so that corners do not meet.
        most = [min(int(self._scale * (n // 2)), (n - 1) // 2) for n in (width, height)]
        moves = rng.integers(0, np.array(most) + 1, (4, 2)).tolist()
        moved = [
            (abs(x - dx), abs(y - dy)) for (x, y), (dx, dy) in zip(corners, moves, strict=True)
        ]
        try:
            found = perspective_map(corners, moved)
        except np.linalg.LinAlgError:  # two corners on one point
            return values
        return warped(values, found, self._interpolation, fill)
