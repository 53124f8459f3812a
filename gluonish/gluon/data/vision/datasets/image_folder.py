"""ImageFolderDataset: images in a folder for each class."""

import os
import warnings
from typing import Any

from gluonish.core.errors import MissingFileError
from gluonish.core.files import path_text
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.data.vision.datasets.downloaded import Transform
from gluonish.image.decode import imread

__all__ = ["ImageFolderDataset"]


class ImageFolderDataset(Dataset):
    """Images in one folder per class: ``root/cat/001.jpg``.

    An element is (image, label): an NDArray (height, width, channels) of uint8 in RGB order, and
    the index of the folder in alphabetical order. Anything but folders, and ``.jpg``, ``.jpeg`` and
    ``.png`` files in them, is skipped with a warning.

    Args:
        root: The folder that holds a folder for each class.
        flag: 1 to decode in color (three channels), 0 in gray (one channel).
        transform: Function called with image and label each time an element is accessed.

    Attributes:
        synsets: The names of the folders; a label is an index of it.
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
