"""Where batches come from, and what every such source tells the training loop.

What a source gives for an epoch follows from the seed and the number of the epoch alone, never from
what it gave before: a training that is resumed sees the batches that it would have seen.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from gluonish.ndarray import NDArray, array

__all__ = ["Batch", "Batches", "SyntheticBatches", "derived_seed"]


class Batch(NamedTuple):
    """Images and labels.

    Attributes:
        data: (N, C, H, W).
        label: (N,), classes.
        padding: How many samples at the end only fill the batch.
    """

    data: NDArray
    label: NDArray
    padding: int = 0


class Batches(Protocol):
    """A source of batches.

    Attributes:
        image_shape: (channels, height, width).
        batches_per_epoch: How many batches of training make an epoch.
    """

    image_shape: tuple[int, int, int]
    batches_per_epoch: int

    def training(self, epoch: int) -> Iterator[Batch]:
        """Give the batches of an epoch, which is counted from 0."""
        raise NotImplementedError

    def validation(self) -> Iterator[Batch] | None:
        """Give the batches to evaluate with; None where there are none."""

    def close(self) -> None:
        """End workers."""


def derived_seed(*numbers: int) -> int:
    """Return a seed of 31 bits that follows from numbers, such as a seed and an epoch."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0] >> 1)


class SyntheticBatches:
    """One batch of random pixels, again and again: measures the computation without the loading.

    Args:
        batch_size: Images in a batch.
        image_shape: (channels, height, width).
        classes: Number of labels.
        samples: Images in an epoch.
        seed: Of pixels and labels.
    """

    def __init__(
        self,
        batch_size: int,
        image_shape: tuple[int, int, int],
        classes: int,
        samples: int,
        seed: int,
    ) -> None:
        self.image_shape = image_shape
        self.batches_per_epoch = max(1, samples // batch_size)
        generator = np.random.default_rng(seed)
        pixels = generator.uniform(-1, 1, (batch_size, *image_shape)).astype(np.float32)
        self._batch = Batch(array(pixels), array(generator.integers(0, classes, batch_size)))

    def training(self, epoch: int) -> Iterator[Batch]:
        """Give the batch as often as an epoch needs it."""
        return (self._batch for _ in range(self.batches_per_epoch))

    def validation(self) -> None:
        """There is nothing to evaluate."""

    def close(self) -> None:
        """There are no workers."""
