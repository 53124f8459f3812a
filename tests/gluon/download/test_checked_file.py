"""Downloads from a real server: cut off, continued, refused, wrong, and waited for."""

import errno
import hashlib
import os
import random
import threading
from importlib.metadata import version
from pathlib import Path

import pytest
from filelock import FileLock

from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.gluon.download import http_fetch, target
from gluonish.gluon.download.checked_file import check_sha1, download

DATA = random.Random(7).randbytes(300_000)
SHA1 = hashlib.sha1(DATA).hexdigest()


@pytest.fixture(autouse=True)
def short_pauses_and_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(http_fetch, "_CHUNK_NBYTES", 10_000)


@pytest.fixture
def url(repository) -> str:
    repository.files["/f.bin"] = DATA
    return f"{repository.url}/f.bin"


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_file_arrives_whole(url: str, tmp_path: Path) -> None:
    assert download(url, tmp_path / "x", sha1_hash=SHA1) == str(tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == DATA
    assert visible(tmp_path) == ["x"]


def test_folder_takes_the_name_of_the_url(url: str, tmp_path: Path) -> None:
    assert download(url, str(tmp_path)) == str(tmp_path / "f.bin")


def test_working_folder_is_the_default(url: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert download(url) == "f.bin"
    assert (tmp_path / "f.bin").read_bytes() == DATA


def test_missing_folders_are_made(url: str, tmp_path: Path) -> None:
    assert Path(download(url, tmp_path / "a" / "b" / "c")).read_bytes() == DATA


def test_existing_file_is_kept_unless_told_otherwise(url: str, tmp_path: Path, repository) -> None:
    (tmp_path / "x").write_bytes(b"mine")
    download(url, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"mine"
    download(url, tmp_path / "x", overwrite=True)
    assert (tmp_path / "x").read_bytes() == DATA
    assert repository.count("/f.bin") == 1


def test_existing_file_with_another_hash_is_replaced(url: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    download(url, tmp_path / "x", sha1_hash=SHA1.upper())
    assert (tmp_path / "x").read_bytes() == DATA


def test_empty_file_arrives(repository, tmp_path: Path) -> None:
    repository.files["/empty"] = b""
    assert Path(download(f"{repository.url}/empty", tmp_path)).read_bytes() == b""


def test_unknown_length_is_fine(url: str, repository, tmp_path: Path) -> None:
    repository.tells_length = False
    assert Path(download(url, tmp_path)).read_bytes() == DATA


def test_cut_connection_goes_on_where_it_ended(url: str, repository, tmp_path: Path) -> None:
    repository.cuts = [100_000, 50_000]
    download(url, tmp_path, sha1_hash=SHA1)
    assert [asked for _, asked in repository.asked] == ["", "bytes=100000-", "bytes=150000-"]
    assert visible(tmp_path) == ["f.bin"]


def test_later_call_goes_on_where_an_earlier_one_ended(url, repository, tmp_path: Path) -> None:
    repository.cuts = [100_000]
    with pytest.raises(DownloadError, match=r"expected to fetch http://.*f\.bin, got"):
        download(url, tmp_path, retries=0)
    assert visible(tmp_path) == ["f.bin.part", "f.bin.part.json"]
    download(url, tmp_path, sha1_hash=SHA1)
    assert repository.asked[-1] == ("/f.bin", "bytes=100000-")


def test_content_that_changed_meanwhile_starts_over(url, repository, tmp_path: Path) -> None:
    repository.cuts = [100_000]
    with pytest.raises(DownloadError):
        download(url, tmp_path, retries=0)
    repository.files["/f.bin"] = DATA[::-1]
    assert Path(download(url, tmp_path)).read_bytes() == DATA[::-1]


def test_server_without_ranges_starts_over(url, repository, tmp_path: Path) -> None:
    repository.ranges = False
    repository.cuts = [100_000]
    assert Path(download(url, tmp_path)).read_bytes() == DATA
    assert repository.asked[-1] == ("/f.bin", "bytes=100000-")


def test_part_that_is_complete_is_taken(url, repository, tmp_path: Path) -> None:
    repository.cuts = [100_000]
    with pytest.raises(DownloadError):
        download(url, tmp_path, retries=0)
    (tmp_path / "f.bin.part").write_bytes(DATA)
    assert Path(download(url, tmp_path, sha1_hash=SHA1)).read_bytes() == DATA
    assert repository.count("/f.bin") == 2


@pytest.mark.parametrize("text", ["", "[]", '{"url": 3}', "{", '{"length": "x"}'])
def test_part_with_a_broken_description_starts_over(url, repository, tmp_path, text: str) -> None:
    (tmp_path / "f.bin.part").write_bytes(b"junk")
    (tmp_path / "f.bin.part.json").write_text(text)
    assert Path(download(url, tmp_path)).read_bytes() == DATA
    assert repository.asked == [("/f.bin", "")]


def test_part_that_is_too_long_starts_over(url, repository, tmp_path: Path) -> None:
    repository.cuts = [100_000]
    with pytest.raises(DownloadError):
        download(url, tmp_path, retries=0)
    (tmp_path / "f.bin.part").write_bytes(DATA + b"more")
    assert Path(download(url, tmp_path, retries=1)).read_bytes() == DATA


def test_passing_trouble_is_retried(url, repository, tmp_path: Path) -> None:
    repository.statuses = [503, 500]
    assert Path(download(url, tmp_path, retries=2)).read_bytes() == DATA


def test_retries_are_bounded(url, repository, tmp_path: Path) -> None:
    repository.statuses = [503] * 5
    with pytest.raises(DownloadError, match="503 Service Unavailable"):
        download(url, tmp_path, retries=1)
    assert len(repository.asked) == 2


def test_missing_file_is_asked_for_once(repository, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"/none, got 404 Not Found"):
        download(f"{repository.url}/none", tmp_path)
    assert repository.count("/none") == 1
    assert visible(tmp_path) == []


def test_no_server_is_told_with_the_url(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"expected to fetch http://127\.0\.0\.1:9/f, got"):
        download("http://127.0.0.1:9/f", tmp_path, retries=1)


def test_wrong_hash_is_tried_twice_and_leaves_nothing(url, repository, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=f"have the SHA-1 {'0' * 40}, got {SHA1}"):
        download(url, tmp_path, sha1_hash="0" * 40)
    assert repository.count("/f.bin") == 2
    assert visible(tmp_path) == []


def test_wrong_hash_keeps_the_old_file(url: str, tmp_path: Path) -> None:
    (tmp_path / "f.bin").write_bytes(b"old")
    with pytest.raises(DownloadError):
        download(url, tmp_path, sha1_hash="0" * 40)
    assert (tmp_path / "f.bin").read_bytes() == b"old"


def test_full_disk_is_told_and_leaves_nothing(url: str, tmp_path: Path, monkeypatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DownloadError, match=r"expected free space for f\.bin\.part .*free some"):
        download(url, tmp_path)
    assert visible(tmp_path) == []


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}"])
def test_local_files_are_copied(form: str, tmp_path: Path) -> None:
    source = tmp_path / "some where.bin"
    source.write_bytes(DATA)
    link = form.format(str(source).replace(" ", "%20") if "file" in form else source)
    assert Path(download(link, tmp_path / "x", sha1_hash=SHA1)).read_bytes() == DATA
    assert visible(tmp_path) == ["some where.bin", "x"]


def test_missing_local_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"expected to copy .*none, got .*No such file"):
        download(str(tmp_path / "none"), tmp_path / "x")


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("http://127.0.0.1:9/", {}, "ends in a file name"),
        ("http://127.0.0.1:9/f", {"retries": -1}, "retries of 0 or more, got -1"),
        ("ftp://127.0.0.1/f", {}, "expected http, https, file or a path"),
        ("file://elsewhere/f", {}, "expected file:///path"),
    ],
)
def test_wrong_arguments_are_refused(url: str, options, message: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=message):
        download(url, **options)


def test_sha1_is_compared_without_case(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert check_sha1(tmp_path / "x", "A9993E364706816ABA3E25717850C26C9CD0D89D")
    assert not check_sha1(str(tmp_path / "x"), "a9993e364706")


def test_waiting_is_bounded_and_names_the_holder(url, tmp_path, monkeypatch, caplog) -> None:
    monkeypatch.setattr(target, "_WAIT_S", 0.05)
    path = tmp_path / ".f.bin.lock"
    # Before version 4, filelock empties the file of a lock for which it waits.
    kept = int(version("filelock").split(".")[0]) >= 4
    holder = "process 17 on elsewhere" if kept else "another process"
    with FileLock(path):
        path.write_text("process 17 on elsewhere")
        with pytest.raises(DownloadError, match=f"expected {holder} to finish"):
            download(url, tmp_path)
    assert f"for {holder}" in caplog.text


def test_threads_that_want_the_same_file_fetch_it_once(url, repository, tmp_path: Path) -> None:
    threads = [threading.Thread(target=download, args=(url, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert repository.count("/f.bin") == 1
    assert (tmp_path / "f.bin").read_bytes() == DATA
