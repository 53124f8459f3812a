"""ImageIter: batches of images and labels."""

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, FileFormatError, OperatorError
from gluonish.core.files import open_to_read, path_text
from gluonish.image.augmenters.augmenter import apply_augmenter, resolve_augmenters
from gluonish.image.augmenters.create import CreateAugmenter
from gluonish.image.decode import raw_bytes
from gluonish.image.iteration.samples import (
    check_choice,
    check_image_shape,
    checked_batch_size,
    open_records,
    read_list,
    select_part,
    write_label,
)
from gluonish.image.pixels import Array, as_host, as_ndarray
from gluonish.io.data_iter import DataBatch, DataDesc, DataIter
from gluonish.ndarray import NDArray
from gluonish.ops.image.decoding import decode_image
from gluonish.recordio import MXIndexedRecordIO, unpack

PathLike = str | os.PathLike[str]

_LAST_BATCH = ("pad", "discard", "roll_over")
_LABEL_DTYPES = ("float32", "float64", "int32", "int64")


class ImageIter(DataIter):
    """Iterates over images and labels in batches, from a record file or from files in a list.

    Images go through ``aug_list``. A subclass may override the steps of a sample, in this order:
    `next_sample`, `imdecode`, `check_valid_image`, `augmentation_transform`, `postprocess_data`. If
    its `next_sample` does not restart by itself, the last batch is filled with repeated samples.

    Args:
        batch_size: Number of images in a batch.
        data_shape: Shape (3, height, width) of the images in a batch.
        label_width: Number of labels of each image.
        path_imgrec: Path of a ``.rec`` file.
        path_imglist: Path of a ``.lst`` file; with ``path_imgrec`` and an index, its labels replace
            the records' labels, by key.
        path_root: Folder that paths in the list are relative to; the current one by default.
        path_imgidx: Path of the ``.idx`` file, needed for ``shuffle`` and ``num_parts``.
        shuffle: Whether to shuffle the images before each epoch, with Python's `random`.
        part_index: Index of the part of the images to use, for several workers.
        num_parts: Number of parts, of equal length; up to ``num_parts`` - 1 images are left out.
        aug_list: List of `Augmenter` or functions of an NDArray; by default from `CreateAugmenter`
            with ``data_shape`` and the other keywords.
        imglist: A list of ``[label, path]`` or ``[label, label, ..., path]``, where a label may be
            a list.
        data_name: Name of the data in ``provide_data``.
        label_name: Name of the labels in ``provide_label``.
        dtype: Dtype of the labels: float32, float64, int32 or int64. (In MXNet batches are always
            float32.)
        last_batch_handle: ``"pad"`` fills the last batch with samples from the start,
            ``"discard"`` drops it, ``"roll_over"`` saves it for the start of the next epoch.
        **kwargs: Arguments of `CreateAugmenter`.

    Attributes:
        provide_data: Description of the images, (batch_size, channels, height, width).
        provide_label: Description of the labels, (batch_size,) or (batch_size, label_width).
        imgrec: The open record file, or None.
        imglist: Dict from key to (labels, path), or None.
        seq: Keys in the order of the epoch; None for records without an index.
        auglist: The augmenters.
        cur: Position in ``seq`` of the next sample.
        num_image: Length of ``seq``, or None.

    ``pad`` of a batch is the number of added samples: from the start of the data at the end of an
    epoch, or from the new epoch after samples that rolled over.

    Raises:
        ArgumentError: There is no source, a number is out of range, or the index is missing.
        ArgumentTypeError: An argument has the wrong type.
        MissingFileError: A file does not exist.
        FileFormatError: A line of a list or an index is invalid; from `next`: a record is damaged
            or an image is broken. The error names the record or image, and the next call of `next`
            continues after it.
    """

    # Value that pads the labels.
    _label_padding = 0
    # Function that creates the augmenters if there is no ``aug_list``.
    _make_augmenters = staticmethod(CreateAugmenter)

    # Whether to apply the images' EXIF orientation; False with boxes, which refer to stored pixels.
    _upright = True

    def __init__(
        self,
        batch_size: int,
        data_shape: tuple[int, int, int],
        label_width: int = 1,
        path_imgrec: PathLike | None = None,
        path_imglist: PathLike | None = None,
        path_root: PathLike | None = None,
        path_imgidx: PathLike | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Iterable[Any] | None = None,
        imglist: Sequence[Any] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(checked_batch_size(type(self).__name__, batch_size))
        name = type(self).__name__
        self.check_data_shape(data_shape)
        check_choice(name, "last_batch_handle", last_batch_handle, _LAST_BATCH)
        self._label_dtype = normalize_dtype(dtype)
        check_choice(name, "dtype of labels", self._label_dtype.name, _LABEL_DTYPES)
        if path_imgrec is None and path_imglist is None and imglist is None:
            raise ArgumentError(f"{name}: expected path_imgrec, path_imglist or imglist, got none")
        self.imgrec = open_records(path_imgrec, path_imgidx)
        self.imglist = read_list(name, path_imglist, imglist, self._label_dtype)
        self.path_root = None if path_root is None else path_text(path_root, "ImageIter: path_root")
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self._set_keys(part_index, num_parts)
        self.data_shape: tuple[int, ...] = tuple(data_shape)
        self.label_width = label_width
        labels = (batch_size, label_width) if label_width > 1 else (batch_size,)
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [DataDesc(label_name, labels, self._label_dtype)]
        self.auglist = resolve_augmenters(
            name, self._make_augmenters, self.data_shape, aug_list, kwargs
        )
        self._leftover: tuple[Array, Array] | None = None  # images and labels that roll over
        self._ended = False
        self._location = "no sample yet"
        self.cur = 0
        self.reset()

    def _set_keys(self, part_index: int, num_parts: int) -> None:
        """Set ``imgidx``, ``seq`` and ``num_image`` to the samples of this part."""
        name = type(self).__name__
        self.imgidx: list[Any] | None = None
        keys: Iterable[Any] | None = None
        if isinstance(self.imgrec, MXIndexedRecordIO):
            self.imgidx = list(self.imgrec.keys)
            keys = self.imgidx
        elif self.imgrec is not None:
            if self.shuffle or num_parts > 1:
                raise ArgumentError(
                    f"{name}: expected path_imgidx with shuffle or num_parts, got path_imgrec alone"
                )
        elif self.imglist is not None:
            keys = self.imglist
        self.seq = None if keys is None else select_part(name, list(keys), part_index, num_parts)
        self.num_image = None if self.seq is None else len(self.seq)

    def reset(self) -> None:
        """Start the next epoch, which begins with the samples that roll over."""
        if self.shuffle and self.seq is not None:
            random.shuffle(self.seq)
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0
        self._ended = False

    def hard_reset(self) -> None:
        """Start the next epoch, and drop samples that roll over."""
        self._leftover = None
        self.reset()

    def next_sample(self) -> tuple[Any, bytes]:
        """Return the next label and the content of its image file.

        Returns:
            The label, a number or an array, and the bytes of the image file.

        Raises:
            StopIteration: The epoch is over; the next call starts another.
            ArgumentError: The list contains no label for a record.
            FileFormatError: A record is damaged.
        """
        if self.seq is None:
            return self._next_record()
        if self.cur >= len(self.seq):
            self.cur = 0
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            assert self.imglist is not None  # keys come from imgrec or imglist
            labels, path = self.imglist[key]
            self._location = path
            return as_ndarray(labels.copy()), self.read_image(path)
        self._location = f"record {key} of {self.imgrec.uri}"
        header, stored = unpack(self.imgrec.read_idx(key))  # type: ignore[attr-defined]  # indexed
        if self.imglist is None:
            return header.label, stored
        return as_ndarray(self._listed_labels(key).copy()), stored

    def _listed_labels(self, key: Any) -> Array:
        assert self.imglist is not None
        if key not in self.imglist:
            raise ArgumentError(
                f"{type(self).__name__}: expected a label for {self._location} in the list, "
                "got none"
            )
        labels: Array = self.imglist[key][0]
        return labels

    def _next_record(self) -> tuple[Any, bytes]:
        assert self.imgrec is not None  # only records have no keys
        record = self.imgrec.read()
        self._location = f"record {self.cur} of {self.imgrec.uri}, counted from 0"
        if record is None:
            self.imgrec.reset()
            self.cur = 0
            raise StopIteration
        self.cur += 1
        header, stored = unpack(record)
        return header.label, stored

    def next(self) -> DataBatch:
        """Return the next batch.

        Raises:
            StopIteration: The epoch is over; `reset` starts the next one.
            FileFormatError: An image is broken, or a record is damaged; names it.
            ArgumentError: The shape of an image or a label does not match the batch.
        """
        if self._ended:
            raise StopIteration
        images = np.empty(self.provide_data[0].shape, np.float32)
        labels = np.full(
            self.provide_label[0].shape, self._label_padding, self.provide_label[0].dtype
        )
        count = self._restore_leftover(images, labels)
        rolled = count > 0
        pad = self.batch_size - count if rolled else 0
        count = self._fill(images, labels, count)
        if count < self.batch_size:
            self._ended = True
            if not count or self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over":
                self._leftover = images[:count], labels[:count]
                raise StopIteration
            pad = self.batch_size - count
            self._wrap_around(images, labels, count)
        return DataBatch([as_ndarray(images)], [as_ndarray(labels)], pad)

    def _restore_leftover(self, images: Array, labels: Array) -> int:
        """Fill the beginning of a batch with the samples that rolled over; return their number."""
        if self._leftover is None:
            return 0
        saved_images, saved_labels = self._leftover
        self._leftover = None
        images[: len(saved_images)] = saved_images
        labels[: len(saved_labels)] = saved_labels
        return len(saved_images)

    def _fill(self, images: Array, labels: Array, count: int) -> int:
        """Fill a batch from ``count`` until the batch or the epoch ends; return the new count."""
        while count < self.batch_size:
            try:
                label, stored = self.next_sample()
            except StopIteration:
                break
            self._write_sample(images, labels, count, label, self._decoded(stored))
            count += 1
        return count

    def _wrap_around(self, images: Array, labels: Array, count: int) -> None:
        """Fill the rest of a batch from the beginning of the data, repeatedly if needed."""
        while count < self.batch_size:
            before, count = count, self._fill(images, labels, count)
            if count == before:
                # The next_sample of a subclass may not restart before `reset`.
                for rows in (images, labels):
                    rows[count:] = np.resize(rows[:count], rows[count:].shape)
                return

    def _write_sample(
        self, images: Array, labels: Array, at: int, label: Any, image: Array
    ) -> None:
        """Write a sample to a batch."""
        if is_default(self.augmentation_transform):
            for augmenter in self.auglist:
                image = apply_augmenter(augmenter, image)
        else:
            image = as_host(
                "augmentation_transform", self.augmentation_transform(as_ndarray(image))
            )
        self._write_image(images, at, image)
        write_label(type(self).__name__, labels, at, label, self._location)

    def _decoded(self, stored: Any) -> Array:
        """Decode and check an image."""
        if is_default(self.imdecode):
            image = self._decoded_bytes(stored)
        else:
            image = as_host("imdecode", self.imdecode(stored))
        if not is_default(self.check_valid_image):
            self.check_valid_image([as_ndarray(image.copy())])
        return image

    def _write_image(self, images: Array, at: int, image: Array) -> None:
        """Write an augmented image to a batch, channels first."""
        if is_default(self.postprocess_data):
            image = np.moveaxis(image, 2, 0) if image.ndim == 3 else image
        else:
            image = as_host("postprocess_data", self.postprocess_data(as_ndarray(image.copy())))
        if image.shape != images.shape[1:]:
            raise ArgumentError(
                f"{type(self).__name__}: expected images {images.shape[1:]} from the augmenters, "
                f"as in data_shape, got {image.shape} of {self._location}"
            )
        images[at] = image

    def check_data_shape(self, data_shape: tuple[int, int, int]) -> None:
        """Check the shape of images in a batch.

        Raises:
            ArgumentTypeError: ``data_shape`` is not a tuple of three integers.
            ArgumentError: There are not 3 channels, or a side is below 1.
        """
        check_image_shape(type(self).__name__, data_shape)

    def check_valid_image(self, data: Any) -> None:
        """Check a decoded image; a subclass may add checks.

        Args:
            data: List of one image.

        Raises:
            ArgumentError: The image is a scalar.
        """
        if not len(data[0].shape):
            raise ArgumentError(
                f"{type(self).__name__}: expected an image, got a number for {self._location}"
            )

    def imdecode(self, s: Any) -> NDArray:
        """Decode an image file, ``s``, to (height, width, 3), uint8, red first.

        Raises:
            FileFormatError: ``s`` is not an image in a known format; names the file or record that
                was read last.
        """
        return as_ndarray(self._decoded_bytes(s))

    def _decoded_bytes(self, stored: Any) -> Array:
        try:
            raw = raw_bytes("imdecode", stored)
            return decode_image("imdecode", raw, 1, True, upright=self._upright)
        except OperatorError as error:
            raise FileFormatError(
                f"{type(self).__name__}: expected an image in {self._location}, got something else "
                f"({error}): Broken image filename: {self._location}"
            ) from error

    def read_image(self, fname: str) -> bytes:
        """Return the content of an image file.

        Args:
            fname: Path, relative to ``path_root``.

        Raises:
            MissingFileError: The file does not exist.
        """
        path = Path(fname) if self.path_root is None else Path(self.path_root) / fname
        with open_to_read(path, type(self).__name__) as file:
            return file.read()

    def augmentation_transform(self, data: Any) -> NDArray:
        """Apply the augmenters to an image.

        Args:
            data: Image (height, width, channels).
        """
        image = as_host(type(self).__name__, data)
        for augmenter in self.auglist:
            image = apply_augmenter(augmenter, image)
        return as_ndarray(image)

    def postprocess_data(self, datum: NDArray) -> NDArray:
        """Return an augmented image ``datum`` (height, width, channels) with the channels first."""
        made: NDArray = datum.transpose((2, 0, 1))
        return made


def is_default(method: Any) -> bool:
    """Whether a method is not overridden, so that its work may be done on the host."""
    return getattr(method, "__module__", "").startswith("gluonish.image.")
