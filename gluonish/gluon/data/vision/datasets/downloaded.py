"""MNIST, FashionMNIST, CIFAR-10 and CIFAR-100: datasets that are downloaded.

References:
    Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-Based Learning Applied to Document
    Recognition, Proceedings of the IEEE, 1998.
    H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine
    Learning Algorithms, 2017.

References:
    A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import DownloadError, FileFormatError, NotSupportedError
from gluonish.core.files import DEFLATE_RATIO, open_to_read, path_text
from gluonish.gluon.data.dataset import Dataset
from gluonish.gluon.download import (
    OtherSource,
    WrongArchiveError,
    check_sha1,
    download,
    exclusive,
    extract_members,
    is_published,
    make_folder,
    obtain_elsewhere,
    published_url,
    tell_source,
)
from gluonish.io.mnist_iter import read_idx
from gluonish.ndarray import NDArray, array
from gluonish.numpy.array import gluon_array

Transform = Callable[[NDArray, Any], Any]


class DownloadedDataset(Dataset):
    """Base class of published datasets; a subclass sets ``_data`` and ``_label`` in ``_get_data``.

    Args:
        root: Folder of the files, created if missing; ``$MXNET_HOME/datasets/{name}`` by default.
        transform: Function called with image and label each time an element is accessed.
        name: Name of the folder, here and in the repository.

    Raises:
        DownloadError: A file cannot be downloaded, does not match the published SHA-1, or does not
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


# Where the authors of the data sets publish them, and torchvision's mirror of MNIST. The content is
# the same: it is checked by the SHA-1 that MXNet published.
OTHER_SOURCES: dict[str, tuple[tuple[str, str], ...]] = {
    "mnist": (("torchvision", "https://ossci-datasets.s3.amazonaws.com/mnist/"),),
    "fashion-mnist": (
        ("Zalando Research", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"),
    ),
    "cifar10": (("the University of Toronto", "https://www.cs.toronto.edu/~kriz/"),),
    "cifar100": (("the University of Toronto", "https://www.cs.toronto.edu/~kriz/"),),
}
# The largest published file, CIFAR-10's archive, has 170 MB.
_MAX_NBYTES = 1 << 30


def fetch(path: Path, namespace: str, sha1: str, accept: Callable[[Path], object]) -> None:
    """Download a published file if it is missing or damaged, and use its content.

    If MXNet's repository does not serve it, other sources are asked, unless
    ``MXNET_GLUON_OTHER_SOURCES`` is 0. Their content is the same.

    Args:
        path: Path of the file.
        namespace: Name of its folder in the repository.
        sha1: Published SHA-1 of the file.
        accept: Uses the downloaded file; raises an error if the content is not the published one.

    Raises:
        DownloadError: The file cannot be downloaded, has another SHA-1, or does not fit on the
            disk.
    """
    repository_path = f"gluon/dataset/{namespace}/{path.name}"
    try:
        download(published_url(repository_path), path, sha1_hash=sha1)
    except DownloadError as error:
        sources = [
            OtherSource(name, address + path.name)
            for name, address in OTHER_SOURCES.get(namespace, ())
        ]
        failure = DownloadError(
            f"{error}; without a network put {path.name} with the SHA-1 {sha1} into {path.parent}, "
            f"or set MXNET_GLUON_REPO to a mirror or to a folder that has {repository_path}"
        )
        failure.__cause__ = error
        with exclusive(path):
            source = obtain_elsewhere(path.name, sources, path, failure, accept, _MAX_NBYTES)
        tell_source(path.name, source, "it has the content that MXNet published")
    else:
        accept(path)


# SHA-1 of the published file -> SHA-1 of the unpacked content, to accept raw and repacked files.
_CONTENT_SHA1 = {
    "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d": "c3557c10f29b266e19b3eeee1553c85e0ef4a8ea",
    "2a80914081dc54586dbdf242f9805a6b8d2a15fc": "adbf52269f5d842899f287c269e2883e40b4f6e2",
    "c3a25af1f52dad7f726cce8cacb138654b760d48": "65e11ec1fd220343092a5070b58418b5c2644e26",
    "763e7fa3757d93b0cdec073cef058b2004252c17": "a6d52cc628797e845885543326e9f10abb8a6f89",
    "0cf37b0d40ed5169c6b3aba31069a9770ac9043d": "b9bd999c0106c9b8b4b0cefce58c9a6060f27095",
    "236021d52f1e40852b06a4c3008d8de8aef1e40b": "4bccf37222e01638381eaa326bf730337a597267",
    "626ed6a7c06dd17c0eec72fa3be1740f146a2863": "880056926db704f9f713097915f99da346f5b1d1",
    "17f9ab60e7257a1620f4ad76bbbaf857c3920701": "958122e8b4b97fd4e71eca2d08ef754ed77c3ad9",
}

# Size of the training images.
_MAX_CONTENT_NBYTES = 16 + 60_000 * 28 * 28

Hashes = tuple[str, str, str, str]


class MNIST(DownloadedDataset):
    """MNIST: handwritten digits, 60,000 images for training, 10,000 for testing.

    An element is (image, label): an NDArray (28, 28, 1) of uint8, and an int32 from 0 to 9. The
    files are read from ``root``, packed or not, and downloaded if they are missing.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/mnist`` by default.
        train: True for the training images, False for the test images.
        transform: Function called with image and label each time an element is accessed.

    Raises:
        DownloadError: A file cannot be downloaded, does not match the published SHA-1, or does not
            fit on the disk.
    """

    _name = "mnist"
    _hashes: Hashes = (
        "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d",
        "2a80914081dc54586dbdf242f9805a6b8d2a15fc",
        "c3a25af1f52dad7f726cce8cacb138654b760d48",
        "763e7fa3757d93b0cdec073cef058b2004252c17",
    )

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Transform | None = None,
    ) -> None:
        self._train = train
        images, labels, test_images, test_labels = self._hashes
        self._train_data = ("train-images-idx3-ubyte.gz", images)
        self._train_label = ("train-labels-idx1-ubyte.gz", labels)
        self._test_data = ("t10k-images-idx3-ubyte.gz", test_images)
        self._test_label = ("t10k-labels-idx1-ubyte.gz", test_labels)
        super().__init__(root, transform, self._name)

    def _get_data(self) -> None:
        data, label = (
            (self._train_data, self._train_label)
            if self._train
            else (self._test_data, self._test_label)
        )
        images = read_idx(self._content(*data), data[0])
        self._set(images[..., None], read_idx(self._content(*label), label[0]))

    def _content(self, name: str, sha1: str) -> bytes:
        """Return the unpacked content of a file."""
        path = Path(self._root) / name
        found = _local_content(path, sha1)
        if found is not None:
            return found
        contents = []

        def accept(fetched: Path) -> None:
            content = _local_content(fetched, sha1)
            if content is None:
                raise WrongArchiveError(
                    f"{type(self).__name__}: expected {name} with the published content, got "
                    "another"
                )
            contents.append(content)
            if fetched != path:
                fetched.replace(path)

        fetch(path, self._namespace, sha1, accept)
        return contents[0]


class FashionMNIST(MNIST):
    """Fashion-MNIST: articles of clothing, 60,000 images for training, 10,000 for testing.

    An element is (image, label): an NDArray (28, 28, 1) of uint8, and an int32 from 0 to 9. The
    files are read from ``root``, packed or not, and downloaded if they are missing.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/fashion-mnist`` by default.
        train: True for the training images, False for the test images.
        transform: Function called with image and label each time an element is accessed.

    Raises:
        DownloadError: A file cannot be downloaded, does not match the published SHA-1, or does not
            fit on the disk.
    """

    _name = "fashion-mnist"
    _hashes: Hashes = (
        "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    )


def _local_content(path: Path, sha1: str) -> bytes | None:
    """Return the unpacked content of an existing file, packed or raw; None if there is none."""
    if path.is_file() and check_sha1(path, sha1):
        return _unpacked(path)
    expected_sha1 = _CONTENT_SHA1.get(sha1)
    if expected_sha1 is None:
        return None
    raw = path.with_suffix("")
    if raw.is_file() and check_sha1(raw, expected_sha1):
        return raw.read_bytes()
    if path.is_file():
        try:
            content = _unpacked(path)
        except FileFormatError:
            return None
        if hashlib.sha1(content, usedforsecurity=False).hexdigest() == expected_sha1:
            return content
    return None


def _unpacked(path: Path) -> bytes:
    with open_to_read(path, "MNIST") as file:
        packed_nbytes = os.fstat(file.fileno()).st_size
        limit = min(_MAX_CONTENT_NBYTES, DEFLATE_RATIO * packed_nbytes)
        try:
            content = gzip.GzipFile(fileobj=file).read(limit + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(
                f"MNIST: expected a gzip file at {path}, got {error} near byte {file.tell()}"
            ) from error
        if len(content) > limit:
            raise FileFormatError(
                f"MNIST: expected up to {limit} bytes packed in {path}, got more at byte "
                f"{file.tell()}"
            )
    return content


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
        DownloadError: The archive cannot be downloaded, does not match the published SHA-1, or does
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
    # Number of bytes before the pixels of a record, and the index of the label among them.
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
        batches = [self._read_batch(folder / name) for name, _ in files]
        images, labels = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
        self._set(images, labels)

    def _unpack_archive(self, folder: Path, files: tuple[File, ...]) -> None:
        name, sha1 = self._archive_file
        with exclusive(folder / files[0][0]):
            # Another process may have created them while this one waited.
            if not _all_published(folder, files):
                members = {folder / name: sha1 for name, sha1 in self._train_data + self._test_data}
                fetch(
                    folder / name,
                    self._namespace,
                    sha1,
                    lambda archive: extract_members(archive, members, _MAX_MEMBER_NBYTES),
                )

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
        DownloadError: The archive cannot be downloaded, does not match the published SHA-1, or does
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
