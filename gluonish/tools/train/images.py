"""Batches whose images are made one by one: cropped, resized, and augmented by random operations.

The images are those of a published data set or of record files. Batches, their augmentation and
their mixing depend only on (seed, epoch, number of the batch), not on the number of workers or of
the processes that share them.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.data import DataLoader, RepeatAugSampler
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.data.vision.datasets import ImageRecordDataset
from gluonish.gluon.data.vision.transforms import (
    AugMix,
    CutMix,
    MixUp,
    RandAugment,
    RandomErasing,
    TrivialAugmentWide,
)
from gluonish.image.region import Region, center_region, random_region, short_size
from gluonish.tools.train.batches import Batch
from gluonish.tools.train.pixels import DIGITS_MAXIMUM, EpochSampler, load_images, only_batch
from gluonish.tools.train.ranks import Ranks, share

Array = np.ndarray[Any, Any]

_ORDER, _CHANGES, _MIX = 0, 1, 2  # purposes of random generators, as part of their seeds
_INTERPOLATIONS = {"bilinear": 2, "bicubic": 3}  # Pillow's numbers
_SCALE, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)  # of a random resized crop
_CUTMIX_PART = 0.5  # of the batches, if there are both MixUp and CutMix


class ArrayImages:
    """Images in memory.

    Args:
        images: (N, H, W, C) of uint8.
        labels: (N,).
    """

    def __init__(self, images: Array, labels: Array) -> None:
        self._images, self._labels = images, labels

    def __len__(self) -> int:
        return len(self._images)

    def read(self, number: int) -> tuple[Array, float]:
        """Return an image (H, W, C) of uint8, and its label."""
        return self._images[number], float(self._labels[number])


class RecordImages:
    """Images of a record file, which has an index next to it.

    Args:
        path: Path of the ``.rec`` file.
        channels: 3 for color, 1 for gray.

    Raises:
        MissingFileError: The file or its index does not exist.
    """

    def __init__(self, path: str, channels: int) -> None:
        self._dataset = ImageRecordDataset(path, flag=int(channels == 3))

    def __len__(self) -> int:
        return len(self._dataset)

    def read(self, number: int) -> tuple[Array, float]:
        """Return an image (H, W, C) of uint8, and its label, of several the first."""
        image, label = self._dataset[number]
        return image.asnumpy(), float(np.ravel(label)[0])


@dataclass(frozen=True)
class Views:
    """How an image becomes an input of the network.

    Attributes:
        size: (height, width) of the result, in pixels.
        interpolation: How Pillow resizes images, a number of its `Resampling`.
        crop_ratio: Without a random crop: the image is resized so that its shorter side is the
            result's divided by this, and its center is cropped; None to crop the center without.
        area: Range of the area of a random resized crop; None for another crop.
        ratio: Range of its aspect ratio.
        pad: Width of the padding of a random crop without resizing; None for no such crop.
        fill: Value of the padding.
        mirror: Whether to mirror half of the images, left and right.
        policy: Random operations, or None.
        erasing: Random erasing of the normalized image, or None.
        mean: Value subtracted from each channel.
        std: Divisor of each channel, after the subtraction.
    """

    size: tuple[int, int]
    interpolation: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    crop_ratio: float | None = None
    area: tuple[float, float] | None = None
    ratio: tuple[float, float] = _RATIO
    pad: int | None = None
    fill: int = 0
    mirror: bool = False
    policy: Any = None
    erasing: RandomErasing | None = None

    def make(self, image: Array, rng: np.random.Generator) -> Array:
        """Return the input (C, height, width) of float32 made of an image.

        Args:
            image: (H, W, C) of uint8.
            rng: Generator of the random numbers.
        """
        image = self._cropped(image, rng)
        if self.mirror and rng.random() < 0.5:
            image = image[:, ::-1]
        if self.policy is not None:
            image = self.policy.augmented(np.ascontiguousarray(image), rng)
        planes: Array = np.ascontiguousarray(image.transpose(2, 0, 1), np.float32)
        planes -= np.array(self.mean, np.float32)[:, None, None]
        planes /= np.array(self.std, np.float32)[:, None, None]
        return planes if self.erasing is None else self.erasing.augmented(planes, rng)

    def _cropped(self, image: Array, rng: np.random.Generator) -> Array:
        size = (self.size[1], self.size[0])
        high, wide = image.shape[:2]
        if self.area is not None:
            source = random.Random(int(rng.integers(1 << 63)))
            region = random_region(wide, high, self.area, self.ratio, source)
            if region is None:
                region = center_region(wide, high, size)
            return self._resized(image, region, size)
        if self.pad is not None:
            frame = (self.pad, self.pad)
            image = np.pad(image, (frame, frame, (0, 0)), constant_values=np.uint8(self.fill))
            high, wide = image.shape[:2]
        if self.crop_ratio is not None:
            shorter = round(min(self.size) / self.crop_ratio)
            image = self._resized(image, (0, 0, wide, high), short_size(wide, high, shorter))
            high, wide = image.shape[:2]
        if self.pad is None or high < size[1] or wide < size[0]:
            region = center_region(wide, high, size)
        else:
            x, y = rng.integers(0, wide - size[0] + 1), rng.integers(0, high - size[1] + 1)
            region = (int(x), int(y), *size)
        return self._resized(image, region, size)

    def _resized(self, image: Array, region: Region, size: tuple[int, int]) -> Array:
        """Return a region with another size, as Pillow makes it: with antialiasing."""
        from PIL import Image

        x, y, wide, high = region
        part = image[y : y + high, x : x + wide]
        if (wide, high) == size:
            return part
        squeezed = np.ascontiguousarray(part[..., 0] if part.shape[2] == 1 else part)
        made = np.asarray(Image.fromarray(squeezed).resize(size, self.interpolation))
        return made[..., None] if part.shape[2] == 1 else made


class Mixing:
    """MixUp and CutMix of batches.

    Args:
        classes: Number of classes.
        mixup: Parameter of MixUp; None for none.
        cutmix: Parameter of CutMix; None for none.
        probability: Probability that a batch is mixed.
    """

    def __init__(
        self, classes: int, mixup: float | None, cutmix: float | None, probability: float
    ) -> None:
        self._classes = classes
        self._mixup = None if mixup is None else MixUp(mixup, classes)
        self._cutmix = None if cutmix is None else CutMix(cutmix, classes)
        self._probability = probability

    def mix(self, images: Array, labels: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return mixed images and soft labels (N, classes); images may be modified."""
        if labels.size and not 0 <= labels.min() <= labels.max() < self._classes:
            bad = labels.max() if labels.max() >= self._classes else labels.min()
            raise ArgumentError(
                f"train: expected labels from 0 to {self._classes - 1}, got {bad:g}; pass "
                "--num-classes"
            )
        soft = np.eye(self._classes, dtype=np.float32)[labels.astype(np.int64)]
        if rng.random() >= self._probability:
            return images, soft
        cuts = self._cutmix is not None and (self._mixup is None or rng.random() < _CUTMIX_PART)
        chosen = self._cutmix if cuts else self._mixup
        assert chosen is not None
        return chosen.mixed(images, soft, rng)


class ImageBatches(Dataset):
    """The batches of a training run: batch ``k`` is number ``k % n`` of epoch ``k // n``.

    Args:
        images: The images.
        views: How an image becomes an input.
        batch_size: Number of images in a batch, over all processes.
        seed: Seed of order and augmentation; None for the images in their order, where the last
            batch may be smaller than the others.
        samples: Number of images in an epoch; None for all.
        part: Index of the part of each batch to return, and number of parts.
        repeats: Number of times that an image is in a batch, for repeated augmentation.
        mixing: MixUp and CutMix, or None.

    Raises:
        ArgumentError: An epoch has fewer images than a training batch.
    """

    def __init__(
        self,
        images: ArrayImages | RecordImages,
        views: Views,
        batch_size: int,
        seed: int | None,
        samples: int | None = None,
        part: tuple[int, int] = (0, 1),
        repeats: int = 1,
        mixing: Mixing | None = None,
    ) -> None:
        samples = len(images) if samples is None else min(samples, len(images))
        if seed is not None and samples < batch_size:
            raise ArgumentError(
                f"--batch-size: expected up to the {samples} images of an epoch, got {batch_size}"
            )
        self._images, self._views = images, views
        self._batch_size, self._seed, self._part = batch_size, seed, part
        self._samples, self._repeats, self._mixing = samples, repeats, mixing
        whole, rest = divmod(samples, batch_size)
        self.count = whole + (seed is None and rest > 0)
        self._order: tuple[int, Array] | None = None  # epoch and order of the last one

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return self.count

    def __getitem__(self, idx: int) -> tuple[Array, ...]:
        """Return images (N, C, H, W), labels (N,), and of mixed images soft labels (N, classes)."""
        epoch, number = divmod(idx, self.count)
        chosen = self._indices(epoch)[number * self._batch_size : (number + 1) * self._batch_size]
        mine = range(len(chosen))[share(len(chosen), *self._part)]
        # An image is mixed with the one before it, which may be of another process.
        before = [(mine[0] - 1) % len(chosen)] if self._mixing is not None and mine else []
        made = [self._one(chosen[i], (epoch, number, i)) for i in (*before, *mine)]
        if not made:
            return np.empty((0,), np.float32), np.empty((0,), np.float32)
        images = np.stack([image for image, _ in made])
        labels = np.array([label for _, label in made], np.float32)
        if self._mixing is None:
            return images, labels
        rng = np.random.default_rng((self._seed or 0, epoch, _MIX, number))
        images, soft = self._mixing.mix(images, labels, rng)
        images, soft = images[1:], soft[1:]
        return images, soft.argmax(1).astype(np.float32), soft

    def _one(self, index: int, place: tuple[int, int, int]) -> tuple[Array, float]:
        image, label = self._images.read(int(index))
        epoch, number, i = place
        rng = np.random.default_rng((self._seed or 0, epoch, _CHANGES, number, i))
        return self._views.make(image, rng), label

    def _indices(self, epoch: int) -> Array:
        if self._seed is None:
            return np.arange(self._samples)
        if self._order is None or self._order[0] != epoch:
            generator = np.random.default_rng((self._seed, epoch, _ORDER))
            sampler = RepeatAugSampler(len(self._images), self._repeats, self._samples, generator)
            self._order = epoch, np.fromiter(sampler, np.int64)
        return self._order[1]


class PipelineBatches:
    """Batches made by a DataLoader, for training and evaluation.

    Args:
        training: The training batches.
        validation: The batches of evaluation, or None.
        image_shape: (channels, height, width) of training.
        workers: Number of processes that make batches; 0 for none.
    """

    def __init__(
        self,
        training: ImageBatches,
        validation: ImageBatches | None,
        image_shape: tuple[int, int, int],
        workers: int,
    ) -> None:
        self.image_shape = image_shape
        self.batches_per_epoch = len(training)
        self._epoch = EpochSampler(len(training))
        self._training = DataLoader(
            training, 1, sampler=self._epoch, batchify_fn=only_batch, num_workers=workers
        )
        self._validation = None
        if validation is not None:
            self._validation = DataLoader(
                validation, 1, batchify_fn=only_batch, num_workers=workers
            )

    def training(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch, counted from 0."""
        self._epoch.epoch = epoch
        for data, label, *soft in self._training:
            yield Batch(data, label, 0, *soft)

    def validation(self) -> Iterator[Batch] | None:
        """Yield the batches for evaluation, or return None."""
        if self._validation is None:
            return None
        # Some processes may have no share of a small last batch.
        return (Batch(data, label) for data, label in self._validation if len(label))

    def close(self) -> None:
        """Do nothing: the loaders stop their workers when they are deleted."""


def make_policy(arguments: argparse.Namespace, mean: tuple[float, ...]) -> Any:
    """Return the random operations of ``--augment``; None for none.

    Args:
        arguments: The options.
        mean: Mean of the data, which pixels from outside of an image get.
    """
    kind = arguments.augment
    if kind is None:
        return None
    fill = tuple(min(255, max(0, round(x))) for x in mean)
    magnitude = arguments.augment_magnitude
    if kind == "trivialaugment":
        return TrivialAugmentWide(fill=fill)
    if kind == "augmix":
        return AugMix(3 if magnitude is None else magnitude, fill=fill)
    is_timm = kind == "randaugment-timm"
    usual_std = 0.5 if is_timm else 0.0
    return RandAugment(
        2 if arguments.augment_ops is None else arguments.augment_ops,
        9 if magnitude is None else magnitude,
        11 if is_timm else 31,
        "bilinear" if is_timm else "nearest",
        fill,
        magnitude_std=usual_std if arguments.augment_std is None else arguments.augment_std,
        operations="timm" if is_timm else "torchvision",
    )


def _training_views(arguments: argparse.Namespace, common: dict[str, Any]) -> Views:
    area = (
        arguments.min_random_area or _SCALE[0],
        _SCALE[1] if arguments.max_random_area is None else arguments.max_random_area,
    )
    ratio = (
        arguments.min_random_aspect_ratio or _RATIO[0],
        arguments.max_random_aspect_ratio or _RATIO[1],
    )
    resized = bool(arguments.random_resized_crop)
    if resized and arguments.random_crop:
        raise ArgumentError("train: expected --random-crop or --random-resized-crop, got both")
    if not (0 < area[0] <= area[1] <= 1 and 0 < ratio[0] <= ratio[1]):
        raise ArgumentError(
            f"--min-random-area: expected ranges in order, of areas up to 1, got areas {area} and "
            f"aspect ratios {ratio}"
        )
    erasing = None
    if arguments.random_erasing:
        erasing = RandomErasing(arguments.random_erasing, value="random", layout="CHW")
    return Views(
        size=arguments.image_shape[1:],
        area=area if resized else None,
        ratio=ratio,
        pad=arguments.pad_size or 0 if arguments.random_crop else None,
        fill=arguments.fill_value,
        mirror=bool(arguments.random_mirror),
        policy=make_policy(arguments, common["mean"]),
        erasing=erasing,
        **common,
    )


def make_batches(arguments: argparse.Namespace, ranks: Ranks) -> PipelineBatches:
    """Return the batches of the options.

    Args:
        arguments: The options, after `options.complete`.
        ranks: The processes that share each batch.

    Raises:
        ArgumentError: An option is out of range.
        MissingFileError: A record file or its index does not exist.
    """
    shape = arguments.image_shape
    factor = 1.0
    train: ArrayImages | RecordImages
    test: ArrayImages | RecordImages | None = None
    if arguments.dataset:
        pixels, labels = load_images(arguments.dataset, True)
        if pixels.shape[3] != shape[0]:
            raise ArgumentError(
                f"--image-shape: expected {pixels.shape[3]} channels, as the images of "
                f"{arguments.dataset} have, got {shape[0]}"
            )
        # Random operations are for bytes of the whole range.
        factor = 255 / DIGITS_MAXIMUM if arguments.dataset == "digits" else 1.0
        train = ArrayImages(_stretched(pixels, factor), labels)
        test_pixels, test_labels = load_images(arguments.dataset, False)
        test = ArrayImages(_stretched(test_pixels, factor), test_labels)
    else:
        train = _records(arguments.data_train, shape[0])
        if arguments.data_val:
            test = _records(arguments.data_val, shape[0])
    common: dict[str, Any] = {
        "interpolation": _INTERPOLATIONS[arguments.interpolation or "bilinear"],
        "mean": tuple(x * factor for x in arguments.rgb_mean),
        "std": tuple(x * factor for x in arguments.rgb_std),
    }
    part = (ranks.rank, ranks.size)
    mixing = None
    if arguments.mixup is not None or arguments.cutmix is not None:
        probability = 1.0 if arguments.mix_prob is None else arguments.mix_prob
        mixing = Mixing(arguments.num_classes, arguments.mixup, arguments.cutmix, probability)
    size = arguments.batch_size
    training = ImageBatches(
        train,
        _training_views(arguments, common),
        size,
        arguments.seed,
        arguments.num_examples,
        part,
        arguments.repeated_aug or 1,
        mixing,
    )
    validation = None
    if test is not None:
        test_size = (arguments.test_image_shape or shape)[1:]
        views = Views(size=test_size, crop_ratio=arguments.test_crop, **common)
        validation = ImageBatches(test, views, size, None, part=part)
    return PipelineBatches(training, validation, shape, arguments.workers)


def _stretched(pixels: Array, factor: float) -> Array:
    return pixels if factor == 1 else np.rint(pixels * factor).astype(np.uint8)


def _records(path: str, channels: int) -> RecordImages:
    if channels not in (1, 3):
        raise ArgumentError(
            f"--image-shape: expected 1 or 3 channels with random augmentation, got {channels}"
        )
    if Path(path).is_file() and not Path(path).with_suffix(".idx").is_file():
        raise ArgumentError(
            f"{path}: expected an index next to it, got none; make one with "
            "`gluonish rec --rebuild-index`"
        )
    return RecordImages(path, channels)
