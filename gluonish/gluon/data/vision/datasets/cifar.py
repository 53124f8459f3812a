"""CIFAR10 and CIFAR100: 60,000 colour images of 32x32 pixels in ten or a hundred classes.

References:
    A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.gluon.data.vision.datasets.downloaded import DownloadedDataset, Transform, fetched
from gluonish.gluon.download import exclusive, extract_members, is_published

__all__ = ["CIFAR10", "CIFAR100"]

_SIDE = 32
_PIXEL_NBYTES = 3 * _SIDE * _SIDE
# The largest published file, CIFAR-100's train.bin, has 154 MB.
_MAX_MEMBER_NBYTES = 1 << 30

Array = np.ndarray[Any, Any]
File = tuple[str, str]  # name and SHA-1


class CIFAR10(DownloadedDataset):
    """CIFAR-10: photographs of animals and vehicles, 50,000 for training, 10,000 for testing.

    An element is (image, label): an NDArray (32, 32, 3) of uint8 in RGB order, and an int32 from 0
    to 9. The ``.bin`` files are read from ``root``; where one is missing, the archive is downloaded
    and unpacked.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/cifar10`` by default.
        train: True for the training images, False for the test images.
        transform: Function called with image and label each time an element is accessed.

    Raises:
        DownloadError: The archive cannot be downloaded, has another SHA-1 than published, or does
            not fit on the disk.
    """

    _name = "cifar10"
    _archive_file: File = ("cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891")
    _train_data: tuple[File, ...] = (
        ("data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"),
        ("data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"),
        ("data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"),
        ("data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"),
        ("data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"),
    )
    _test_data: tuple[File, ...] = (("test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c"),)
    # Bytes before the pixels of a record, and which of them is the label.
    _label_nbytes = 1
    _label_at = 0

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Transform | None = None,
    ) -> None:
        self._train = train
        super().__init__(root, transform, self._name)

    def _get_data(self) -> None:
        folder = Path(self._root)
        files = self._train_data if self._train else self._test_data
        if not _all_published(folder, files):
            self._unpack_archive(folder, files)
        parts = [self._read_batch(folder / name) for name, _ in files]
        images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        self._set(images, labels)

    def _unpack_archive(self, folder: Path, files: tuple[File, ...]) -> None:
        name, sha1 = self._archive_file
        with exclusive(folder / files[0][0]):
            # Another process may have made them while this one waited.
            if not _all_published(folder, files):
                archive = fetched(folder / name, self._namespace, sha1)
                wanted = {folder / name: sha1 for name, sha1 in self._train_data + self._test_data}
                extract_members(archive, wanted, _MAX_MEMBER_NBYTES)

    def _read_batch(self, path: str | Path) -> tuple[Array, Array]:
        """Return the images and labels of one file."""
        stored = np.fromfile(path, np.uint8)
        record_nbytes = self._label_nbytes + _PIXEL_NBYTES
        if stored.size % record_nbytes:
            raise FileFormatError(
                f"{type(self).__name__}: expected records of {record_nbytes} bytes in {path}, got "
                f"{stored.size} bytes"
            )
        records = stored.reshape(-1, record_nbytes)
        planes = records[:, self._label_nbytes :].reshape(-1, 3, _SIDE, _SIDE)
        return planes.transpose(0, 2, 3, 1), records[:, self._label_at]


class CIFAR100(CIFAR10):
    """CIFAR-100: photographs in a hundred classes, 50,000 for training, 10,000 for testing.

    An element is (image, label): an NDArray (32, 32, 3) of uint8 in RGB order, and an int32. The
    ``.bin`` files are read from ``root``; where one is missing, the archive is downloaded and
    unpacked.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/cifar100`` by default.
        fine_label: True for the 100 classes as labels, False for the 20 superclasses.
        train: True for the training images, False for the test images.
        transform: Function called with image and label each time an element is accessed.

    Raises:
        DownloadError: The archive cannot be downloaded, has another SHA-1 than published, or does
            not fit on the disk.
    """

    _name = "cifar100"
    _archive_file = ("cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b")
    _train_data = (("train.bin", "e207cd2e05b73b1393c74c7f5e7bea451d63e08e"),)
    _test_data = (("test.bin", "8fb6623e830365ff53cf14adec797474f5478006"),)
    _label_nbytes = 2

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        fine_label: bool = False,
        train: bool = True,
        transform: Transform | None = None,
    ) -> None:
        self._fine_label = fine_label
        self._label_at = int(fine_label)
        super().__init__(root, train, transform)


def _all_published(folder: Path, files: tuple[File, ...]) -> bool:
    return all(is_published(folder / name, sha1) for name, sha1 in files)
