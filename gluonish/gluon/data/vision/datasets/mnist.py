"""MNIST and FashionMNIST: 70,000 gray images of 28x28 pixels in ten classes.

References:
    Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-Based Learning Applied to Document
    Recognition, Proceedings of the IEEE, 1998.
    H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine
    Learning Algorithms, 2017.
"""

import gzip
import hashlib
import os
import zlib
from pathlib import Path

from gluonish.core.errors import FileFormatError
from gluonish.core.files import DEFLATE_RATIO, open_to_read
from gluonish.gluon.data.vision.datasets.downloaded import DownloadedDataset, Transform, fetched
from gluonish.gluon.download import check_sha1
from gluonish.io.idx_file import read_idx

__all__ = ["MNIST", "FashionMNIST"]

# SHA-1 of the unpacked content by that of the published file: who has the raw files, or packed them
# himself, has the same images.
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

# That of the training images.
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
        DownloadError: A file cannot be downloaded, has another SHA-1 than published, or does not
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
        """Return what a file holds, unpacked."""
        path = Path(self._root) / name
        found = _content_in_place(path, sha1)
        return _unpacked(fetched(path, self._namespace, sha1)) if found is None else found


class FashionMNIST(MNIST):
    """Fashion-MNIST: articles of clothing, 60,000 images for training, 10,000 for testing.

    An element is (image, label): an NDArray (28, 28, 1) of uint8, and an int32 from 0 to 9. The
    files are read from ``root``, packed or not, and downloaded if they are missing.

    Args:
        root: Folder of the files; ``$MXNET_HOME/datasets/fashion-mnist`` by default.
        train: True for the training images, False for the test images.
        transform: Function called with image and label each time an element is accessed.

    Raises:
        DownloadError: A file cannot be downloaded, has another SHA-1 than published, or does not
            fit on the disk.
    """

    _name = "fashion-mnist"
    _hashes: Hashes = (
        "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    )


def _content_in_place(path: Path, sha1: str) -> bytes | None:
    """Return the unpacked content where the file, its raw form or another packing is there."""
    if path.is_file() and check_sha1(path, sha1):
        return _unpacked(path)
    wanted = _CONTENT_SHA1.get(sha1)
    if wanted is None:
        return None
    raw = path.with_suffix("")
    if raw.is_file() and check_sha1(raw, wanted):
        return raw.read_bytes()
    if path.is_file():
        try:
            content = _unpacked(path)
        except FileFormatError:
            return None
        if hashlib.sha1(content, usedforsecurity=False).hexdigest() == wanted:
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
