"""Single files out of archives, zip and tar."""

import errno
import hashlib
import io
import os
import re
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from gluonish.core.errors import DownloadError
from gluonish.gluon.download import WrongArchiveError, extract_members

CONTENT = bytes(range(256)) * 20
LIMIT = 1 << 20
KINDS = ["zip", "tar.gz"]


def sha1(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def archive_of(folder: Path, kind: str, **members: bytes) -> Path:
    path = folder / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, content in members.items():
                zipped.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as packed:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return path


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_wanted_files_alone_are_taken(tmp_path: Path, out: Path, kind: str) -> None:
    members = {"in/one.bin": CONTENT, "readme": b"hello", "two.bin": b"two"}
    path = archive_of(tmp_path, kind, **members)
    wanted = {out / "one.bin": sha1(CONTENT), out / "two.bin": sha1(b"two")}
    extract_members(path, wanted, LIMIT)
    assert visible(out) == ["one.bin", "two.bin"]
    assert (out / "one.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("kind", KINDS)
def test_another_content_is_refused_and_leaves_nothing(
    tmp_path: Path, out: Path, kind: str
) -> None:
    path = archive_of(tmp_path, kind, one=b"other")
    with pytest.raises(WrongArchiveError, match=f"expected the SHA-1 {sha1(CONTENT)}, got "):
        extract_members(path, {out / "one": sha1(CONTENT)}, LIMIT)
    assert visible(out) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_file_is_told(tmp_path: Path, out: Path, kind: str) -> None:
    path = archive_of(tmp_path, kind, other=CONTENT)
    with pytest.raises(WrongArchiveError, match=r"expected one inside, got \['other'\]"):
        extract_members(path, {out / "one": sha1(CONTENT)}, LIMIT)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/evil", "..\\evil", "C:\\evil"])
def test_a_member_that_leaves_its_folder_is_refused(
    tmp_path: Path, out: Path, kind: str, name: str
) -> None:
    path = archive_of(tmp_path, kind, **{name: b"evil", "one": CONTENT})
    with pytest.raises(DownloadError, match=r"expected regular files.*which leaves its folder"):
        extract_members(path, {out / "one": sha1(CONTENT)}, LIMIT)
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_is_too_large_is_refused(tmp_path: Path, out: Path, kind: str) -> None:
    path = archive_of(tmp_path, kind, one=CONTENT)
    with pytest.raises(DownloadError, match=f"got 'one' of {len(CONTENT)} bytes"):
        extract_members(path, {out / "one": sha1(CONTENT)}, 1000)
    assert visible(out) == []


def test_a_link_in_a_zip_archive_is_refused(tmp_path: Path, out: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        info = zipfile.ZipInfo("one")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DownloadError, match="is a link or a device"):
        extract_members(tmp_path / "a.zip", {out / "one": sha1(CONTENT)}, LIMIT)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_link_in_a_tar_archive_is_refused(tmp_path: Path, out: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("one")
        info.type = kind
        info.linkname = "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(DownloadError, match="is a link or a device"):
        extract_members(tmp_path / "a.tar.gz", {out / "one": sha1(CONTENT)}, LIMIT)
    assert visible(out) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", [b"", b"<html>error</html>", b"\x1f\x8b\x08nonsense"])
def test_what_is_no_archive_is_told(tmp_path: Path, out: Path, kind: str, content: bytes) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(content)
    with pytest.raises(WrongArchiveError, match=rf"expected a {kind[:3]} archive, got "):
        extract_members(path, {out / "one": sha1(CONTENT)}, LIMIT)


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_is_told_and_leaves_no_part(tmp_path: Path, out: Path, kind: str) -> None:
    path = archive_of(tmp_path, kind, one=CONTENT)
    whole = path.read_bytes()
    told = []
    for end in range(1, len(whole), 17):
        path.write_bytes(whole[:end])
        try:
            extract_members(path, {out / "one": sha1(CONTENT)}, LIMIT)
            assert visible(out) == ["one"]  # the cut lies behind the file
        except WrongArchiveError as error:
            told.append(str(error))
        assert all(file.read_bytes() == CONTENT for file in out.iterdir())
    assert len(told) > 3
    assert all(re.search(r"expected (a (zip|tar) archive|one inside)", text) for text in told)


def test_a_part_of_an_archive_serves_under_its_own_name(tmp_path: Path, out: Path) -> None:
    path = archive_of(tmp_path, "zip", one=CONTENT)
    part = path.rename(tmp_path / "a.zip.part")
    extract_members(part, {out / "one": sha1(CONTENT)}, LIMIT)
    assert visible(out) == ["one"]


def test_a_full_disk_is_told(tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = archive_of(tmp_path, "tar.gz", one=CONTENT)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DownloadError, match=r"expected free space for one in .*free some space"):
        extract_members(path, {out / "one": sha1(CONTENT)}, LIMIT)
    assert visible(out) == []
