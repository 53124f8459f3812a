"""ImageListDataset: images that a list names."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.core.files import open_to_read
from gluonish.data.dataset import Dataset
from gluonish.image import imread

__all__ = ["ImageListDataset"]

Label = float | np.ndarray[Any, Any]


class ImageListDataset(Dataset):
    """The images that a list names, with their labels.

    An element is (image, label): an NDArray (height, width, channels) of uint8, red first, and a
    float, or a float32 array where there are several labels.

    Args:
        root: Folder that the paths in the list are relative to.
        imglist: Path of a ``.lst`` file, with number, labels and path of an image on each line,
            between tabs; or a list of ``[label, path]`` or ``[label, label, ..., path]``, where a
            label may itself be a list.
        flag: 1 for three channels, 0 for one.

    Attributes:
        items: (path, label) of each image.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: A line of it is none.
        ArgumentTypeError: ``imglist`` is neither a path nor a list, or an entry of it is none.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        imglist: str | os.PathLike[str] | Sequence[Sequence[Any]] | None = None,
        flag: int = 1,
    ) -> None:
        self._root = Path(root).expanduser()
        self._flag = flag
        if isinstance(imglist, str | os.PathLike):
            self.items = [(str(self._root / path), label) for label, path in _lines(imglist)]
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


def _lines(path: str | os.PathLike[str]) -> list[tuple[Label, str]]:
    with open_to_read(path, "ImageListDataset") as file:
        lines = file.read().decode("utf-8").splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        columns = line.rstrip("\r\n").split("\t")
        try:
            found.append((_label(columns[1:-1]), columns[-1]))
        except ValueError as error:
            raise FileFormatError(
                f"ImageListDataset: expected number, labels and path between tabs on line {number} "
                f"of {os.fspath(path)!r}, got {line!r:.80}"
            ) from error
    return found


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


def _label(given: Sequence[Any]) -> Label:
    if not len(given):
        raise ValueError("no label")
    numbers = np.asarray(given, dtype=np.float32)
    return float(numbers[0]) if len(numbers) == 1 else numbers
