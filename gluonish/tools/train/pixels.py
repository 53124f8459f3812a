"""Batches of published data sets with images in memory: pad, crop, mirror, normalize.

Array operations augment a batch at once; one image at a time takes thirty times as long. The images
of a batch and their augmentation depend on (seed, epoch, number of the batch) only, not on the
number of workers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.data import DataLoader
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.data.digits import load_digits
from gluonish.gluon.data.vision.datasets import CIFAR10, CIFAR100, MNIST, FashionMNIST
from gluonish.ndarray import array
from gluonish.tools.train.loop import Batch
from gluonish.tools.train.ranks import Ranks, share

Array = np.ndarray[Any, Any]

DATASETS = ("digits", "mnist", "fashion-mnist", "cifar10", "cifar100")
_DIGITS_MAXIMUM = 16  # a pixel of the UCI digits is 0 to 16
_ORDER, _CHANGES = 0, 1  # which random numbers a generator is for


def load_images(name: str, train: bool) -> tuple[Array, Array]:
    """Load the training or test split of a published data set, and download it if missing.

    Args:
        name: One of `DATASETS`.
        train: Whether to load the training split, else the test split.

    Returns:
        Images (N, H, W, C) of uint8, red first, and labels (N,) of int32.

    Raises:
        DownloadError: They cannot be fetched.
    """
    if name == "digits":
        images, labels = load_digits(train)
        return (images.transpose(0, 2, 3, 1) * _DIGITS_MAXIMUM).astype(np.uint8), labels
    kinds: dict[str, Any] = {
        "mnist": MNIST,
        "fashion-mnist": FashionMNIST,
        "cifar10": CIFAR10,
        "cifar100": CIFAR100,
    }
    # Its 100 fine labels, not the 20 coarse ones.
    options = {"fine_label": True} if name == "cifar100" else {}
    stored, labels = kinds[name](train=train, **options)[:]
    return stored.asnumpy(), labels


@dataclass(frozen=True)
class Changes:
    """The augmentation of images.

    Attributes:
        pad: Pixels of ``fill`` that are put around an image before it is cropped at random.
        crop: Whether to crop at random; without ``pad`` it has no effect.
        mirror: Whether to mirror half of the images, left and right.
        fill: Value of padding, 0 to 255.
        mean: Subtracted from each channel.
        std: Then divides each channel.
    """

    pad: int
    crop: bool
    mirror: bool
    fill: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


class PixelBatches(Dataset):
    """The batches of a training run: batch ``k`` is number ``k % n`` of epoch ``k // n``.

    A `Dataset` of batches instead of images, so that a DataLoader's workers make whole batches.

    Args:
        images: (N, H, W, C) of uint8.
        labels: (N,).
        batch_size: Images in a batch.
        changes: The augmentation.
        seed: Of order and changes; None for the images in order as they are, the last batch
            smaller than the others if need be.
        samples: Number of images in an epoch, sampled for each epoch; None for all.
        part: Which part of each batch to give, and of how many parts: batches and changes are the
            same however many there are.

    Raises:
        ArgumentError: There are fewer images than a batch to train with has.
    """

    def __init__(
        self,
        images: Array,
        labels: Array,
        batch_size: int,
        changes: Changes,
        seed: int | None,
        samples: int | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        self._part = part
        samples = len(images) if samples is None else min(samples, len(images))
        if seed is not None and samples < batch_size:
            raise ArgumentError(
                f"--batch-size: expected up to the {samples} images of an epoch, got {batch_size}"
            )
        self._images = images
        self._labels = labels
        self._batch_size = batch_size
        self._changes = changes
        self._seed = seed
        whole, rest = divmod(samples, batch_size)
        self.count = whole + (seed is None and rest > 0)
        self._order: tuple[int, Array] | None = None  # of the last requested epoch
        by_channel = (-1, 1, 1)
        self._mean = np.array(changes.mean, np.float32).reshape(by_channel)
        self._scale = 1 / np.array(changes.std, np.float32).reshape(by_channel)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return self.count

    def __getitem__(self, idx: int) -> tuple[Array, Array]:
        """Return images (N, C, H, W) of float32 and labels (N,) of float32."""
        epoch, number = divmod(idx, self.count)
        chosen = self._indices(epoch)[number * self._batch_size : (number + 1) * self._batch_size]
        images = self._images[chosen]
        mine = share(len(chosen), *self._part)
        if self._seed is not None:
            generator = np.random.default_rng((self._seed, epoch, _CHANGES, number))
            images = changed(images, self._changes, generator, mine)
        else:
            images = images[mine]
        return self._as_planes(images), self._labels[chosen[mine]].astype(np.float32)

    def _indices(self, epoch: int) -> Array:
        if self._seed is None:
            return np.arange(len(self._images))
        if self._order is None or self._order[0] != epoch:
            generator = np.random.default_rng((self._seed, epoch, _ORDER))
            self._order = epoch, generator.permutation(len(self._images))
        return self._order[1]

    def _as_planes(self, images: Array) -> Array:
        """Return normalized images, channels first."""
        planes: Array = np.ascontiguousarray(images.transpose(0, 3, 1, 2), np.float32)
        planes -= self._mean
        planes *= self._scale
        return planes


def changed(
    images: Array, changes: Changes, generator: np.random.Generator, chosen: slice = slice(None)
) -> Array:
    """Return images (N, H, W, C), each cropped out of its padding and mirrored at random.

    Args:
        images: Of uint8; they stay as they are.
        changes: The augmentation.
        generator: Decides for each image.
        chosen: Which of the images to return.
    """
    count, height, width, _ = images.shape
    pad = changes.pad if changes.crop else 0
    down, right = generator.integers(0, 2 * pad + 1, (2, count)).tolist()
    mirrored = (generator.random(count) < 0.5).tolist() if changes.mirror else [False] * count
    down, right, mirrored = down[chosen], right[chosen], mirrored[chosen]
    images = images[chosen]
    frame = (pad, pad)
    padded = np.pad(images, ((0, 0), frame, frame, (0, 0)), constant_values=np.uint8(changes.fill))
    result = np.empty_like(images)
    for i in range(len(images)):
        window = padded[i, down[i] : down[i] + height, right[i] : right[i] + width]
        result[i] = window[:, ::-1] if mirrored[i] else window
    return result


class DatasetBatches:
    """Batches of a published data set, made by a DataLoader.

    Args:
        train: The images and labels to train with.
        test: Data for evaluation.
        batch_size: Images in a batch.
        changes: The augmentation in training; other images are only normalized.
        seed: Of order and changes.
        workers: Number of processes that make batches; 0 for none.
        samples: Images in an epoch to train with; None for all.
        ranks: The processes that share each batch.
    """

    def __init__(
        self,
        train: tuple[Array, Array],
        test: tuple[Array, Array],
        batch_size: int,
        changes: Changes,
        seed: int,
        workers: int,
        samples: int | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        part = (0, 1) if ranks is None else (ranks.rank, ranks.size)
        _, height, width, channels = train[0].shape
        self.image_shape = (channels, height, width)
        batches = PixelBatches(*train, batch_size, changes, seed, samples, part)
        self.batches_per_epoch = len(batches)
        self._epoch = _EpochSampler(len(batches))
        self._training = DataLoader(
            batches, 1, sampler=self._epoch, batchify_fn=_only_batch, num_workers=workers
        )
        # The last batch of another shape costs a second plan of the network, once.
        self._validation = DataLoader(
            PixelBatches(*test, batch_size, changes, None, part=part), 1, batchify_fn=_only_batch
        )

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch, counted from 0."""
        self._epoch.epoch = epoch
        return (Batch(data, label) for data, label in self._training)

    def validation(self) -> Iterator[Batch]:
        """Yield the batches for evaluation."""
        # Some processes may have no share of a small last batch.
        return (Batch(data, label) for data, label in self._validation if len(label))

    def close(self) -> None:
        """The loaders end their workers when they go."""


class _EpochSampler:
    """Return the numbers of an epoch's batches in the training run."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.epoch = 0

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.epoch * self._count, (self.epoch + 1) * self._count))

    def __len__(self) -> int:
        return self._count


def _only_batch(samples: Sequence[tuple[Array, Array]]) -> list[Any]:
    """Return the one sample, which is a batch, as NDArrays."""
    ((images, labels),) = samples
    return [array(images), array(labels)]
