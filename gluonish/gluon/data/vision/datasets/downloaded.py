"""What published datasets share: a folder of files, and the arrays made of them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import DownloadError, NotSupportedError
from gluonish.core.files import path_text
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.download import download, make_folder, published_url
from gluonish.ndarray import NDArray, array
from gluonish.numpy.array import gluon_array

__all__ = ["DownloadedDataset", "Transform", "fetched"]

Transform = Callable[[NDArray, Any], Any]


class DownloadedDataset(Dataset):
    """Base class of published datasets; a subclass sets ``_data`` and ``_label`` in ``_get_data``.

    Args:
        root: Folder of the files, created if missing; ``$MXNET_HOME/datasets/{name}`` by default.
        transform: Function called with image and label each time an element is accessed.
        name: Name of the folder, here and in the repository.

    Raises:
        DownloadError: A file cannot be downloaded, has another SHA-1 than published, or does not
            fit on the disk; or the folder cannot be created.
    """

    def __init__(
        self, root: str | os.PathLike[str] | None, transform: Transform | None, name: str
    ) -> None:
        self._namespace = name
        self._transform = transform
        self._data: NDArray | None = None
        self._label: np.ndarray[Any, Any] | None = None
        folder = (
            Path(MXNET_HOME.value) / "datasets" / name
            if root is None
            else Path(path_text(root, "root"))
        )
        folder = folder.expanduser()
        make_folder(folder)
        self._root = str(folder)
        self._get_data()

    def _get_data(self) -> None:
        raise NotSupportedError(
            f"{type(self).__name__}: expected _get_data to be defined, got none"
        )

    def _set(self, images: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> None:
        self._data = gluon_array(array(images, dtype=images.dtype))
        self._label = labels.astype(np.int32)

    def __getitem__(self, idx: Any) -> Any:
        assert self._data is not None  # for mypy; _get_data sets both
        assert self._label is not None
        image, label = self._data[idx], self._label[idx]
        return (image, label) if self._transform is None else self._transform(image, label)

    def __len__(self) -> int:
        return 0 if self._label is None else len(self._label)


def fetched(path: Path, namespace: str, sha1: str) -> Path:
    """Return the path of a published file; download it if it is missing or damaged.

    Args:
        path: Path of the file.
        namespace: Name of its folder in the repository.
        sha1: Published SHA-1 of the file.

    Raises:
        DownloadError: It cannot be downloaded, has another SHA-1, or does not fit on the disk.
    """
    place = f"gluon/dataset/{namespace}/{path.name}"
    try:
        return Path(download(published_url(place), path, sha1_hash=sha1))
    except DownloadError as error:
        raise DownloadError(
            f"{error}; without a network put {path.name} with the SHA-1 {sha1} into {path.parent}, "
            f"or set MXNET_GLUON_REPO to a mirror or to a folder that has {place}"
        ) from error
