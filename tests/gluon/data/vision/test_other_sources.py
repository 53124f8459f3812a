"""Data sets from their authors' servers, where MXNet's repository does not serve them."""

import gzip
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.config import MXNET_GLUON_OTHER_SOURCES, MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import DownloadError
from gluonish.gluon.data.vision import CIFAR10, CIFAR100, MNIST
from gluonish.gluon.data.vision.datasets import downloaded
from gluonish.gluon.download import http_fetch
from tests.gluon.data.vision.test_datasets import Published, publish_cifar
from tests.gluon_repository import Repository


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    with (
        MXNET_HOME.override(str(tmp_path / "home")),
        MXNET_GLUON_REPO.override(str(tmp_path / "none")),
        MXNET_GLUON_OTHER_SOURCES.override(True),
    ):
        yield tmp_path / "home" / "datasets"


def serve(repository: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve the files of a folder as another source of all data sets."""
    for path in folder.iterdir():
        repository.files[f"/data/{path.name}"] = path.read_bytes()
    for name in downloaded.OTHER_SOURCES:
        sources = (("the test", f"{repository.url}/data/"),)
        monkeypatch.setitem(downloaded.OTHER_SOURCES, name, sources)


@pytest.fixture
def published(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Published:
    published = Published(MNIST, tmp_path / "published", monkeypatch)
    serve(repository, tmp_path / "published", monkeypatch)
    return published


def test_all_data_sets_have_another_source() -> None:
    assert downloaded.OTHER_SOURCES.keys() == {"mnist", "fashion-mnist", "cifar10", "cifar100"}
    for sources in downloaded.OTHER_SOURCES.values():
        assert all(url.startswith("http") and url.endswith("/") for _, url in sources)


@pytest.mark.parametrize("level", [1, 9], ids=["packed otherwise", "as published"])
def test_mnist_has_the_published_content(
    published: Published,
    repository: Repository,
    home: Path,
    caplog: pytest.LogCaptureFixture,
    level: int,
) -> None:
    if level == 1:
        for stem, raw in published.raw.items():
            repository.files[f"/data/{stem}.gz"] = gzip.compress(raw, 1, mtime=7)
    with caplog.at_level(logging.WARNING, "gluonish"):
        dataset = MNIST()
    np.testing.assert_array_equal(dataset._data.asnumpy()[..., 0], published.train_images)  # type: ignore[union-attr]  # set
    assert dataset[2][1] == 2
    told = [record.getMessage() for record in caplog.records]
    name, url = "train-images-idx3-ubyte.gz", f"{repository.url}/data/train-images-idx3-ubyte.gz"
    assert told[:2] == [
        f"download: no {name} from MXNet's repository; trying {url}",
        f"{name} is from the test ({url}): it has the content that MXNet published; "
        "MXNET_GLUON_OTHER_SOURCES=0 leaves it at MXNet's repository",
    ]
    count = len(repository.asked)
    MNIST()
    assert len(repository.asked) == count


def test_other_content_is_refused(published: Published, repository: Repository, home: Path) -> None:
    name = "train-images-idx3-ubyte.gz"
    repository.files[f"/data/{name}"] = gzip.compress(b"other")
    with pytest.raises(
        DownloadError, match=rf"other sources failed, too: .*{name} with the publis"
    ):
        MNIST()
    assert not [path for path in (home / "mnist").iterdir() if not path.name.startswith(".")]


def test_switched_off_no_other_server_is_asked(
    published: Published, repository: Repository
) -> None:
    with (
        MXNET_GLUON_OTHER_SOURCES.override(False),
        pytest.raises(DownloadError, match="or set MXNET_GLUON_REPO to a mirror") as caught,
    ):
        MNIST()
    assert "other sources" not in str(caught.value)
    assert repository.asked == []


@pytest.mark.parametrize(("kind", "name"), [(CIFAR10, "cifar10"), (CIFAR100, "cifar100")])
def test_cifar_is_unpacked_from_another_archive(
    kind: Any, name: str, repository: Repository, home: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    records = publish_cifar(kind, tmp_path / "published", monkeypatch)
    serve(repository, tmp_path / "published", monkeypatch)
    # Other bytes around the same files, as an archive that was packed again.
    monkeypatch.setattr(kind, "_archive_file", (kind._archive_file[0], "0" * 40))
    dataset = kind(train=False)
    expected = records[kind._test_data[0][0]][:, kind._label_nbytes :]
    found = dataset._data.asnumpy().transpose(0, 3, 1, 2).reshape(len(dataset), -1)
    np.testing.assert_array_equal(found, expected)
    files = {path.name for path in (home / name).iterdir() if not path.name.startswith(".")}
    assert files == {x for x, _ in (*kind._train_data, *kind._test_data)}


def test_an_archive_with_other_files_is_refused(
    repository: Repository, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_cifar(CIFAR10, tmp_path / "published", monkeypatch)
    serve(repository, tmp_path / "published", monkeypatch)
    monkeypatch.setattr(CIFAR10, "_test_data", (("test_batch.bin", "1" * 40),))
    with pytest.raises(DownloadError, match=r"other sources failed, too: the test: .* SHA-1 1111"):
        CIFAR10(train=False)
