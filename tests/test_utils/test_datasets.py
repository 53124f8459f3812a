import gzip
import hashlib
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gluonish import test_utils
from gluonish.core.config import MXNET_GLUON_REPO
from gluonish.core.errors import DownloadError
from gluonish.test_utils import datasets


def packed(array: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    head = struct.pack(f">I{array.ndim}I", 0x800 + array.ndim, *array.shape)
    return gzip.compress(head + array.tobytes())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Gluon repository with a small MNIST, whose checksums are taken for the right ones."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    folder = tmp_path / "gluon" / "dataset" / "mnist"
    folder.mkdir(parents=True)
    sums = {}
    for stem, count in (("train", 3), ("t10k", 2)):
        images = np.full((count, 28, 28), 51, np.uint8)
        labels = np.arange(count, dtype=np.uint8)
        for name, array in (("images-idx3", images), ("labels-idx1", labels)):
            content = packed(array)
            (folder / f"{stem}-{name}-ubyte.gz").write_bytes(content)
            sums[f"{stem}-{name}-ubyte"] = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(datasets, "_MNIST_SHA1", sums)
    return folder


def test_mnist_is_read_into_arrays(repository: Path, tmp_path: Path) -> None:
    with MXNET_GLUON_REPO.override(tmp_path.as_uri()):
        arrays = test_utils.get_mnist()
    assert {name: (x.shape, x.dtype.name) for name, x in arrays.items()} == {
        "train_data": ((3, 1, 28, 28), "float32"),
        "train_label": ((3,), "int8"),
        "test_data": ((2, 1, 28, 28), "float32"),
        "test_label": ((2,), "int8"),
    }
    assert arrays["train_data"][0, 0, 0, 0] == np.float32(0.2)
    assert arrays["test_label"].tolist() == [0, 1]
    assert Path("train-images-idx3-ubyte.gz").exists()


def test_mnist_of_another_content_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "t10k-labels-idx1-ubyte.gz").write_bytes(packed(np.zeros(2, np.uint8)))
    with MXNET_GLUON_REPO.override(str(tmp_path)), pytest.raises(DownloadError, match="SHA-1"):
        test_utils.get_mnist()


def test_mnist_is_unpacked_into_data(repository: Path, tmp_path: Path) -> None:
    with MXNET_GLUON_REPO.override(str(tmp_path)):
        test_utils.get_mnist_ubyte()
    made = [path.name for path in Path("data").glob("[!.]*")]
    assert sorted(made) == sorted(datasets._MNIST_SHA1)
    assert Path("data/t10k-labels-idx1-ubyte").read_bytes()[-2:] == b"\0\1"
    with MXNET_GLUON_REPO.override(str(tmp_path / "none")):
        test_utils.get_mnist_ubyte()


def test_cifar10_and_the_pickle_arrive_in_data(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(repository / "cifar10.zip", "w") as archive:
        for part in ("train", "test"):
            archive.writestr(f"cifar/{part}.rec", part)
    monkeypatch.setattr(datasets, "_CIFAR10", (repository / "cifar10.zip").as_uri())
    test_utils.get_cifar10()
    assert Path("data/cifar/test.rec").read_text() == "test"
    (repository / "mnist.pkl.gz").write_bytes(b"pickle")
    monkeypatch.setattr(datasets, "_MNIST_PICKLE", (repository / "mnist.pkl.gz").as_uri())
    test_utils.get_mnist_pkl()
    assert Path("data/mnist.pkl.gz").read_bytes() == b"pickle"


@pytest.mark.parametrize(("shape", "made"), [((784,), (784,)), ((1, 28, 28), (1, 28, 28))])
def test_iterators_over_mnist_read_its_files(
    shape: tuple[int, ...], made: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for stem, count in (("train", 8), ("t10k", 4)):
        images = np.zeros((count, 28, 28), np.uint8)
        for kind, values in (("images-idx3", images), ("labels-idx1", np.arange(count))):
            head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
            Path(f"data/{stem}-{kind}-ubyte").write_bytes(head + values.astype(np.uint8).tobytes())
    train, test = test_utils.get_mnist_iterator(2, shape, num_parts=2, part_index=1)
    assert train.provide_data == [("data", (2, *made))]
    found = [
        sorted(int(y) for batch in part for y in batch.label[0].asnumpy()) for part in (train, test)
    ]
    assert found == [[4, 5, 6, 7], [2, 3]]
