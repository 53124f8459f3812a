"""Datasets of images in folders, lists and record files."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import ArgumentTypeError, FileFormatError, MissingFileError, OperatorError
from gluonish.core.files import path_text
from gluonish.gluon.data.dataset import Dataset, RecordFileDataset
from gluonish.gluon.data.vision.datasets.downloaded import Transform
from gluonish.image.decode import imread
from gluonish.image.image_list import listed_images
from gluonish.io.shared_batch import ndarray_view
from gluonish.ops.image.decoding import decode_image
from gluonish.recordio import unpack
from gluonish.recordio.record_file import RecordBuffer


class ImageFolderDataset(Dataset):
    """Images in one folder per class: ``root/cat/001.jpg``.

    An element is (image, label): an NDArray (height, width, channels) of uint8 in RGB order, and
    the index of the folder in alphabetical order. Entries other than folders with ``.jpg``,
    ``.jpeg`` and ``.png`` files are skipped with a warning.

    Args:
        root: The folder with one folder per class.
        flag: 1 to decode in color (three channels), 0 in gray (one channel).
        transform: Function called with image and label each time an element is accessed.

    Attributes:
        synsets: The names of the folders; a label is an index into this list.
        items: (path, label) of each image.

    Raises:
        MissingFileError: There is no such folder.
    """

    def __init__(
        self, root: str | os.PathLike[str], flag: int = 1, transform: Transform | None = None
    ) -> None:
        self._root = os.path.expanduser(path_text(root, type(self).__name__))
        self._flag = flag
        self._transform = transform
        self._exts = [".jpg", ".jpeg", ".png"]
        self._list_images(self._root)

    def _list_images(self, root: str) -> None:
        if not os.path.isdir(root):
            raise MissingFileError(
                f"{type(self).__name__}: expected a folder of folders, got {root!r}"
            )
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        for name in sorted(os.listdir(root)):
            folder = os.path.join(root, name)
            if not os.path.isdir(folder):
                _warn(f"Ignoring {folder}, which is not a directory")
                continue
            self.items += [(path, len(self.synsets)) for path in self._images_in(folder)]
            self.synsets.append(name)
        if not self.items:
            _warn(f"Found no images in {root}; a class is a folder of images: {root}/cat/1.jpg")

    def _images_in(self, folder: str) -> list[str]:
        paths = []
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            extension = os.path.splitext(name)[1]
            if extension.lower() in self._exts:
                paths.append(path)
            else:
                _warn(f"Ignoring {path} of type {extension}. Only support {', '.join(self._exts)}")
        return paths

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        image = imread(path, self._flag)
        return (image, label) if self._transform is None else self._transform(image, label)

    def __len__(self) -> int:
        return len(self.items)


def _warn(text: str) -> None:
    warnings.warn(f"ImageFolderDataset: {text}", UserWarning, stacklevel=5)


Label = float | np.ndarray[Any, Any]


class ImageListDataset(Dataset):
    """Images named by a list, with their labels.

    An element is (image, label): an NDArray (height, width, channels) of uint8 in RGB order, and a
    float, or a float32 array if there are several labels.

    Args:
        root: Folder that the paths in the list are relative to.
        imglist: Path of a ``.lst`` file, with number, labels and path of an image on each line,
            separated by tabs; or a list of ``[label, path]`` or ``[label, label, ..., path]``,
            where a label may itself be a list.
        flag: 1 to decode in color (three channels), 0 in gray (one channel).

    Attributes:
        items: (path, label) of each image.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: A line of it is malformed.
        ArgumentTypeError: ``imglist`` is neither a path nor a list of such lists.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        imglist: str | os.PathLike[str] | Sequence[Sequence[Any]] | None = None,
        flag: int = 1,
    ) -> None:
        self._root = Path(path_text(root, "ImageListDataset")).expanduser()
        self._flag = flag
        if isinstance(imglist, str | os.PathLike):
            listed = listed_images(imglist, "ImageListDataset", FLOAT32)
            self.items = [(str(self._root / path), _label(labels)) for _, labels, path in listed]
        elif isinstance(imglist, Sequence):
            self.items = [(str(self._root / path), label) for label, path in map(_entry, imglist)]
        else:
            raise ArgumentTypeError(
                "ImageListDataset: expected imglist to be the path of a .lst file or a list, got "
                f"{type(imglist).__name__}"
            )

    def __getitem__(self, idx: int) -> tuple[Any, Label]:
        path, label = self.items[idx]
        return imread(path, self._flag), label

    def __len__(self) -> int:
        return len(self.items)


def _entry(entry: Sequence[Any]) -> tuple[Label, str]:
    try:
        *labels, path = entry
        if len(labels) == 1 and np.ndim(labels[0]):
            (labels,) = labels
        return _label(labels), os.fspath(path)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"ImageListDataset: expected labels and a path, got {entry!r:.80}"
        ) from error


def _label(labels: Sequence[Any] | np.ndarray[Any, Any]) -> Label:
    if not len(labels):
        raise ValueError("no label")
    numbers = np.asarray(labels, FLOAT32)
    return float(numbers[0]) if len(numbers) == 1 else numbers


class ImageRecordDataset(RecordFileDataset):
    """The images of a record file.

    An element is (image, label): an NDArray (height, width, channels) of uint8 in RGB order, and
    the label of the record's header, a number or a float32 array.

    Args:
        filename: Path of the ``.rec`` file; its index is in the same folder, with the ending
            ``.idx``.
        flag: 1 to decode in color (three channels), 0 in gray (one channel).
        transform: Function called with image and label each time an element is accessed.

    Raises:
        MissingFileError: The file or its index does not exist.
        FileFormatError: The index is damaged. Accessing an element raises a `FileFormatError` if
            its record is damaged, and an `OperatorError` if its image is.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        flag: int = 1,
        transform: Transform | None = None,
    ) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform
        self._buffers: list[RecordBuffer] = []  # buffers that are not in use

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the buffers."""
        return {**self.__dict__, "_buffers": []}

    def __getitem__(self, idx: int) -> Any:
        try:
            buffer = self._buffers.pop()
        except IndexError:
            buffer = RecordBuffer()
        try:
            image, label = self._decoded(self._view(idx, buffer), idx)
        finally:
            self._buffers.append(buffer)
        return (image, label) if self._transform is None else self._transform(image, label)

    def _decoded(self, record: Any, idx: int) -> tuple[Any, Any]:
        """Decode the image and the label of a record; errors name the record."""
        try:
            header, stored = unpack(record)
            raw = np.frombuffer(stored, np.uint8)
            image = decode_image("ImageRecordDataset", raw, self._flag, True)
            return ndarray_view(image), header.label
        except (FileFormatError, OperatorError) as error:
            key = self._record.keys[idx]
            raise type(error)(
                f"{error}, in record {key} at byte {self._record.idx[key]} of {self.filename}"
            ) from error

    def _view(self, idx: int, buffer: RecordBuffer) -> Any:
        """Return a record's bytes, valid until the buffer is reused."""
        record = self._record
        if not -len(record.keys) <= idx < len(record.keys):
            return self._read(idx)  # raises the error
        start = record.idx[record.keys[idx]]
        descriptor = record._open_for("read").fileno()
        return buffer.read(descriptor, start, lambda: self._read(idx))
