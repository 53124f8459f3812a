"""Batches of published data sets with images in memory: pad, crop, mirror, normalize.

Array operations augment a whole batch; one image at a time takes thirty times as long. The images
of a batch and their augmentation depend only on (seed, epoch, number of the batch), not on the
number of workers.

Also batches of record files, which `mx.io.ImageRecordIter` decodes and augments.
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
from gluonish.tools.train.batches import Batch, derived_seed
from gluonish.tools.train.ranks import Ranks, share

Array = np.ndarray[Any, Any]

DATASETS = ("digits", "mnist", "fashion-mnist", "cifar10", "cifar100")
DIGITS_MAXIMUM = 16  # pixels of the UCI digits are 0 to 16
_ORDER, _CHANGES = 0, 1  # purposes of random generators, as part of their seeds


def load_images(name: str, train: bool) -> tuple[Array, Array]:
    """Load the training or test split of a published data set, and download it if missing.

    Args:
        name: One of `DATASETS`.
        train: Whether to load the training split, else the test split.

    Returns:
        Images (N, H, W, C) of uint8, red first, and labels (N,) of int32.

    Raises:
        DownloadError: The data set cannot be downloaded.
    """
    if name == "digits":
        images, labels = load_digits(train)
        return (images.transpose(0, 2, 3, 1) * DIGITS_MAXIMUM).astype(np.uint8), labels
    kinds: dict[str, Any] = {
        "mnist": MNIST,
        "fashion-mnist": FashionMNIST,
        "cifar10": CIFAR10,
        "cifar100": CIFAR100,
    }
    # CIFAR-100 has 100 fine labels, which are used, and 20 coarse ones.
    options = {"fine_label": True} if name == "cifar100" else {}
    stored, labels = kinds[name](train=train, **options)[:]
    return stored.asnumpy(), labels


@dataclass(frozen=True)
class Changes:
    """Options for augmenting images.

    Attributes:
        pad: Width of the padding around an image, in pixels, before a random crop.
        crop: Whether to crop at random; without ``pad`` it has no effect.
        mirror: Whether to mirror half of the images, left and right.
        fill: Value of padding, 0 to 255.
        mean: Value subtracted from each channel.
        std: Divisor of each channel, after the subtraction.
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
        batch_size: Number of images in a batch.
        changes: The augmentation.
        seed: Seed for order and augmentation; None for unchanged images in their order, where
            the last batch may be smaller than the others.
        samples: Number of images in an epoch, sampled for each epoch; None for all.
        part: Index of the part of each batch to return, and number of parts. Batches and
            augmentation do not depend on the number of parts.

    Raises:
        ArgumentError: An epoch has fewer images than a training batch.
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
        self._order: tuple[int, Array] | None = None  # epoch and order of the last requested epoch
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
    """Return images (N, H, W, C), padded, cropped and mirrored at random.

    Args:
        images: Images of uint8, which are not modified.
        changes: The augmentation.
        generator: Generator for the crop and the mirroring of each image.
        chosen: The slice of images to return.
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
    """Batches of a published data set, created by a DataLoader.

    Args:
        train: Images and labels for training.
        test: Images and labels for evaluation.
        batch_size: Number of images in a batch.
        changes: The augmentation for training; images for evaluation are only normalized.
        seed: Seed for order and augmentation.
        workers: Number of processes that create batches; 0 for none.
        samples: Number of images in a training epoch; None for all.
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
        self._epoch = EpochSampler(len(batches))
        self._training = DataLoader(
            batches, 1, sampler=self._epoch, batchify_fn=only_batch, num_workers=workers
        )
        # If the last batch has another shape, the network is planned a second time, once.
        self._validation = DataLoader(
            PixelBatches(*test, batch_size, changes, None, part=part), 1, batchify_fn=only_batch
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
        """Do nothing: the loaders stop their workers when they are deleted."""


class EpochSampler:
    """A sampler that returns the numbers of an epoch's batches in the training run."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.epoch = 0

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.epoch * self._count, (self.epoch + 1) * self._count))

    def __len__(self) -> int:
        return self._count


def only_batch(samples: Sequence[tuple[Array, ...]]) -> list[Any]:
    """Convert the only sample, which is a whole batch, to NDArrays."""
    (parts,) = samples
    return [array(part) for part in parts]


def count_records(path: str) -> int:
    """Return the number of records in a file; only their headers are read.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: The file is damaged.
    """
    return len(scan(path).offsets)


class RecordBatches:
    """Batches of a record file for training, and of another for evaluation.

    Args:
        train: Record file for training.
        train_index: Index of ``train``; empty for the file with the suffix ``.idx``, if it exists.
        validation: Record file for evaluation; empty for none.
        validation_index: Index of ``validation``; see ``train_index``.
        batch_size: Number of images in a batch.
        image_shape: (channels, height, width).
        samples: Number of images in an epoch; None for all.
        threads: Number of threads that decode.
        seed: Seed for order and augmentation.
        common: Further arguments of ImageRecordIter for both files, such as mean and std.
        augmentation: Further arguments of ImageRecordIter for training.
        ranks: The processes that share the files; each reads a different part, and all read the
            same number of batches.

    Raises:
        ArgumentError: An epoch has fewer images than a batch.
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
            # The iterator fills the last batch with the first images.
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
        """Do nothing: the iterators stop their threads when they are deleted."""


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
