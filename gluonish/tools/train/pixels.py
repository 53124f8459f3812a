"""Batches of published data sets with images in memory: pad, crop, mirror, normalize.

Array operations augment a batch at once; one image at a time takes thirty times as long. The images
of a batch and their augmentation depend on (seed, epoch, number of the batch) only, not on the
number of workers.

Batches of record files, decoded and augmented by `mx.io.ImageRecordIter`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.data import DataLoader
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.data.digits import load_digits
from gluonish.gluon.data.vision.datasets import CIFAR10, CIFAR100, MNIST, FashionMNIST
from gluonish.io.image_record import ImageRecordIter
from gluonish.io.image_record.source import open_records
from gluonish.ndarray import array
from gluonish.recordio.record_table import scan
from gluonish.tools.train.loop import Batch, derived_seed
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


def count_records(path: str) -> int:
    """Return how many records a file has; only their heads are read.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: It is damaged.
    """
    return len(scan(path).offsets)


class RecordBatches:
    """Batches of a record file, and of another to evaluate with.

    Args:
        train: The record file to train with.
        train_index: Its index; empty for the file with the suffix ``.idx``, if there is
            one.
        validation: The record file to evaluate with; empty for none.
        validation_index: Its index.
        batch_size: Images in a batch.
        image_shape: (channels, height, width).
        samples: Images in an epoch; None for all.
        threads: Threads that decode.
        seed: Of order and augmentation.
        common: Further arguments of ImageRecordIter, for both files: mean, std.
        augmentation: Further arguments for the file to train with.
        ranks: The processes that share the files; each reads a part of its own, and as many
            batches as the others.

    Raises:
        ArgumentError: There are fewer images than a batch has.
    """

    def __init__(
        self,
        train: str,
        train_index: str,
        validation: str,
        validation_index: str,
        batch_size: int,
        image_shape: tuple[int, int, int],
        samples: int | None,
        threads: int,
        seed: int,
        common: dict[str, Any],
        augmentation: dict[str, Any],
        ranks: Ranks,
    ) -> None:
        self.image_shape = image_shape
        found = count_records(train) if samples is None else samples
        if found < batch_size:
            raise ArgumentError(
                f"--batch-size: expected up to the {found} images of {train}, got {batch_size}"
            )
        self._train = _files(train, train_index)
        if samples is not None:
            self.batches_per_epoch = found // batch_size
        else:
            if ranks.size > 1:
                found = min(ranks.gather(_count_part(self._train, ranks))) * ranks.size
            # The iterator fills the last batch with images of the beginning.
            self.batches_per_epoch = -(-found // batch_size)
        self._validation = _files(validation, validation_index) if validation else None
        self._arguments = {
            "data_shape": image_shape,
            "batch_size": batch_size // ranks.size,
            "num_parts": ranks.size,
            "part_index": ranks.rank,
            "preprocess_threads": threads,
            "round_batch": True,
            **common,
        }
        self._augmentation = augmentation
        self._seed = seed

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch, counted from 0."""
        # A new iterator for each epoch, so that its order depends only on the epoch.
        seed = derived_seed(self._seed, epoch)
        iterator = ImageRecordIter(
            **self._train,
            **self._arguments,
            **self._augmentation,
            shuffle=True,
            seed=seed,
            seed_aug=seed,
        )
        for number, batch in enumerate(iterator):
            if number == self.batches_per_epoch:
                break
            yield Batch(batch.data[0], batch.label[0])

    def validation(self) -> Iterator[Batch] | None:
        """Yield the batches for evaluation, or return None."""
        if self._validation is None:
            return None
        iterator = ImageRecordIter(**self._validation, **self._arguments)
        return (Batch(batch.data[0], batch.label[0], batch.pad or 0) for batch in iterator)

    def close(self) -> None:
        """The iterators end their threads when they go."""


def _count_part(files: dict[str, str], ranks: Ranks) -> int:
    """Return the number of records in this process's share."""
    places = open_records("train", {**files, "num_parts": ranks.size, "part_index": ranks.rank})
    try:
        return len(places.all())
    finally:
        places.files.close()


def _files(records: str, index: str) -> dict[str, str]:
    beside = Path(records).with_suffix(".idx")
    if not index and beside.is_file():
        index = str(beside)
    return {"path_imgrec": records, **({"path_imgidx": index} if index else {})}
