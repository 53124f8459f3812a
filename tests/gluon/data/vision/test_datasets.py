"""Published datasets from small repositories, and images in files."""

import gzip
import hashlib
import io
import struct
import tarfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import (
    ArgumentTypeError,
    DownloadError,
    FileFormatError,
    MissingFileError,
    OperatorError,
)
from gluonish.gluon.data import DataLoader
from gluonish.gluon.data.vision import (
    CIFAR10,
    CIFAR100,
    MNIST,
    FashionMNIST,
    ImageFolderDataset,
    ImageListDataset,
    ImageRecordDataset,
    transforms,
)
from gluonish.gluon.data.vision.datasets import downloaded
from gluonish.recordio import MXIndexedRecordIO, pack_img

GOLDEN = Path(__file__).parents[3] / "golden"
RNG = np.random.default_rng(5)
STEMS = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def sha1(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def idx_file(array: Any) -> bytes:
    return struct.pack(f">I{array.ndim}I", 2048 + array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with (
        MXNET_HOME.override(str(tmp_path / "home")),
        MXNET_GLUON_REPO.override(str(tmp_path / "repository")),
    ):
        yield tmp_path / "home" / "datasets"


class Published:
    """A tiny MNIST or FashionMNIST in a folder."""

    def __init__(self, kind: type[MNIST], folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.kind = kind
        images = (RNG.integers(0, 256, (n, 28, 28)).astype(np.uint8) for n in (7, 4))
        self.train_images, self.test_images = images
        self.train_labels, self.test_labels = (np.arange(n, dtype=np.uint8) for n in (7, 4))
        self.folder = folder
        folder.mkdir(parents=True)
        arrays = (self.train_images, self.train_labels, self.test_images, self.test_labels)
        self.raw = dict(zip(STEMS, map(idx_file, arrays), strict=True))
        packed = {stem: gzip.compress(content, mtime=1) for stem, content in self.raw.items()}
        for stem, content in packed.items():
            (folder / f"{stem}.gz").write_bytes(content)
            patch.setitem(downloaded._CONTENT_SHA1, sha1(content), sha1(self.raw[stem]))
        patch.setattr(kind, "_hashes", tuple(sha1(packed[stem]) for stem in STEMS))


@pytest.fixture(params=[(MNIST, "mnist"), (FashionMNIST, "fashion-mnist")])
def published(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Published:
    kind, name = request.param
    return Published(kind, tmp_path / "repository" / "gluon" / "dataset" / name, monkeypatch)


def test_images_and_labels_have_the_types_of_mxnet(published: Published, home: Path) -> None:
    dataset = published.kind()
    image, label = dataset[3]
    assert len(dataset) == 7
    assert isinstance(image, nd.NDArray)
    assert (image.shape, image.dtype) == ((28, 28, 1), np.uint8)
    assert (type(label), label) == (np.int32, 3)
    assert (image.asnumpy()[..., 0] == published.train_images[3]).all()
    assert sorted(path.name for path in home.iterdir()) == [published.folder.name]


def test_the_other_part_is_the_test_images(published: Published) -> None:
    dataset = published.kind(train=False)
    assert len(dataset) == 4
    assert (dataset[-1][0].asnumpy()[..., 0] == published.test_images[-1]).all()


def test_slices_give_several(published: Published) -> None:
    images, labels = published.kind()[1:3]
    assert images.shape == (2, 28, 28, 1)
    assert labels.tolist() == [1, 2]
    with pytest.raises(IndexError):
        published.kind()[7]


def test_a_transform_gets_image_and_label(published: Published) -> None:
    dataset = published.kind(transform=lambda image, label: (image.astype("float32"), label + 1))
    image, label = dataset[0]
    assert (image.dtype, label) == (np.float32, 1)


def test_the_second_time_needs_no_repository(published: Published) -> None:
    published.kind()
    for path in published.folder.iterdir():
        path.unlink()
    assert len(published.kind()) == 7


def test_raw_files_in_the_folder_serve(published: Published, tmp_path: Path) -> None:
    root = tmp_path / "raw"
    root.mkdir()
    for stem, content in published.raw.items():
        (root / stem).write_bytes(content)
    with MXNET_GLUON_REPO.override("http://127.0.0.1:9"):
        assert len(published.kind(str(root))) == 7
        assert len(published.kind(root, train=False)) == 4


def test_files_packed_otherwise_serve(published: Published, tmp_path: Path) -> None:
    root = tmp_path / "own"
    root.mkdir()
    for stem, content in published.raw.items():
        (root / f"{stem}.gz").write_bytes(gzip.compress(content, 1, mtime=2))
    with MXNET_GLUON_REPO.override("http://127.0.0.1:9"):
        assert len(published.kind(root)) == 7


@pytest.mark.parametrize(
    "content", [b"nonsense", gzip.compress(b"other", mtime=0)], ids=["nonsense", "another file"]
)
def test_damaged_files_are_fetched_again(published: Published, home: Path, content: bytes) -> None:
    root = home / published.folder.name
    root.mkdir(parents=True)
    for stem in STEMS:
        (root / f"{stem}.gz").write_bytes(content)
        (root / stem).write_bytes(content)
    assert len(published.kind()) == 7
    fetched = (root / f"{STEMS[0]}.gz").read_bytes()
    assert fetched == (published.folder / f"{STEMS[0]}.gz").read_bytes()


def test_another_published_file_is_refused(published: Published) -> None:
    (published.folder / f"{STEMS[0]}.gz").write_bytes(b"other")
    with pytest.raises(DownloadError, match=r"to have the SHA-1 .* without a network put train"):
        published.kind()


def test_a_missing_repository_says_what_to_put_where(home: Path) -> None:
    with pytest.raises(DownloadError, match=r"put train-images.*6c95f4b0.* into .*mnist, or set"):
        MNIST()


def test_real_hashes_are_those_that_mxnet_checks() -> None:
    assert MNIST._hashes[0] == "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d"
    assert FashionMNIST._hashes[3] == "17f9ab60e7257a1620f4ad76bbbaf857c3920701"
    assert set(MNIST._hashes + FashionMNIST._hashes) == set(downloaded._CONTENT_SHA1)
    assert CIFAR10._archive_file[1] == "fab780a1e191a7eda0f345501ccd62d20f7ed891"
    assert CIFAR100._archive_file[1] == "a0bb982c76b83111308126cc779a992fa506b90b"


def test_a_user_may_bring_files_of_their_own(home: Path, tmp_path: Path) -> None:
    content = [gzip.compress(idx_file(a)) for a in (np.zeros((2, 5, 5), np.uint8), np.arange(2))]
    labels = gzip.compress(idx_file(np.array([3, 4], np.uint8)))

    class Own(MNIST):
        def _get_data(self) -> None:
            folder = Path(self._root)
            (folder / "a.gz").write_bytes(content[0])
            (folder / "b.gz").write_bytes(labels)
            self._train_data = ("a.gz", sha1(content[0]))
            self._train_label = ("b.gz", sha1(labels))
            super()._get_data()

    image, label = Own(tmp_path / "own")[1]
    assert image.shape == (5, 5, 1)
    assert label == 4


Records = dict[str, Any]


def publish_cifar(kind: Any, folder: Path, patch: pytest.MonkeyPatch) -> Records:
    """Put a tiny archive into a folder and return the records of its files."""
    nbytes = 3072 + kind._label_nbytes
    names = [name for name, _ in kind._train_data + kind._test_data]
    records = {name: RNG.integers(0, 100, (4, nbytes)).astype(np.uint8) for name in names}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, array in {"readme.html": np.zeros(3, np.uint8), **records}.items():
            info = tarfile.TarInfo(f"cifar-batches-bin/{name}")
            info.size = array.nbytes
            archive.addfile(info, io.BytesIO(array.tobytes()))
    folder.mkdir(parents=True)
    (folder / kind._archive_file[0]).write_bytes(file.getvalue())
    patch.setattr(kind, "_archive_file", (kind._archive_file[0], sha1(file.getvalue())))
    for part in ("_train_data", "_test_data"):
        files = tuple((name, sha1(records[name].tobytes())) for name, _ in getattr(kind, part))
        patch.setattr(kind, part, files)
    return records


@pytest.fixture
def cifar(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Records]:
    def publish(kind: Any, name: str) -> Records:
        return publish_cifar(kind, tmp_path / "repository/gluon/dataset" / name, monkeypatch)

    return publish


def test_cifar10_is_unpacked_and_read(cifar: Callable[..., Records], home: Path) -> None:
    records = cifar(CIFAR10, "cifar10")
    dataset = CIFAR10()
    rows = np.concatenate([records[f"data_batch_{i}.bin"] for i in range(1, 6)])
    assert len(dataset) == 20
    image, label = dataset[6]
    assert (image.shape, image.dtype, type(label)) == ((32, 32, 3), np.uint8, np.int32)
    assert label == rows[6, 0]
    assert (image.asnumpy() == rows[6, 1:].reshape(3, 32, 32).transpose(1, 2, 0)).all()
    assert len(CIFAR10(train=False)) == 4
    assert not (home / "cifar10" / "readme.html").exists()


@pytest.mark.parametrize("fine", [False, True])
def test_cifar100_has_coarse_and_fine_labels(cifar: Callable[..., Records], fine: bool) -> None:
    records = cifar(CIFAR100, "cifar100")
    dataset = CIFAR100(fine_label=fine)
    assert [dataset[i][1] for i in range(4)] == records["train.bin"][:, int(fine)].tolist()


def test_cifar_files_in_the_folder_serve(cifar: Callable[..., Records], tmp_path: Path) -> None:
    for name, array in cifar(CIFAR10, "cifar10").items():
        (tmp_path / name).write_bytes(array.tobytes())
    with MXNET_GLUON_REPO.override("http://127.0.0.1:9"):
        assert len(CIFAR10(tmp_path)) == 20
        (tmp_path / "test_batch.bin").write_bytes(b"damaged")
        assert len(CIFAR10(tmp_path)) == 20
        with pytest.raises(DownloadError, match=r"without a network put cifar-10-binary.tar.gz"):
            CIFAR10(tmp_path, train=False)


def test_an_archive_without_the_files_is_refused(
    cifar: Callable[..., Records], monkeypatch: pytest.MonkeyPatch
) -> None:
    cifar(CIFAR100, "cifar100")
    monkeypatch.setattr(CIFAR100, "_test_data", (("test.bin", "0" * 40),))
    with pytest.raises(DownloadError, match="expected the SHA-1 0000"):
        CIFAR100(train=False)


def test_records_of_another_length_are_refused(
    cifar: Callable[..., Records], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.bin").write_bytes(b"abc")
    monkeypatch.setattr(CIFAR100, "_train_data", (("train.bin", sha1(b"abc")),))
    with pytest.raises(FileFormatError, match="expected records of 3074 bytes"):
        CIFAR100(tmp_path)


IMAGES = dict(np.load(GOLDEN / "images.npz"))


@pytest.mark.parametrize("flag", [0, 1])
def test_images_of_a_record_file_of_mxnet(flag: int) -> None:
    dataset = ImageRecordDataset(str(GOLDEN / "images.rec"), flag)
    assert len(dataset) == 5
    for i in range(5):
        image, _ = dataset[i]
        want = IMAGES[f"rgb{i}"] if flag else IMAGES[f"gray{i}"].reshape(image.shape)
        assert image.dtype == np.uint8
        assert np.abs(image.asnumpy().astype(int) - want).max() <= 3
    assert dataset[0][1] == 0.0
    assert dataset[2][1].tolist() == [2.0, 0.5]


def test_a_transform_of_a_record_file() -> None:
    path = str(GOLDEN / "images.rec")
    dataset = ImageRecordDataset(path, transform=lambda image, label: (image.shape, label))
    assert dataset[1] == ((16, 12, 3), 1.0)


def png(level: int, shape: tuple[int, ...] = (6, 5, 3)) -> bytes:
    return pack_img((0, 0, 0, 0), np.full(shape, level, np.uint8), 9, ".png")[24:]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place in ("cat/2.png", "cat/1.PNG", "ant/a.jpeg", "ant/b.jpg", "empty/notes.txt"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(len(place)))
    (tmp_path / "top.png").write_bytes(png(0))
    return tmp_path


def test_folders_are_classes_in_order(folder: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        dataset = ImageFolderDataset(str(folder))
    assert dataset.synsets == ["ant", "cat", "empty"]
    assert [(Path(path).name, label) for path, label in dataset.items] == [
        ("a.jpeg", 0),
        ("b.jpg", 0),
        ("1.PNG", 1),
        ("2.png", 1),
    ]
    assert sorted(str(one.message).split(": ", 1)[1].replace(str(folder), "") for one in told) == [
        "Ignoring /empty/notes.txt of type .txt. Only support .jpg, .jpeg, .png",
        "Ignoring /top.png, which is not a directory",
    ]
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("ignore:ImageFolderDataset")
def test_images_of_a_folder(folder: Path) -> None:
    image, label = ImageFolderDataset(folder)[-1]
    assert (image.shape, label) == ((6, 5, 3), 1)
    assert (image.asnumpy() == len("cat/2.png")).all()
    gray = ImageFolderDataset(folder, flag=0, transform=lambda image, label: (label, image))
    assert gray[0][1].shape == (6, 5, 1)
    assert len(gray) == 4


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="expected a folder of folders"):
        ImageFolderDataset(tmp_path / "none")


def test_a_list_file_names_images(folder: Path) -> None:
    lines = "0\t3.0\tcat/2.png\n1\t1.5\t2.5\tant/a.jpeg\n\n"
    (folder / "a.lst").write_text(lines, encoding="utf-8")
    dataset = ImageListDataset(folder, folder / "a.lst")
    assert len(dataset) == 2
    image, label = dataset[0]
    assert (image.shape, label) == ((6, 5, 3), 3.0)
    assert dataset[1][1].tolist() == [1.5, 2.5]


def test_a_list_names_images(folder: Path) -> None:
    entries = [[3, "cat/2.png"], [1, 2, "ant/a.jpeg"], [[1, 2, 3], "ant/b.jpg"]]
    dataset = ImageListDataset(str(folder), entries, flag=0)
    assert [np.size(dataset[i][1]) for i in range(3)] == [1, 2, 3]
    assert dataset[0][0].shape == (6, 5, 1)


@pytest.mark.parametrize("line", ["cat/2.png", "0\tcat/2.png", "0\tx\tcat/2.png"])
def test_a_broken_line_is_told(folder: Path, line: str) -> None:
    (folder / "a.lst").write_text(f"0\t1\tcat/2.png\n{line}\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="on line 2 of"):
        ImageListDataset(folder, folder / "a.lst")


@pytest.mark.parametrize("entries", [None, 3, [["a.png"]], [[1, None]], [7]])
def test_a_list_that_is_none_is_refused(entries: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="ImageListDataset: expected"):
        ImageListDataset(".", entries)


def test_a_file_that_is_no_image_is_told(folder: Path) -> None:
    (folder / "cat" / "2.png").write_bytes(b"nonsense")
    dataset = ImageListDataset(folder, [[1, "cat/2.png"]])
    with pytest.raises(OperatorError, match=r"imread: expected the bytes of an image.*2\.png'"):
        dataset[0]


@pytest.fixture
def records(tmp_path: Path) -> str:
    file = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    for i in range(8):
        image = np.full((9 + i, 20 - i, 3), 10 * i, np.uint8)
        file.write_idx(i, pack_img((0, i, i, 0), image, 9, ".png"))
    file.close()
    return str(tmp_path / "a.rec")


CHAIN = transforms.Compose(
    [transforms.Resize((6, 5)), transforms.RandomFlipLeftRight(), transforms.ToTensor()]
)


@pytest.mark.parametrize("thread_pool", [False, True])
def test_workers_decode_and_transform(records: str, thread_pool: bool) -> None:
    dataset = ImageRecordDataset(records).transform_first(CHAIN)
    loader = DataLoader(dataset, 4, num_workers=2, thread_pool=thread_pool, timeout=60)
    batches = list(loader)
    assert [x.shape for x, _ in batches] == [(4, 3, 5, 6)] * 2
    for x, y in batches:
        np.testing.assert_allclose(x.asnumpy()[:, 0, 0, 0] * 255, y.asnumpy() * 10, atol=1e-3)


def test_workers_load_a_published_dataset(published: Published) -> None:
    loader = DataLoader(published.kind().transform_first(CHAIN), 7, num_workers=1, timeout=60)
    ((x, y),) = loader
    assert x.shape == (7, 1, 5, 6)
    assert y.asnumpy().tolist() == list(range(7))
    assert y.dtype == np.int32


def test_np_arrays_come_out_while_they_are_asked_for(published: Published) -> None:
    with mx.util.np_array(True):
        image, _ = published.kind()[0]
        assert isinstance(image, mx.np.ndarray)
        record, _ = ImageRecordDataset(str(GOLDEN / "images.rec"))[0]
        assert isinstance(record, mx.np.ndarray)
