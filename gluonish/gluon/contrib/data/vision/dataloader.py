"""Loaders of images from record files, list files or lists, with augmentation, as in MXNet 2.0."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.gluon.block import Block
from gluonish.gluon.contrib.data.vision.transforms.bbox import (
    ImageBboxRandomCropWithConstraints,
    ImageBboxRandomExpand,
    ImageBboxRandomFlipLeftRight,
    ImageBboxResize,
)
from gluonish.gluon.data import DataLoader, Dataset
from gluonish.gluon.data.batchify import Group, Pad, Stack
from gluonish.gluon.data.vision import ImageListDataset, ImageRecordDataset, transforms
from gluonish.gluon.nn import Sequential

__all__ = [
    "BboxLabelTransform",
    "ImageBboxDataLoader",
    "ImageDataLoader",
    "create_bbox_augment",
    "create_image_augment",
]

_MEAN, _STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)  # ImageNet, pixels of 0 to 255


def create_image_augment(
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
    dtype: Any = "float32",
) -> Sequential:
    """Return transforms for images (height, width, channels): resize, crop, flip, change colors.

    Args:
        data_shape: Shape of the result: (channels, height, width), in pixels.
        resize: Length of the shorter side, in pixels, to which images are resized first; 0 for
            none.
        rand_crop: Whether to crop at a random position, instead of in the middle.
        rand_resize: Whether to crop a region of random size and resize it; needs ``rand_crop``.
        rand_mirror: Whether to flip left and right with probability 0.5.
        mean: Means that are subtracted from the channels, after pixels were divided by 255; True
            for MXNet's numbers, which are those of ImageNet for pixels of 0 to 255.
        std: Standard deviations that channels are divided by; True for those of ``mean=True``.
        brightness: Maximum relative change of the brightness.
        contrast: Maximum relative change of the contrast.
        saturation: Maximum relative change of the saturation.
        hue: Maximum relative change of the hue.
        pca_noise: Standard deviation of the noise along the principal components of colors.
        rand_gray: Probability to make an image gray, with equal channels.
        inter_method: Interpolation: 0 nearest neighbors, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.
        dtype: Element type of the result.

    Raises:
        ArgumentError: ``rand_resize`` without ``rand_crop``, or a mean or standard deviation of
            another number of channels.
    """
    _, height, width = _shape("create_image_augment", data_shape)
    found: list[Block] = []
    if resize > 0:
        found.append(transforms.Resize(resize, keep_ratio=True, interpolation=inter_method))
    if rand_resize:
        if not rand_crop:
            raise ArgumentError(
                "create_image_augment: expected rand_crop=True with rand_resize, got False"
            )
        found.append(transforms.RandomResizedCrop((width, height), interpolation=inter_method))
    elif rand_crop:
        found.append(transforms.RandomCrop((width, height), interpolation=inter_method))
    else:
        found.append(transforms.CenterCrop((width, height), interpolation=inter_method))
    if rand_mirror:
        found.append(transforms.RandomFlipLeftRight())
    found.append(transforms.Cast())
    found += _colors(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    found += _normalized("create_image_augment", mean, std)
    found.append(transforms.Cast(dtype))
    return _joined(found)


def create_bbox_augment(
    data_shape: Sequence[int],
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    max_aspect_ratio: float = 2,
    area_range: Sequence[float] = (0.3, 3.0),
    max_attempts: int = 50,
    pad_val: Any = (127, 127, 127),
    dtype: Any = "float32",
) -> Sequential:
    """Return transforms for images with boxes; they are called with both, and return both.

    Args:
        data_shape: Shape of the images of the result: (channels, height, width), in pixels.
        rand_crop: Probability to crop a random region.
        rand_pad: Probability to put the image on a larger canvas.
        rand_gray: Probability to make an image gray, with equal channels.
        rand_mirror: Whether to flip left and right with probability 0.5.
        mean: See `create_image_augment`.
        std: See `create_image_augment`.
        brightness: Maximum relative change of the brightness.
        contrast: Maximum relative change of the contrast.
        saturation: Maximum relative change of the saturation.
        pca_noise: Standard deviation of the noise along the principal components of colors.
        hue: Maximum relative change of the hue.
        inter_method: Interpolation, see `create_image_augment`.
        max_aspect_ratio: Maximum ratio of the longer to the shorter side of a cropped region.
        area_range: Area of a cropped region, as a share of the image, from its first number to at
            most 1; the second number is the maximum ratio of the sides of the canvas.
        max_attempts: Maximum number of attempts to find a region.
        pad_val: Value of the canvas, one for each channel.
        dtype: Element type of the images.
    """
    _, height, width = _shape("create_bbox_augment", data_shape)
    found: list[Block] = []
    if rand_crop > 0:
        found.append(
            ImageBboxRandomCropWithConstraints(
                p=rand_crop,
                min_scale=area_range[0],
                max_scale=min(1.0, area_range[1]),
                max_aspect_ratio=max_aspect_ratio,
                max_trial=max_attempts,
            )
        )
    if rand_mirror:
        found.append(ImageBboxRandomFlipLeftRight(0.5))
    if rand_pad > 0:
        found.append(
            ImageBboxRandomExpand(p=rand_pad, max_ratio=max(1.0, area_range[1]), fill=pad_val)
        )
    found.append(ImageBboxResize(width, height, inter_method))
    found += _colors(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    found += _normalized("create_bbox_augment", mean, std)
    found.append(transforms.Cast(dtype))
    return _joined(found)


def _shape(what: str, data_shape: Any) -> tuple[int, int, int]:
    if len(data_shape) != 3:
        raise ArgumentError(
            f"{what}: expected data_shape (channels, height, width), got {data_shape}"
        )
    channels, height, width = map(int, data_shape)
    return channels, height, width


def _colors(
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    pca_noise: float,
    rand_gray: float,
) -> list[Block]:
    found: list[Block] = []
    if any((brightness, contrast, saturation, hue)):
        found.append(transforms.RandomColorJitter(brightness, contrast, saturation, hue))
    if pca_noise > 0:
        found.append(transforms.RandomLighting(pca_noise))
    if rand_gray > 0:
        found.append(transforms.RandomGray(rand_gray))
    return found


def _normalized(what: str, mean: Any, std: Any) -> list[Block]:
    """Return the transforms that divide by 255, subtract means, and divide by deviations."""
    given = [usual if value is True else value for value, usual in ((mean, _MEAN), (std, _STD))]
    steps: list[Block] = [transforms.ToTensor()]
    if given[0] is None and given[1] is None:
        return steps
    for name, value in zip(("mean", "std"), given, strict=True):
        if value is not None and np.size(value) not in (1, 3):
            raise ArgumentError(f"{what}: expected {name} of 1 or 3 channels, got {value}")
    means = 0.0 if given[0] is None else tuple(np.ravel(given[0]).tolist())
    deviations = 1.0 if given[1] is None else tuple(np.ravel(given[1]).tolist())
    return [*steps, transforms.Normalize(means, deviations)]


def _joined(blocks: Sequence[Block]) -> Sequential:
    joined = Sequential()
    joined.add(*blocks)
    return joined


class BboxLabelTransform(Block):
    """Return an image and its boxes (n, 5 or more), made of the numbers of a label in a list file.

    A label is the number of its leading numbers, the number of numbers of each box, further leading
    numbers, and for each box its class, left, top, right and bottom edge, and further numbers. Each
    row of the result has the four edges, the class, and the further numbers.

    Args:
        coord_normalized: Whether edges are shares of the image's width and height; they are
            converted to pixels.
    """

    def __init__(self, coord_normalized: bool = True) -> None:
        super().__init__()
        self._coord_normalized = coord_normalized

    def forward(self, img: Any, label: Any) -> tuple[Any, Any]:
        """Return the image and its boxes.

        Args:
            img: Image (height, width, channels).
            label: Its label, an array of one axis.

        Raises:
            ArgumentError: The label does not have this form.
        """
        values = np.array(label.asnumpy() if hasattr(label, "asnumpy") else label, np.float32)
        values = values.ravel()
        head, width = (int(values[0]), int(values[1])) if values.size > 1 else (0, 0)
        if head < 2 or width < 5 or values.size < head or (values.size - head) % width:
            raise ArgumentError(
                "BboxLabelTransform: expected a label of the number of leading numbers, 2 or more, "
                f"that of numbers for each box, 5 or more, and the boxes, got {values.tolist()}"
            )
        boxes = values[head:].reshape(-1, width)
        boxes = np.concatenate([boxes[:, 1:5], boxes[:, :1], boxes[:, 5:]], axis=1)
        if self._coord_normalized:
            height, wide = img.shape[:2]
            boxes[:, :4] *= np.array([wide, height, wide, height], np.float32)
        return img, boxes


class _AsBboxes:
    """Apply transforms of images with boxes to an image and a label."""

    __repr__ = default_repr

    def __init__(self, label: BboxLabelTransform, augment: Callable[..., Any]) -> None:
        self._label = label
        self._augment = augment

    def __call__(self, img: Any, label: Any) -> tuple[Any, Any]:
        image, boxes = self._augment(*self._label(img, label))
        return image, boxes


class _AsLabels:
    """Apply transforms of images to an image, and convert its label to an array of one axis."""

    __repr__ = default_repr

    def __init__(self, augment: Callable[..., Any], dtype: Any) -> None:
        self._augment = augment
        self._dtype = dtype

    def __call__(self, img: Any, label: Any) -> tuple[Any, Any]:
        values = label.asnumpy() if hasattr(label, "asnumpy") else label
        return self._augment(img), np.atleast_1d(np.asarray(values, self._dtype))


class _Loader:
    """Base class of the loaders: batches of a dataset, made by a DataLoader."""

    __repr__ = default_repr

    def __init__(self, loader: DataLoader) -> None:
        self._iter = loader

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iter)

    def __len__(self) -> int:
        return len(self._iter)


def _dataset(
    what: str, path_imgrec: Any, path_imglist: Any, path_root: Any, imglist: Any
) -> Dataset:
    """Return the images and labels of a record file, a list file or a list.

    Raises:
        ArgumentError: None of them is given.
    """
    if path_imgrec:
        return ImageRecordDataset(path_imgrec)
    listed = path_imglist or imglist
    if not listed:
        raise ArgumentError(f"{what}: expected path_imgrec, path_imglist or imglist, got none")
    return ImageListDataset(path_root, listed)


def _augmented(aug_list: Any, create: Callable[..., Any], shape: Any, options: Any) -> Any:
    """Return the transforms of ``aug_list``, or of ``create`` with these options."""
    if aug_list is None:
        return create(shape, **options)
    if isinstance(aug_list, Sequence) and not isinstance(aug_list, str):
        if not all(isinstance(block, Block) for block in aug_list):
            raise ArgumentTypeError(f"aug_list: expected Blocks, got {aug_list!r:.80}")
        return _joined(aug_list)
    if not isinstance(aug_list, Block):
        raise ArgumentTypeError(f"aug_list: expected a Block or a list of them, got {aug_list!r}")
    return aug_list


class ImageDataLoader(_Loader):
    """Load batches of augmented images (N, channels, height, width) and their labels (N, labels).

    Args:
        batch_size: Number N of images of a batch.
        data_shape: Shape of an image of the result: (channels, height, width), in pixels.
        path_imgrec: Path of a record file ``.rec``; its index is beside it.
        path_imglist: Path of a list file ``.lst``: number, labels and path of an image on each
            line, separated by tabs.
        path_root: Folder that paths of images are relative to.
        part_index: Index of the part of the images to load, from 0, in distributed training.
        num_parts: Number of parts.
        aug_list: Block that transforms an image, or a list of them; None for
            `create_image_augment` with ``data_shape`` and the further arguments.
        imglist: List of ``[label, path]`` or ``[labels, path]`` instead of a file.
        dtype: Element type of the labels.
        shuffle: See `DataLoader`.
        sampler: See `DataLoader`.
        last_batch: See `DataLoader`.
        batch_sampler: See `DataLoader`.
        batchify_fn: See `DataLoader`.
        num_workers: See `DataLoader`.
        pin_memory: See `DataLoader`.
        pin_device_id: See `DataLoader`.
        prefetch: See `DataLoader`.
        thread_pool: See `DataLoader`.
        timeout: See `DataLoader`.
        try_nopython: See `DataLoader`.
        **kwargs: Arguments of `create_image_augment`.

    Raises:
        ArgumentError: There are no images.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: str | os.PathLike[str] | None = None,
        path_imglist: str | os.PathLike[str] | None = None,
        path_root: str | os.PathLike[str] = ".",
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Any = None,
        imglist: Any = None,
        dtype: Any = "float32",
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[..., Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: int = 120,
        try_nopython: bool | None = None,
        **kwargs: Any,
    ) -> None:
        images = _dataset("ImageDataLoader", path_imgrec, path_imglist, path_root, imglist)
        augment = _augmented(aug_list, create_image_augment, data_shape, kwargs)
        dataset = images.shard(num_parts, part_index).transform(_AsLabels(augment, dtype))
        super().__init__(
            DataLoader(
                dataset,
                batch_size if batch_sampler is None else None,
                shuffle=shuffle,
                sampler=sampler,
                last_batch=last_batch,
                batch_sampler=batch_sampler,
                batchify_fn=batchify_fn,
                num_workers=num_workers,
                pin_memory=pin_memory,
                pin_device_id=pin_device_id,
                prefetch=prefetch,
                thread_pool=thread_pool,
                timeout=timeout,
                try_nopython=try_nopython,
            )
        )


class ImageBboxDataLoader(_Loader):
    """Load batches of augmented images and of their boxes (N, most boxes, 5 or more).

    Rows of boxes have left, top, right and bottom edge in pixels, the class, and further numbers;
    images with fewer boxes than others of the batch have rows of -1. See `BboxLabelTransform` for
    labels of the files.

    Args:
        batch_size: Number N of images of a batch.
        data_shape: Shape of an image of the result: (channels, height, width), in pixels.
        path_imgrec: Path of a record file ``.rec``; its index is beside it.
        path_imglist: Path of a list file ``.lst``.
        path_root: Folder that paths of images are relative to.
        part_index: Index of the part of the images to load, from 0, in distributed training.
        num_parts: Number of parts.
        aug_list: Block that is called with image and boxes and returns both, or a list of them;
            None for `create_bbox_augment` with ``data_shape`` and the further arguments.
        imglist: List of ``[label, path]`` instead of a file.
        coord_normalized: Whether the edges of labels are shares of the image's width and height.
        dtype: Element type of the images.
        shuffle: See `DataLoader`.
        sampler: See `DataLoader`.
        last_batch: See `DataLoader`.
        batch_sampler: See `DataLoader`.
        batchify_fn: See `DataLoader`; None stacks images and pads boxes.
        num_workers: See `DataLoader`.
        pin_memory: See `DataLoader`.
        pin_device_id: See `DataLoader`.
        prefetch: See `DataLoader`.
        thread_pool: See `DataLoader`.
        timeout: See `DataLoader`.
        try_nopython: See `DataLoader`.
        **kwargs: Arguments of `create_bbox_augment`.

    Raises:
        ArgumentError: There are no images.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: str | os.PathLike[str] | None = None,
        path_imglist: str | os.PathLike[str] | None = None,
        path_root: str | os.PathLike[str] = ".",
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Any = None,
        imglist: Any = None,
        coord_normalized: bool = True,
        dtype: Any = "float32",
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[..., Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: int = 120,
        try_nopython: bool | None = None,
        **kwargs: Any,
    ) -> None:
        images = _dataset("ImageBboxDataLoader", path_imgrec, path_imglist, path_root, imglist)
        options = {"dtype": dtype, **kwargs}
        augment = _augmented(aug_list, create_bbox_augment, data_shape, options)
        labels = BboxLabelTransform(coord_normalized)
        dataset = images.shard(num_parts, part_index).transform(_AsBboxes(labels, augment))
        super().__init__(
            DataLoader(
                dataset,
                batch_size if batch_sampler is None else None,
                shuffle=shuffle,
                sampler=sampler,
                last_batch=last_batch,
                batch_sampler=batch_sampler,
                batchify_fn=Group(Stack(), Pad(val=-1)) if batchify_fn is None else batchify_fn,
                num_workers=num_workers,
                pin_memory=pin_memory,
                pin_device_id=pin_device_id,
                prefetch=prefetch,
                thread_pool=thread_pool,
                timeout=timeout,
                try_nopython=try_nopython,
            )
        )
