import bz2
import errno
import os
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

from gluonish import test_utils
from gluonish.core.errors import ArgumentError, DownloadError, FileFormatError


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to download from; the working folder is another."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    return folder


def test_file_arrives_under_each_kind_of_name(source: Path) -> None:
    url = (source / "a.txt").as_uri()
    assert test_utils.download(url) == "a.txt"
    assert test_utils.download(url, "b.txt") == "b.txt"
    assert Path(test_utils.download(url, dirname="d")) == Path("d/a.txt")
    assert Path(test_utils.download(url, "c.txt", "d")) == Path("d/c.txt")
    assert Path("d/c.txt").read_text() == "one"


def test_file_that_is_there_is_kept_unless_overwritten(source: Path) -> None:
    Path("a.txt").write_text("own")
    url = (source / "a.txt").as_uri()
    test_utils.download(url)
    assert Path("a.txt").read_text() == "own"
    test_utils.download(url, overwrite=True)
    assert Path("a.txt").read_text() == "one"


def test_missing_file_and_negative_retries_are_errors(source: Path) -> None:
    with pytest.raises(DownloadError):
        test_utils.download((source / "none").as_uri(), retries=1)
    with pytest.raises(ArgumentError, match="retries of 0 or more, got -1"):
        test_utils.download((source / "a.txt").as_uri(), retries=-1)


def test_model_arrives_as_two_files(source: Path) -> None:
    for name in ("x.json", "x.params"):
        (source / name).write_text(name)
    urls = {"symbol": (source / "x.json").as_uri(), "params": (source / "x.params").as_uri()}
    info = {"m": urls}
    prefix, epoch = test_utils.download_model("m", "models", info)
    assert (prefix, epoch) == ("models/m", 0)
    assert Path("models/m-symbol.json").read_text() == "x.json"
    assert Path("models/m-0000.params").read_text() == "x.params"
    assert test_utils.download_model("other", "models", info) == (None, 0)
    assert test_utils.download_model("imagenet1k-nothing") == (None, 0)


def test_zip_is_unpacked_where_it_lies(source: Path) -> None:
    with zipfile.ZipFile(source / "z.zip", "w") as archive:
        archive.writestr("sub/a.txt", "in zip")
    for _ in range(2):
        test_utils.get_zip_data("d", (source / "z.zip").as_uri(), "z.zip")
    assert Path("d/sub/a.txt").read_text() == "in zip"
    assert Path("d/z.zip").exists()


@pytest.mark.parametrize("member", ["../out.txt", "/out.txt", "C:out.txt"])
def test_zip_whose_files_leave_the_folder_is_refused(source: Path, member: str) -> None:
    with zipfile.ZipFile(source / "z.zip", "w") as archive:
        archive.writestr(member, "out")
    with pytest.raises(FileFormatError, match="regular files inside"):
        test_utils.get_zip_data("d", (source / "z.zip").as_uri(), "z.zip")
    assert not Path("out.txt").exists()


def test_broken_archives_are_refused(source: Path) -> None:
    url = (source / "a.txt").as_uri()
    with pytest.raises(FileFormatError, match="expected a zip archive"):
        test_utils.get_zip_data("d", url, "a.zip")
    with pytest.raises(FileFormatError, match="expected a bzip2 file"):
        test_utils.get_bz2_data("d", "a", url, "a.bz2")
    assert not Path("d/a").exists()


def test_bz2_is_unpacked_once_and_removed(source: Path) -> None:
    (source / "a.bz2").write_bytes(bz2.compress(b"hello"))
    test_utils.get_bz2_data("d", "a", (source / "a.bz2").as_uri(), "a.bz2")
    assert Path("d/a").read_bytes() == b"hello"
    assert not Path("d/a.bz2").exists()
    test_utils.get_bz2_data("d", "a", (source / "none.bz2").as_uri(), "a.bz2")


def zipped(source: Path, **members: bytes) -> str:
    with zipfile.ZipFile(source / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return (source / "a.zip").as_uri()


def test_an_archive_that_is_cut_inside_a_file_leaves_no_part_of_it(source: Path) -> None:
    url = zipped(source, first=b"one", second=bytes(range(256)) * 40)
    content = bytearray((source / "a.zip").read_bytes())
    at = content.index(b"second") + 60
    content[at : at + 20] = bytes(20)
    (source / "a.zip").write_bytes(content)
    with pytest.raises(FileFormatError, match="expected a zip archive at"):
        test_utils.get_zip_data("d", url, "a.zip")
    assert not Path("d/second").exists()


def test_an_archive_whose_files_overlap_is_refused(source: Path) -> None:
    url = zipped(source, first=bytes(100_000))
    content = (source / "a.zip").read_bytes()
    at, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entry = content[at:end]
    record = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 999, 999, len(entry) * 999, at, 0)
    (source / "a.zip").write_bytes(content[:at] + entry * 999 + record)
    with pytest.raises(FileFormatError, match="got files that overlap"):
        test_utils.get_zip_data("d", url, "a.zip")
    assert not Path("d/first").exists()


def test_more_than_the_disk_has_is_not_unpacked(source: Path, monkeypatch) -> None:
    url = zipped(source, first=bytes(100_000))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 5_000))
    with pytest.raises(DownloadError, match="got 5000 bytes free for 100000"):
        test_utils.get_zip_data("d", url, "a.zip")


def test_a_full_disk_is_not_taken_for_a_wrong_file(source: Path, monkeypatch) -> None:
    (source / "a.bz2").write_bytes(bz2.compress(b"hello"))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    test_utils.download((source / "a.bz2").as_uri(), dirname="d")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        test_utils.get_bz2_data("d", "a", (source / "a.bz2").as_uri(), "a.bz2")
    assert not isinstance(caught.value, FileFormatError)
