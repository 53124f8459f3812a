"""Images with objects: what is done to them and their boxes, and how both lie in a batch."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, FileFormatError, NotSupportedError
from gluonish.io.image_record.augmentation import shorter_side
from gluonish.io.image_record.colors import scaled, shifted_hls
from gluonish.io.image_record.normalization import Normalization
from gluonish.io.image_record.object_crops import ObjectCrops
from gluonish.io.image_record.objects import BOX, Objects, cut_boxes, parse_objects
from gluonish.io.image_record.resizing import Image, resized
from gluonish.ops.image.opencv import open_cv

__all__ = ["LABEL_HEAD", "ObjectSamples"]

Array = np.ndarray[Any, Any]

LABEL_HEAD = 4  # channels, height, width, and how many numbers follow

_PROBABILITIES = (
    "rand_crop_prob",
    "rand_pad_prob",
    "random_hue_prob",
    "random_saturation_prob",
    "random_illumination_prob",
    "random_contrast_prob",
    "rand_mirror_prob",
)
_SHIFTS = ("hue", "illumination", "saturation")  # in the order of OpenCV's HLS


class ObjectSamples:
    """Augments images and their boxes for detection, and writes them into a batch.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        normalization: Writes the augmented image.

    Raises:
        ArgumentError: A parameter is out of range.
        NotSupportedError: Colour shifts need OpenCV, which is not installed.
    """

    def __init__(
        self, name: str, parameters: Mapping[str, Any], normalization: Normalization
    ) -> None:
        self._name = name
        self._p = parameters
        self._normalization = normalization
        for what in _PROBABILITIES:
            if not 0 <= parameters[what] <= 1:
                raise ArgumentError(f"{name}: expected {what} from 0 to 1, got {parameters[what]}")
        self._crops = ObjectCrops(name, parameters)
        self._shifts = [
            (abs(parameters[f"max_random_{what}"]), parameters[f"random_{what}_prob"])
            for what in _SHIFTS
        ]
        self._contrast = abs(parameters["max_random_contrast"])
        if any(limit and share for limit, share in self._shifts) and open_cv() is None:
            raise NotSupportedError(
                f"{name}: expected OpenCV for random hue, saturation and illumination, got none; "
                "install opencv-python-headless"
            )

    def write(
        self, data: Array, label: Array, image: Array, labels: Array, rng: random.Random
    ) -> None:
        """Write one sample; see `SampleWriter`."""
        p = self._p
        objects = parse_objects(labels, self._name)
        if p["resize"] > 0:
            image = shorter_side(image, p["resize"], p["inter_method"], rng)
        if p["max_pad_scale"] > 1 and rng.random() < p["rand_pad_prob"]:
            image, objects = self._padded(image, objects, rng)
        if rng.random() < p["rand_crop_prob"]:
            image, objects = self._crops(image, objects, rng)
        if rng.random() < p["rand_mirror_prob"]:
            image, objects = image[:, ::-1], _mirrored(objects)
        height, width = self._size(image, *data.shape[1:])
        image = self._colored(resized(image, height, width, p["inter_method"], rng), rng)
        if (height, width) != data.shape[1:]:
            data[...] = 0
            data = data[:, :height, :width]
        self._normalization.write(data, image, False, rng)
        self._write_label(label, (len(data), height, width), objects)

    def _padded(self, image: Image, objects: Objects, rng: random.Random) -> tuple[Image, Objects]:
        """Return an image somewhere within a larger one, and its objects there."""
        scale = rng.uniform(1, self._p["max_pad_scale"])
        height, width = image.shape[:2]
        tall, wide = int(height * scale), int(width * scale)
        y, x = rng.randint(0, tall - height), rng.randint(0, wide - width)
        made = np.full((tall, wide, image.shape[2]), self._p["fill_value"], np.uint8)
        made[y : y + height, x : x + width] = image
        frame = np.array([-x, -y, wide - x, tall - y], np.float32)
        return made, cut_boxes(objects, frame / np.array([width, height] * 2, np.float32))

    def _size(self, image: Image, height: int, width: int) -> tuple[int, int]:
        """Return the size that an image gets within that of the batch."""
        mode = self._p["resize_mode"]
        tall, wide = image.shape[:2]
        if mode == "force":
            return height, width
        if mode == "shrink" and tall <= height and wide <= width:
            return tall, wide
        if height * wide < width * tall:
            return height, max(1, wide * height // tall)
        return max(1, tall * width // wide), width

    def _colored(self, image: Image, rng: random.Random) -> Image:
        shifts = [
            rng.randint(-limit, limit) if limit and rng.random() < share else 0
            for limit, share in self._shifts
        ]
        if image.shape[2] == 3:
            image = shifted_hls(image, shifts)
        if self._contrast and rng.random() < self._p["random_contrast_prob"]:
            image = scaled(image, 1 + rng.uniform(-self._contrast, self._contrast))
        return image

    def _write_label(self, label: Array, shape: tuple[int, ...], objects: Objects) -> None:
        values = np.concatenate([objects.header, objects.table.ravel()])
        end = LABEL_HEAD + len(values)
        if end > len(label):
            raise FileFormatError(
                f"{self._name}: expected labels of at most {len(label) - LABEL_HEAD} numbers, got "
                f"{len(values)}; set label_pad_width"
            )
        label[:LABEL_HEAD] = *shape, len(values)
        label[LABEL_HEAD:end] = values
        label[end:] = self._p["label_pad_value"]


def _mirrored(objects: Objects) -> Objects:
    table = objects.table.copy()
    left, top, right, bottom = objects.boxes().T
    table[:, BOX] = np.stack([1 - right, top, 1 - left, bottom], axis=1)
    return Objects(objects.header, table)
