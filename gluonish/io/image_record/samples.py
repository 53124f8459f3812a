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
        """Write one sample.

        Args:
            data: (channels, height, width) to fill.
            label: (width,) to fill.
            image: (height, width, channels) as decoded, blue before red; bytes.
            labels: What the record or the list has.
            rng: Where chance comes from.
        """
        ...


class ImageSamples:
    """Images with labels of one width, for classification.

    Args:
        name: The iterator, for messages.
        parameters: Those of the iterator.
        normalization: The last step.
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
