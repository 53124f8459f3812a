"""ImageDetIter: batches of images with boxes of objects."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.image.augmenters.create import mean_or_std
from gluonish.image.detection.augmenter import apply_with_boxes, parsed_boxes
from gluonish.image.detection.create import CreateDetAugmenter
from gluonish.image.detection.drawing import checked_color, draw_boxes
from gluonish.image.iteration.image_iter import ImageIter, is_default
from gluonish.image.pixels import Array, as_host, as_ndarray
from gluonish.io.data_iter import DataDesc
from gluonish.ops.image.resampling import open_cv
from gluonish.recordio import MXIndexedRecordIO, RecordFile, read_header

PathLike = str | os.PathLike[str]


class ImageDetIter(ImageIter):
    """Iterates over images with boxes of objects, for object detection.

    A label is a flat list of numbers: the length of its header, the number of values of an object,
    the rest of the header, and the objects: class, left, top, right and bottom as fractions of
    width and height, and further values. Empty boxes are dropped. In a batch, images with fewer
    objects have rows of -1. Boxes refer to the stored image, so its EXIF orientation is ignored.

    Args:
        batch_size: Number of images in a batch.
        data_shape: Shape (3, height, width) of the images in a batch.
        path_imgrec: Path of a ``.rec`` file.
        path_imglist: Path of a ``.lst`` file.
        path_root: Folder that paths in the list are relative to; the current one by default.
        path_imgidx: Path of the ``.idx`` file, needed for ``shuffle`` and ``num_parts``.
        shuffle: Whether to shuffle the images before each epoch, with Python's `random`.
        part_index: Index of the part of the images to use, for several workers.
        num_parts: Number of parts, of equal length.
        aug_list: List of `DetAugmenter`; by default from `CreateDetAugmenter` with ``data_shape``
            and the other keywords.
        imglist: A list of ``[label, path]``.
        data_name: Name of the data in ``provide_data``.
        label_name: Name of the labels in ``provide_label``.
        last_batch_handle: See `ImageIter`.
        **kwargs: Arguments of `CreateDetAugmenter`.

    Attributes:
        label_shape: Shape (objects, values) of an image's label in a batch: the largest number of
            objects, and the number of values of an object.
        provide_label: Description of the labels, (batch_size, objects, values).

    The constructor reads all labels once; it reads the images, too, only if a subclass overrides
    `next_sample`.

    Raises:
        ArgumentError: There is no source, a number is out of range, or the index is missing.
        ArgumentTypeError: An argument has the wrong type.
        MissingFileError: A file does not exist.
        FileFormatError: See `ImageIter`; or a label is invalid, or all its boxes are empty.
    """

    # Value that pads the labels.
    _label_padding = -1
    _make_augmenters = staticmethod(CreateDetAugmenter)  # type: ignore[assignment]  # of boxes, too

    _upright = False

    def __init__(
        self,
        batch_size: int,
        data_shape: tuple[int, int, int],
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
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=aug_list,
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
            **kwargs,
        )
        self.label_shape = self._largest_label()
        self._describe_labels()

    def _describe_labels(self) -> None:
        (name, _), *_ = self.provide_label
        self.provide_label = [DataDesc(name, (self.batch_size, *self.label_shape))]

    def _largest_label(self) -> tuple[int, int]:
        """Return the largest number of objects per image, and of values per object."""
        self.reset()
        max_objects, max_width = 0, 0
        for label in self._all_labels() if is_default(self.next_sample) else self._sampled_labels():
            objects, width = self._parsed(label).shape
            max_objects, max_width = max(max_objects, objects), max(max_width, width)
        self.reset()
        return max_objects, max_width

    def _sampled_labels(self) -> Iterator[Any]:
        while True:
            try:
                label, _ = self.next_sample()
            except StopIteration:
                return
            yield label

    def _all_labels(self) -> Iterator[Any]:
        """Yield the labels of all samples without reading images."""
        if self.imgrec is None or (self.imglist is not None and self.seq is not None):
            assert self.seq is not None  # only records without an index have no keys
            for key in self.seq:
                self._location = f"image {key}"
                yield self._listed_labels(key)
            return
        with RecordFile(self.imgrec.uri) as file:
            if isinstance(self.imgrec, MXIndexedRecordIO) and self.seq is not None:
                offsets = [self.imgrec.idx[key] for key in self.seq]
            else:
                offsets = file.scan().offsets.tolist()
            for offset in offsets:
                self._location = f"the record at byte {offset} of {file.path}"
                yield read_header(file, offset).label

    def _parsed(self, label: Any) -> Array:
        return parsed_boxes(type(self).__name__, label, self._location)

    def _write_sample(
        self, images: Array, labels: Array, at: int, label: Any, image: Array
    ) -> None:
        image, boxes = self._augmented(image, self._parsed(label))
        objects, width = self.label_shape
        if boxes.shape[0] > objects or boxes.shape[1] != width:
            raise ArgumentError(
                f"{type(self).__name__}: expected at most {objects} objects of {width} values, got "
                f"{boxes.shape} of {self._location}; use reshape for more objects"
            )
        self._write_image(images, at, image)
        labels[at] = self._label_padding
        labels[at, : len(boxes)] = boxes

    def _augmented(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if is_default(self.augmentation_transform):
            for augmenter in self.auglist:
                image, boxes = apply_with_boxes(augmenter, image, boxes)
            return image, boxes
        made, label = self.augmentation_transform(as_ndarray(image), boxes)
        return as_host("augmentation_transform", made), as_host("augmentation_transform", label)

    def augmentation_transform(self, data: Any, label: Any) -> Any:  # type: ignore[override]  # MXNet's
        """Apply the augmenters to an image and its boxes.

        Args:
            data: Image (height, width, channels).
            label: Boxes (objects, 5 or more), as in `DetAugmenter`.

        Returns:
            The image, an NDArray, and its boxes, a NumPy array.
        """
        name = type(self).__name__
        image, boxes = as_host(name, data), as_host(name, label)
        for augmenter in self.auglist:
            image, boxes = apply_with_boxes(augmenter, image, boxes)
        return as_ndarray(image), boxes

    def reshape(
        self,
        data_shape: tuple[int, int, int] | None = None,
        label_shape: tuple[int, int] | None = None,
    ) -> None:
        """Change the shape of batches.

        The augmenters are not changed: they must already return images of the new ``data_shape``.

        Args:
            data_shape: New shape (3, height, width); None keeps the current one.
            label_shape: New shape (objects, values), with at least as many objects and as many
                values as now; None keeps the current one.

        Raises:
            ArgumentTypeError: A shape is not a tuple of integers.
            ArgumentError: A shape is not possible.
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.label_shape = (label_shape[0], label_shape[1])
            self._describe_labels()
        if data_shape is not None:
            self.data_shape = tuple(data_shape)
            name = self.provide_data[0].name
            self.provide_data = [DataDesc(name, (self.batch_size, *self.data_shape))]
        if self._leftover is not None:
            self._reshape_leftover()

    def _reshape_leftover(self) -> None:
        """Reshape the saved labels; drop the saved samples if the shape of images has changed."""
        assert self._leftover is not None
        images, labels = self._leftover
        self._leftover = None
        if images.shape[1:] == self.data_shape:
            wider = np.full((len(labels), *self.label_shape), self._label_padding, labels.dtype)
            wider[:, : labels.shape[1]] = labels
            self._leftover = images, wider

    def check_label_shape(self, label_shape: tuple[int, int]) -> None:
        """Check the new label shape for `reshape`.

        Args:
            label_shape: The shape (objects, values).

        Raises:
            ArgumentTypeError: ``label_shape`` is not a pair of integers.
            ArgumentError: ``label_shape`` has fewer objects, or a different number of values.
        """
        name = type(self).__name__
        is_valid = isinstance(label_shape, tuple | list) and all(
            isinstance(extent, int | np.integer) for extent in label_shape
        )
        if not is_valid:
            raise ArgumentTypeError(
                f"{name}: expected label_shape (objects, values), got {label_shape!r}"
            )
        if len(label_shape) != 2:
            raise ArgumentError(
                f"{name}: expected label_shape (objects, values), got {tuple(label_shape)}"
            )
        objects, width = self.label_shape
        if label_shape[0] < objects or label_shape[1] != width:
            raise ArgumentError(
                f"{name}: expected label_shape of at least {objects} objects of {width} values, "
                f"got {tuple(label_shape)}"
            )

    def sync_label_shape(self, it: "ImageDetIter", verbose: bool = False) -> "ImageDetIter":
        """Set the label shape of this iterator and another to the larger of the two.

        Args:
            it: The other ImageDetIter.
            verbose: Whether to print what changed.

        Returns:
            ``it``.

        Raises:
            ArgumentTypeError: ``it`` is not an ImageDetIter.
            ArgumentError: The objects of the two iterators have different numbers of values.
        """
        name = type(self).__name__
        if not isinstance(it, ImageDetIter):
            raise ArgumentTypeError(f"{name}: expected an ImageDetIter, got {type(it).__name__}")
        if it.label_shape[1] != self.label_shape[1]:
            raise ArgumentError(
                f"{name}: expected objects of {self.label_shape[1]} values, got "
                f"{it.label_shape[1]} in the other iterator"
            )
        shape = max(self.label_shape, it.label_shape)
        for iterator in (self, it):
            if iterator.label_shape != shape:
                if verbose:
                    print(f"{name}: label_shape {iterator.label_shape} becomes {shape}")  # noqa: T201  # requested
                iterator.reshape(label_shape=shape)
        return it

    def draw_next(
        self,
        color: tuple[float, float, float] | None = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: int | None = None,
        window_name: str = "draw_next",
        id2labels: Mapping[int, str] | None = None,
    ) -> Iterator[Array]:
        """Yield augmented images with their boxes drawn, until the end of the epoch.

        Args:
            color: Color of boxes and names: red, green, blue, 0 to 255; None for a random color for
                each box, from NumPy's generator.
            thickness: Width of the lines, in pixels.
            mean: Number added to the pixels, after ``std``: 1 or 3 numbers, or True for ImageNet's;
                reverts `ColorNormalizeAug`.
            std: Factor of the pixels: 1 or 3 numbers, or True for ImageNet's.
            clip: Whether to clip values to 0 to 255 rather than wrap them around.
            waitKey: Time to show each image in an OpenCV window, in milliseconds; 0 waits for a
                key; None shows nothing.
            window_name: Title of the window.
            id2labels: Names of classes, a dict by number.

        Yields:
            Images (height, width, 3), uint8, blue first.

        Raises:
            ArgumentTypeError: An argument has the wrong type.
        """
        name = f"{type(self).__name__}.draw_next"
        shade = checked_color(name, color)
        if id2labels is not None and not isinstance(id2labels, Mapping):
            raise ArgumentTypeError(f"{name}: expected id2labels to be a dict, got {id2labels!r}")
        offset, factor = mean_or_std(name, "mean", mean), mean_or_std(name, "std", std)
        return self._draw_images(
            shade, thickness, offset, factor, clip, waitKey, window_name, id2labels
        )

    def _draw_images(
        self,
        color: tuple[float, ...] | None,
        thickness: int,
        mean: Array | None,
        std: Array | None,
        clip: bool,
        waitKey: int | None,
        window_name: str,
        id2labels: Mapping[int, str] | None,
    ) -> Iterator[Array]:
        while True:
            try:
                label, stored = self.next_sample()
            except StopIteration:
                return
            image, boxes = self._augmented(self._decoded(stored), self._parsed(label))
            values = image * (1 if std is None else std) + (0 if mean is None else mean)
            if clip:
                values = np.clip(values, 0, 255)
            shown = np.ascontiguousarray(values.astype(np.int64).astype(np.uint8)[:, :, ::-1])
            yield draw_boxes(shown, boxes, color, thickness, id2labels)
            if waitKey is not None:
                _show(shown, window_name, waitKey)


def _show(image: Array, window_name: str, milliseconds: int) -> None:
    cv2 = open_cv()
    if cv2 is None:
        raise ArgumentError("ImageDetIter.draw_next: expected OpenCV for waitKey, got none")
    cv2.imshow(window_name, image)
    cv2.waitKey(milliseconds)
