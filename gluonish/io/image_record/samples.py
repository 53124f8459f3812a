"""What becomes of one image record: its planes and labels in a batch."""

import random
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gluonish.io.image_record.augmentation import Augmentation
from gluonish.io.image_record.normalization import Normalization

__all__ = ["ImageSamples", "SampleWriter"]

Array = np.ndarray[Any, Any]


class SampleWriter(Protocol):
    """Writes decoded images and their labels into a batch, from any number of threads at once."""

    def write(
        self, data: Array, label: Array, image: Array, labels: Array, rng: random.Random
    ) -> None:
        """Write one sample into the batch.

        Args:
            data: Array (channels, height, width) to fill.
            label: Array (width,) to fill.
            image: Decoded image (height, width, channels), uint8, blue first.
            labels: Labels from the record or the list file.
            rng: Random number generator.
        """
        ...


class ImageSamples:
    """Writes augmented images with labels of a fixed length into a batch, for classification.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The iterator's parameters.
        normalization: Writes the augmented image.
    """

    def __init__(
        self, name: str, parameters: Mapping[str, Any], normalization: Normalization
    ) -> None:
        self._augmentation = Augmentation(name, parameters)
        self._normalization = normalization
        self._mirror = parameters.get("mirror", False)
        self._rand_mirror = parameters.get("rand_mirror", False)

    def write(
        self, data: Array, label: Array, image: Array, labels: Array, rng: random.Random
    ) -> None:
        """Write one sample; see `SampleWriter`."""
        image = self._augmentation(image, rng)
        mirrored = self._mirror or (self._rand_mirror and rng.random() < 0.5)
        self._normalization.write(data, image, mirrored, rng)
        label[:] = labels
