"""Cropping, resizing and warping of the images of records."""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, NotSupportedError, OperatorError
from gluonish.ops.image.resampling import BY_SIZES, LINEAR, chosen_method, open_cv, resampled

Image = np.ndarray[Any, Any]  # (height, width, channels), uint8, as decoded

_MAX_PIXELS = 1 << 28


def resized(image: Image, height: int, width: int, method: int, rng: random.Random) -> Image:
    """Resize an image; return it unchanged if it has the size already.

    Raises:
        OperatorError: The result would have too many pixels.
    """
    if image.shape[:2] == (height, width):
        return image
    if height * width > _MAX_PIXELS:
        raise OperatorError(
            f"resize: expected an image of at most {_MAX_PIXELS} pixels, got {height} x {width} "
            f"from {image.shape[0]} x {image.shape[1]}"
        )
    chosen = chosen_method(method, image.shape, (height, width), rng)
    made: Image = resampled(image, height, width, chosen)
    return made


Crop = Callable[[Image, random.Random], Image]

_ATTEMPTS = 10


def make_crop(name: str, parameters: Mapping[str, Any]) -> Crop:
    """Return the function that crops an image to ``data_shape``, and resizes the crop if needed.

    Raises:
        ArgumentError: A range is reversed or not positive.
    """
    _, height, width = parameters["data_shape"]
    fixed_size = _FixedSize(height, width, parameters["inter_method"], parameters["rand_crop"])
    if parameters["random_resized_crop"]:
        return _RandomArea(name, parameters, fixed_size)
    if parameters["max_crop_size"] > 0 or parameters["min_crop_size"] > 0:
        return _RandomSquare(name, parameters, fixed_size)
    return fixed_size


class _FixedSize:
    """Crops images to the output size, centered or at random; enlarges smaller images first."""

    def __init__(self, height: int, width: int, method: int, anywhere: bool) -> None:
        self.height = height
        self.width = width
        self.method = method
        self.anywhere = anywhere

    def __call__(self, image: Image, rng: random.Random) -> Image:
        tall, wide = image.shape[:2]
        # MXNet replaces the method chosen by the sizes with linear here.
        method = LINEAR if self.method == BY_SIZES else self.method
        if tall < self.height:
            tall, wide = self.height, max(1, wide * self.height // tall)
            image = resized(image, tall, wide, method, rng)
        if wide < self.width:
            tall, wide = tall * self.width // wide, self.width
            image = resized(image, tall, wide, method, rng)
        return self.crop(image, self.height, self.width, rng)

    def crop(self, image: Image, height: int, width: int, rng: random.Random) -> Image:
        """Crop a region of an image."""
        down, right = image.shape[0] - height, image.shape[1] - width
        if self.anywhere:
            y, x = rng.randint(0, down), rng.randint(0, right)
        else:
            y, x = down // 2, right // 2
        return image[y : y + height, x : x + width]

    def resize(self, image: Image, rng: random.Random) -> Image:
        """Resize an image to the output size."""
        return resized(image, self.height, self.width, self.method, rng)


class _RandomSquare:
    """Crops a square of random size, and resizes it to the output size."""

    def __init__(self, name: str, parameters: Mapping[str, Any], fixed_size: _FixedSize) -> None:
        self._name = name
        self._low, self._high = parameters["min_crop_size"], parameters["max_crop_size"]
        self._fixed_size = fixed_size
        if not 0 < self._low <= self._high:
            raise ArgumentError(
                f"{name}: expected 0 < min_crop_size <= max_crop_size, got {self._low} and "
                f"{self._high}"
            )

    def __call__(self, image: Image, rng: random.Random) -> Image:
        if min(image.shape[:2]) < self._high:
            raise OperatorError(
                f"{self._name}: expected an image with both sides of at least max_crop_size "
                f"({self._high}) pixels, got {image.shape[0]} x {image.shape[1]}"
            )
        side = rng.randint(self._low, self._high)
        return self._fixed_size.resize(self._fixed_size.crop(image, side, side, rng), rng)


class _RandomArea:
    """Crops a region of random area and aspect ratio, and resizes it to the output size.

    Falls back to `_FixedSize` if ten drawn regions do not fit into the image.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any], fixed_size: _FixedSize) -> None:
        self._areas = parameters["min_random_area"], parameters["max_random_area"]
        low, high = parameters["min_aspect_ratio"], parameters["max_aspect_ratio"]
        self._ratios = (1 - high, 1 + high) if low is None else (low, high)
        self._fixed_size = fixed_size
        for key, (lower, upper) in (("random_area", self._areas), ("aspect_ratio", self._ratios)):
            if not 0 < lower <= upper:
                raise ArgumentError(
                    f"{name}: expected a positive range by min_{key} and max_{key}, got {lower} "
                    f"to {upper}"
                )

    def __call__(self, image: Image, rng: random.Random) -> Image:
        tall, wide = image.shape[:2]
        for _ in range(_ATTEMPTS):
            area = rng.uniform(*self._areas) * tall * wide
            ratio = rng.uniform(*self._ratios)
            if rng.random() < 0.5:
                ratio = 1 / ratio
            width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < width <= wide and 0 < height <= tall:
                y, x = rng.randint(0, tall - height), rng.randint(0, wide - width)
                return self._fixed_size.resize(image[y : y + height, x : x + width], rng)
        return self._fixed_size(image, rng)


_MAX_SIDE = 1 << 15
_UNLIMITED = 1e10


class Warp:
    """Applies a random affine transform about the centre of an image.

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
        for key in ("random_scale", "img_size"):
            low, high = parameters[f"min_{key}"], parameters[f"max_{key}"]
            if not low <= high:
                raise ArgumentError(
                    f"{name}: expected min_{key} <= max_{key}, got {low} and {high}"
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
            return 1.0, 1.0  # the ratio applies to the crop
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
    def is_needed(parameters: Mapping[str, Any]) -> bool:
        """Whether an iterator's parameters require a warp."""
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
        """Return the transformed image."""
        p = self._p
        height, width = image.shape[:2]
        scale = rng.uniform(p["min_random_scale"], p["max_random_scale"])
        matrix = self._matrix(scale, rng)
        wide, high = (
            max(p["min_img_size"], min(p["max_img_size"], scale * extent))
            for extent in (width, height)
        )
        matrix[:, 2] = (np.array([wide, high]) - matrix[:, :2] @ [width, height]) / 2
        size = tuple(min(_MAX_SIDE, max(1, int(extent))) for extent in (wide, high))
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
        """Return the affine matrix (2, 3) without its translation."""
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
