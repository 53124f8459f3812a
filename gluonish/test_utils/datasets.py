"""MNIST and CIFAR-10 for old example programs, and DummyIter for benchmarks."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np

import gluonish.gluon.download as transfers
from gluonish.core.errors import FileFormatError
from gluonish.core.files import atomic_write
from gluonish.gluon.data.vision.datasets.downloaded import MNIST
from gluonish.io import DataIter, MNISTIter
from gluonish.io.mnist_iter import read_idx
from gluonish.test_utils.downloads import download, get_zip_data

Array = np.ndarray[Any, Any]

_FOLDER = "data"
_MNIST_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_MNIST_SHA1: dict[str, str] = dict(zip(_MNIST_FILES, MNIST._hashes, strict=True))
_MNIST_PICKLE = "http://deeplearning.net/data/mnist/mnist.pkl.gz"
_CIFAR10 = "http://data.mxnet.io/mxnet/data/cifar10.zip"


def get_mnist(path: str = ".") -> dict[str, Array]:
    """Return the images and labels of MNIST, from four ``.gz`` files.

    Missing files are downloaded from the Gluon repository (``MXNET_GLUON_REPO``) and checked.

    Args:
        path: The folder of the files.

    Returns:
        ``train_data`` float32 (60000, 1, 28, 28) in [0, 1], ``train_label`` int8 (60000,),
        ``test_data`` (10000, 1, 28, 28) and ``test_label`` (10000,).

    Raises:
        DownloadError: A file cannot be downloaded, or is not the published one.
        FileFormatError: A file does not contain images or labels.
    """
    arrays = {}
    for split, stem in (("train", "train"), ("test", "t10k")):
        images = _read(f"{stem}-images-idx3-ubyte", path).astype(np.float32) / 255
        arrays[f"{split}_data"] = images.reshape(len(images), 1, *images.shape[1:])
        arrays[f"{split}_label"] = _read(f"{stem}-labels-idx1-ubyte", path).astype(np.int8)
    return arrays


def _fetched(name: str, folder: str = ".") -> Path:
    """Return the path of a compressed MNIST file; download and check the file if it is missing."""
    url = transfers.published_url(f"gluon/dataset/mnist/{name}.gz")
    target = Path(folder) / f"{name}.gz"
    return Path(transfers.download(url, target, sha1_hash=_MNIST_SHA1[name]))


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise FileFormatError(f"get_mnist: expected a gzip file at {path}, got {error}") from error


def _read(name: str, folder: str) -> Array:
    return read_idx(_unpacked(_fetched(name, folder)), f"{name}.gz")


def get_mnist_ubyte(path: str = _FOLDER) -> None:
    """Download and extract the four files of MNIST, unless they exist.

    Args:
        path: The folder of the files.

    Raises:
        DownloadError: A file cannot be downloaded, or is not the published one.
    """
    for name in _MNIST_SHA1:
        target = Path(path) / name
        if not target.exists():
            packed = _fetched(name, path)
            with atomic_write(target) as file:
                file.write(_unpacked(packed))
            packed.unlink()


def get_mnist_pkl() -> None:
    """Download ``mnist.pkl.gz`` to ``./data``, unless it exists.

    Raises:
        DownloadError: The file cannot be downloaded.
    """
    download(_MNIST_PICKLE, dirname=_FOLDER)


def get_cifar10(path: str = _FOLDER) -> None:
    """Download CIFAR-10 as record files, unless they exist.

    Args:
        path: The folder in which the folder ``cifar`` is.

    Raises:
        DownloadError: The archive cannot be downloaded.
        FileFormatError: The archive is damaged.
    """
    paths = [Path(path) / "cifar" / f"{split}.rec" for split in ("train", "test")]
    if not all(path.exists() for path in paths):
        get_zip_data(path, _CIFAR10, "cifar10.zip")


def get_mnist_iterator(
    batch_size: int,
    input_shape: tuple[int, ...],
    num_parts: int = 1,
    part_index: int = 0,
    path: str = _FOLDER,
) -> tuple[MNISTIter, MNISTIter]:
    """Return iterators over the training and the test images of MNIST.

    Missing files are downloaded. Both iterators shuffle, and both are split among the workers.

    Args:
        batch_size: Number of samples in a batch.
        input_shape: Shape of a sample: one axis for flat images, else three.
        num_parts: Number of workers that share the data.
        part_index: Index of this worker.
        path: The folder of the files.

    Raises:
        DownloadError: A file cannot be downloaded, or is not the published one.
        FileFormatError: A file does not contain images or labels.
    """
    get_mnist_ubyte(path)
    train, test = (
        MNISTIter(
            image=f"{path}/{stem}-images-idx3-ubyte",
            label=f"{path}/{stem}-labels-idx1-ubyte",
            batch_size=batch_size,
            flat=len(input_shape) == 1,
            num_parts=num_parts,
            part_index=part_index,
        )
        for stem in ("train", "t10k")
    )
    return train, test


class DummyIter(DataIter):
    """Iterator that returns the first batch of another iterator over and over, to measure speed.

    Args:
        real_iter: Iterator of batches with ``provide_data``, ``provide_label`` and ``batch_size``,
            such as those of ``mx.io``.

    Attributes:
        real_iter: The argument.
        provide_data: Its ``provide_data``.
        provide_label: Its ``provide_label``.
        batch_size: Number of samples in a batch.
        the_batch: The batch that is always returned.
    """

    def __init__(self, real_iter: Any) -> None:
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(iter(real_iter))

    def next(self) -> Any:
        """Return the batch."""
        return self.the_batch

    def reset(self) -> None:
        """Do nothing: all batches are the same."""
