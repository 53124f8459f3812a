"""ImageListDataset: images that a list names."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.files import path_text
from gluonish.gluon.data.dataset import Dataset
from gluonish.image.decode import imread
from gluonish.image.image_list import listed_images

__all__ = ["ImageListDataset"]

Label = float | np.ndarray[Any, Any]


class ImageListDataset(Dataset):
    """Images named by a list, with their labels.

    An element is (image, label): an NDArray (height, width, channels) of uint8 in RGB order, and a
    float, or a float32 array if there are several labels.

    Args:
        root: Folder that the paths in the list are relative to.
        imglist: Path of a ``.lst`` file, with number, labels and path of an image on each line,
            between tabs; or a list of ``[label, path]`` or ``[label, label, ..., path]``, where a
            label may itself be a list.
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


def _label(given: Sequence[Any] | np.ndarray[Any, Any]) -> Label:
    if not len(given):
        raise ValueError("no label")
    numbers = np.asarray(given, FLOAT32)
    return float(numbers[0]) if len(numbers) == 1 else numbers
