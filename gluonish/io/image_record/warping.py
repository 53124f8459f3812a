"""Rotation, shear, scale and change of proportions: one affine map of an image."""

import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.io.image_record.resizing import Image
from gluonish.ops.image.interpolation import chosen_method
from gluonish.ops.image.opencv import open_cv

__all__ = ["Warp"]

_MOST_SIDE = 1 << 15
_UNLIMITED = 1e10


class Warp:
    """A random affine transform about the centre of the image.

    The image is sheared, rotated and scaled; the aspect ratio (vertical by horizontal scale)
    leaves the mean of the two scales unchanged. The result has the size of the scaled image,
    within ``min_img_size`` and ``max_img_size``, with ``fill_value`` outside the image.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.

    Raises:
        ArgumentError: A range is reversed, or a scale is not positive.
        NotSupportedError: OpenCV is not installed.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        self._p = parameters
        for what in ("random_scale", "img_size"):
            low, high = parameters[f"min_{what}"], parameters[f"max_{what}"]
            if not low <= high:
                raise ArgumentError(
                    f"{name}: expected min_{what} <= max_{what}, got {low} and {high}"
                )
        if not parameters["min_random_scale"] > 0:
            raise ArgumentError(
                f"{name}: expected min_random_scale above 0, got {parameters['min_random_scale']}"
            )
        self._ratios = self._ratio_range(name)
        self._cv2 = open_cv()
        if self._cv2 is None:
            raise NotSupportedError(
                f"{name}: expected OpenCV for rotation, shear and scale, got none; install "
                "opencv-python-headless"
            )

    def _ratio_range(self, name: str) -> tuple[float, float]:
        low, high = self._p["min_aspect_ratio"], self._p["max_aspect_ratio"]
        if self._p["random_resized_crop"]:
            return 1.0, 1.0  # there the ratio is that of the region
        if low is None:
            low, high = 1 - high, 1 + high
        if not 0 < low <= high:
            raise ArgumentError(
                f"{name}: expected a positive range of aspect ratios, got {low} to {high} by "
                f"min_aspect_ratio {self._p['min_aspect_ratio']} and max_aspect_ratio "
                f"{self._p['max_aspect_ratio']}"
            )
        return low, high

    @staticmethod
    def wanted(parameters: Mapping[str, Any]) -> bool:
        """Whether an iterator's parameters require a warp.

        Args:
            parameters: The iterator's parameters.
        """
        p = parameters
        proportions = p["max_aspect_ratio"] != 0 or p["min_aspect_ratio"] is not None
        return (
            p["max_rotate_angle"] > 0
            or p["rotate"] > 0
            or p["max_shear_ratio"] > 0
            or (p["min_random_scale"], p["max_random_scale"]) != (1, 1)
            or (proportions and not p["random_resized_crop"])
            or p["max_img_size"] < _UNLIMITED
            or p["min_img_size"] > 0
        )

    def __call__(self, image: Image, rng: random.Random) -> Image:
        """Return the transformed image.

        Args:
            image: (height, width, channels), uint8.
            rng: Random number generator.
        """
        p = self._p
        height, width = image.shape[:2]
        scale = rng.uniform(p["min_random_scale"], p["max_random_scale"])
        matrix = self._matrix(scale, rng)
        wide, high = (
            max(p["min_img_size"], min(p["max_img_size"], scale * extent))
            for extent in (width, height)
        )
        matrix[:, 2] = (np.array([wide, high]) - matrix[:, :2] @ [width, height]) / 2
        size = tuple(min(_MOST_SIDE, max(1, int(extent))) for extent in (wide, high))
        made: Image = self._cv2.warpAffine(
            image,
            matrix.astype(np.float32),
            size,
            flags=chosen_method(p["inter_method"], (height, width), size[::-1], rng),
            borderMode=self._cv2.BORDER_CONSTANT,
            borderValue=(p["fill_value"],) * 4,
        )
        return made.reshape(*made.shape[:2], image.shape[2])

    def _matrix(self, scale: float, rng: random.Random) -> np.ndarray[Any, Any]:
        """Return a matrix (2, 3) whose last column is not set."""
        p = self._p
        degrees = rng.randint(-p["max_rotate_angle"], p["max_rotate_angle"])
        if p["rotate"] > 0:
            degrees = p["rotate"]
        shear = rng.uniform(-p["max_shear_ratio"], p["max_shear_ratio"])
        ratio = rng.uniform(*self._ratios)
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        across, down = scale * 2 / (1 + ratio), scale * 2 * ratio / (1 + ratio)
        matrix = np.zeros((2, 3))
        matrix[0, :2] = across * (cosine - shear * sine), across * (sine + shear * cosine)
        matrix[1, :2] = -down * sine, down * cosine
        return matrix
