"""Rotate and RandomRotation: images turned around their middle."""

from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.refusal import RefusedAtCall
from gluonish.gluon.block import Block
from gluonish.image.rotate import imrotate, random_rotate
from gluonish.ndarray import NDArray

__all__ = ["RandomRotation", "Rotate"]


class Rotate(Block):
    """Rotate images by a fixed angle; see `image.imrotate`.

    Args:
        rotation_degrees: Angle in degrees, counterclockwise.
        zoom_in: Whether to enlarge the image until no empty corner is visible.
        zoom_out: Whether to shrink the image until all of it is visible.

    Inputs:
        x: (channels, height, width) or (N, channels, height, width), float32.

    Outputs:
        y: shape and dtype of ``x``.

    Raises:
        ArgumentError: At the call: both ``zoom_in`` and ``zoom_out`` are set.
    """

    def __init__(
        self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False
    ) -> None:
        super().__init__()
        with RefusedAtCall(self):
            _check_zooms("Rotate", zoom_in, zoom_out)
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: NDArray) -> Any:
        """Rotate the images.

        Args:
            x: (channels, height, width) or (N, channels, height, width), float32.
        """
        return imrotate(x, *self._args)


class RandomRotation(Block):
    """Rotate images by random angles, drawn from NumPy's global generator.

    Args:
        angle_limits: Smallest and largest angle in degrees, counterclockwise.
        zoom_in: Whether to enlarge the image until no empty corner is visible.
        zoom_out: Whether to shrink the image until all of it is visible.
        rotate_with_proba: Probability that the input is rotated at all.

    Inputs:
        x: (channels, height, width) or (N, channels, height, width), float32; each of N images gets
            its own angle.

    Outputs:
        y: shape and dtype of ``x``; ``x`` itself if it is not rotated.

    Raises:
        ArgumentError: The angles are not in order, or ``rotate_with_proba`` is outside [0, 1]; at
            the call: both ``zoom_in`` and ``zoom_out`` are set.
    """

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        with RefusedAtCall(self):
            _check_zooms("RandomRotation", zoom_in, zoom_out)
        lower, upper = angle_limits
        if lower >= upper:
            raise ArgumentError(
                f"RandomRotation: expected angle_limits (min, max), got {angle_limits}"
            )
        if not 0 <= rotate_with_proba <= 1:
            raise ArgumentError(
                f"RandomRotation: expected rotate_with_proba in [0, 1], got {rotate_with_proba}"
            )
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: NDArray) -> Any:
        """Rotate the images with the given probability.

        Args:
            x: (channels, height, width) or (N, channels, height, width), float32.
        """
        if np.random.random() > self._rotate_with_proba:  # noqa: NPY002  # as MXNet draws
            return x
        return random_rotate(x, *self._args)


def _check_zooms(name: str, zoom_in: bool, zoom_out: bool) -> None:
    if zoom_in and zoom_out:
        raise ArgumentError(f"{name}: expected zoom_in or zoom_out, got both")
