"""Augmentation of the images of records: color transforms and their order.

References:
    A. Krizhevsky, I. Sutskever, G. Hinton, ImageNet Classification with Deep Convolutional Neural
    Networks, NeurIPS 2012.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.io.image_record.geometry import Image, Warp, make_crop, resized
from gluonish.ops.image.pixel_math import COLOR_COMPONENTS, COLOR_DEVIATIONS, GRAY
from gluonish.ops.image.resampling import open_cv

ColorChange = Callable[[Image, random.Random], Image]
Array = np.ndarray[Any, Any]

_LEVELS = np.arange(256, dtype=np.float32)
_GRAY = np.array(GRAY[::-1], np.float32)
_COMPONENTS = np.array(COLOR_COMPONENTS[::-1]) * COLOR_DEVIATIONS
# OpenCV stores hues in steps of two degrees.
_HUES = 180


def color_changes(name: str, parameters: Mapping[str, Any]) -> list[ColorChange]:
    """Return the colour augmentations that an iterator's parameters request, in order.

    Brightness, contrast and saturation are applied in a random order, drawn for each image.

    Raises:
        ArgumentError: An amount is negative.
        NotSupportedError: Hue, lightness or saturation shifts need OpenCV, which is not installed.
    """
    amounts = {
        key: parameters[key] for key in (*_JITTERS, "pca_noise", "random_h", "random_s", "random_l")
    }
    for key, amount in amounts.items():
        if not amount >= 0:
            raise ArgumentError(f"{name}: expected {key} of at least 0, got {amount}")
    if parameters["data_shape"][0] != 3:
        return []
    changes: list[ColorChange] = []
    jitters = [(change, amounts[key]) for key, change in _JITTERS.items() if amounts[key]]
    if jitters:
        changes.append(_Jitter(jitters))
    limits = amounts["random_h"], amounts["random_l"], amounts["random_s"]
    if any(limits):
        if open_cv() is None:
            raise NotSupportedError(
                f"{name}: expected OpenCV for random_h, random_s and random_l, got none; install "
                "opencv-python-headless"
            )
        changes.append(lambda image, rng: shifted_hls(image, [rng.randint(-m, m) for m in limits]))
    if amounts["pca_noise"]:
        changes.append(_Lighting(amounts["pca_noise"]))
    return changes


class _Jitter:
    def __init__(self, jitters: list[tuple[Callable[[Image, float], Image], float]]) -> None:
        self._jitters = jitters

    def __call__(self, image: Image, rng: random.Random) -> Image:
        for change, amount in rng.sample(self._jitters, len(self._jitters)):
            image = change(image, 1 + rng.uniform(-amount, amount))
        return image


class _Lighting:
    def __init__(self, deviation: float) -> None:
        self._deviation = deviation

    def __call__(self, image: Image, rng: random.Random) -> Image:
        amounts = [rng.gauss(0, self._deviation) for _ in range(3)]
        tables = _to_bytes(_LEVELS[:, None] + (_COMPONENTS @ amounts).astype(np.float32))
        return np.stack([tables[image[..., c], c] for c in range(3)], axis=-1)


def _to_bytes(values: Array) -> Array:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def scaled(image: Image, factor: float) -> Image:
    """Return an image with all values multiplied by a factor, rounded and clipped to [0, 255]."""
    return _to_bytes(_LEVELS * np.float32(factor))[image]


def _contrast(image: Image, factor: float) -> Image:
    mean = float(image.reshape(-1, 3).mean(axis=0, dtype=np.float64) @ _GRAY)
    return _to_bytes(_LEVELS * np.float32(factor) + np.float32(mean * (1 - factor)))[image]


def _saturation(image: Image, factor: float) -> Image:
    gray = (image @ _GRAY)[..., None] * np.float32(1 - factor)
    return _to_bytes(image * np.float32(factor) + gray)


_JITTERS: Mapping[str, Callable[[Image, float], Image]] = {
    "brightness": scaled,
    "contrast": _contrast,
    "saturation": _saturation,
}


def shifted_hls(image: Image, shifts: list[int]) -> Image:
    """Return an image with shifted hue, lightness and saturation; needs OpenCV.

    Hue wraps around; in MXNet it is clipped at both ends, at red.

    Args:
        image: (height, width, 3), uint8, channels blue, green, red.
        shifts: Amounts added to hue (in steps of 2 degrees), lightness and saturation (both on a
            scale of 0 to 255).
    """
    if not any(shifts):
        return image
    cv2 = open_cv()
    hls = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_BGR2HLS)
    levels = np.arange(256)
    tables = [(levels + shifts[0]) % _HUES, *(np.clip(levels + s, 0, 255) for s in shifts[1:])]
    hls = np.stack([tables[c].astype(np.uint8)[hls[..., c]] for c in range(3)], axis=-1)
    made: Image = cv2.cvtColor(hls, cv2.COLOR_HLS2BGR)
    return made


_MAX_PAD = 1 << 14  # pixels


class Augmentation:
    """Augments an image in MXNet's order: resize, warp, pad, crop, change colours.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.

    Raises:
        ArgumentError: A parameter is out of range.
        NotSupportedError: A parameter needs OpenCV, which is not installed.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        p = parameters
        steps: list[Callable[[Image, random.Random], Image]] = []
        if p["resize"] > 0:
            side, method = p["resize"], p["inter_method"]
            steps.append(lambda image, rng: shorter_side(image, side, method, rng))
        if Warp.is_needed(p):
            steps.append(Warp(name, p))
        if not 0 <= p["pad"] <= _MAX_PAD:
            raise ArgumentError(f"{name}: expected pad from 0 to {_MAX_PAD}, got {p['pad']}")
        if p["pad"]:
            margins = ((p["pad"],) * 2, (p["pad"],) * 2, (0, 0))
            fill = p["fill_value"]
            steps.append(lambda image, _: np.pad(image, margins, constant_values=fill))
        steps.append(make_crop(name, p))
        steps.extend(color_changes(name, p))
        self._steps = steps

    def __call__(self, image: Image, rng: random.Random) -> Image:
        """Augment an image (height, width, channels); may return a view of it."""
        for step in self._steps:
            image = step(image, rng)
        return image


def shorter_side(image: Image, side: int, method: int, rng: random.Random) -> Image:
    """Resize an image so that its shorter side is ``side`` long, with the same aspect ratio."""
    tall, wide = image.shape[:2]
    if tall > wide:
        return resized(image, tall * side // wide, side, method, rng)
    return resized(image, side, wide * side // tall, method, rng)
