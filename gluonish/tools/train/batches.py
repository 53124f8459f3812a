"""Sources of batches.

The batches of an epoch depend only on the seed and the epoch, never on earlier batches: a resumed
run sees the same batches as an uninterrupted one.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from gluonish.gluon.data import DataLoader
from gluonish.ndarray import NDArray, array


class Batch(NamedTuple):
    """Images and labels.

    Attributes:
        data: (N, C, H, W).
        label: (N,), classes; of mixed images those of the larger part.
        padding: Number of samples at the end that only fill the batch.
        target: (N, classes), soft labels of mixed images; None if the labels are the targets.
    """

    data: NDArray
    label: NDArray
    padding: int = 0
    target: NDArray | None = None


class Batches(Protocol):
    """Interface of sources of batches.

    Attributes:
        image_shape: (channels, height, width).
        batches_per_epoch: Number of training batches in an epoch.
    """

    image_shape: tuple[int, int, int]
    batches_per_epoch: int

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the training batches of an epoch; epochs count from 0."""
        raise NotImplementedError

    def validation(self) -> Iterator[Batch] | None:
        """Yield the batches for evaluation, or return None."""

    def close(self) -> None:
        """Stop workers."""


def derived_seed(*numbers: int) -> int:
    """Derive a seed of 31 bits from numbers, such as a seed and an epoch."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0] >> 1)


class SyntheticBatches:
    """A source that repeats one batch of random pixels, to measure computation without loading.

    Args:
        batch_size: Number of images in a batch.
        image_shape: (channels, height, width).
        classes: Number of classes.
        samples: Number of images in an epoch.
        seed: Seed for pixels and labels.
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
        """Yield the batch repeatedly for one epoch."""
        return (self._batch for _ in range(self.batches_per_epoch))

    def validation(self) -> None:
        """Return None: there is no evaluation."""

    def close(self) -> None:
        """Do nothing: there are no workers."""


class EpochLoader(DataLoader):
    """The training batches of a source, of another epoch in each pass.

    Args:
        source: The source.

    Attributes:
        epoch: Number of the epoch of the next pass, from 0.
    """

    def __init__(self, source: Batches) -> None:
        # An Estimator takes a DataLoader; its elements are the numbers of the batches.
        super().__init__(range(source.batches_per_epoch), 1)
        self._source = source
        self.epoch = 0

    def __iter__(self) -> Iterator[Any]:
        yield from self._source.training(self.epoch)


class EvaluationLoader(DataLoader):
    """Batches of evaluation, of which there is one pass.

    Args:
        batches: The batches.
    """

    def __init__(self, batches: Iterator[Batch]) -> None:
        super().__init__(range(1), 1)  # the number of batches is not known
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        yield from self._batches
