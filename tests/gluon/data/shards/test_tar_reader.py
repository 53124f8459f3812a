"""Tar archives, whole and damaged: the standard library's tarfile says what is in them."""

import io
import tarfile
from typing import Any

import pytest

from gluonish.core.errors import FileFormatError
from gluonish.gluon.data.shards import tar_reader
from gluonish.gluon.data.shards.tar_reader import TarReader

FORMATS = pytest.mark.parametrize(
    "form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
)
FILES = {"a.txt": b"one", "b.txt": b"", "d/c.bin": bytes(range(256)) * 5, "e.txt": b"x" * 512}


def archive_of(files: dict[str, bytes], form: int = tarfile.USTAR_FORMAT, **changes: Any) -> bytes:
    """An archive; ``changes`` are attributes of the first member."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for number, (name, content) in enumerate(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if not number:
                for attribute, value in changes.items():
                    setattr(info, attribute, value)
            archive.addfile(info, io.BytesIO(content) if info.isreg() else None)
    return file.getvalue()


def with_checksum(header: bytearray) -> bytes:
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def read(archive: bytes, length: int | None = -1) -> dict[str, bytes]:
    length = len(archive) if length == -1 else length
    return {x.name: x.content for x in TarReader(io.BytesIO(archive), "s.tar", length)}


@FORMATS
@pytest.mark.parametrize("known", [True, False], ids=["length", "no length"])
def test_files_are_what_tarfile_wrote(form: int, known: bool) -> None:
    archive = archive_of(FILES, form)
    assert read(archive, len(archive) if known else None) == FILES


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("name", ["n" * 150 + ".txt", "f/" * 200 + "x.txt", "ümlaut.txt"])
def test_long_names_and_those_of_other_letters_are_read(form: int, name: str) -> None:
    files = {name: b"content", "next.txt": b"short"}
    assert read(archive_of(files, form)) == files


def test_a_name_in_two_fields_is_joined() -> None:
    name = f"{'a' * 90}/{'b' * 90}.txt"
    assert read(archive_of({name: b"1"})) == {name: b"1"}


def test_offsets_are_those_of_the_headers() -> None:
    archive = archive_of(FILES)
    with tarfile.open(fileobj=io.BytesIO(archive)) as found:
        expected = [info.offset for info in found]
    assert [x.offset for x in TarReader(io.BytesIO(archive), "s.tar")] == expected


def test_sizes_and_paths_of_pax_records_are_used() -> None:
    archive = archive_of(
        {"a.txt": b"12345"}, tarfile.PAX_FORMAT, pax_headers={"size": "5", "path": "b.txt"}
    )
    assert read(archive) == {"b.txt": b"12345"}


def test_a_size_in_binary_is_read() -> None:
    archive = bytearray(archive_of({"a.txt": b"12345"}))
    archive[124:136] = b"\x80" + (5).to_bytes(11, "big")
    archive[:512] = with_checksum(archive[:512])
    assert read(bytes(archive)) == {"a.txt": b"12345"}


def test_folders_are_left_out() -> None:
    archive = archive_of({"f": b"", "f/a.txt": b"1"}, type=tarfile.DIRTYPE)
    assert read(archive) == {"f/a.txt": b"1"}


def test_an_archive_cut_anywhere_is_refused() -> None:
    archive = archive_of(FILES)
    end = archive.rindex(b"x") + 1
    for length in range(0, end + 1, 37):
        for known in (length, None):
            with pytest.raises(FileFormatError, match=r"s\.tar: expected .* at byte \d+, got"):
                read(archive[:length], known)


def test_an_archive_that_ends_between_members_is_truncated() -> None:
    archive = archive_of(FILES)
    with tarfile.open(fileobj=io.BytesIO(archive)) as found:
        cut = found.getmembers()[-1].offset
    message = f"mark at byte {cut}, got the end of the file; the archive is truncated"
    with pytest.raises(FileFormatError, match=message):
        read(archive[:cut])


def test_a_cut_member_is_named() -> None:
    archive = archive_of({"a.txt": b"y" * 2000})
    with pytest.raises(
        FileFormatError, match=r"2000 bytes of 'a\.txt' at byte 512, got 488; the archive is trunc"
    ):
        read(archive[:1000])


@pytest.mark.parametrize("place", [0, 100, 130, 150, 156, 257])
def test_a_damaged_header_is_refused(place: int) -> None:
    archive = bytearray(archive_of(FILES))
    archive[1024 + place] ^= 0x15
    with pytest.raises(FileFormatError, match=r"right checksum at byte 1024, got another"):
        read(bytes(archive))


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (tarfile.SYMTYPE, "a symbolic link"),
        (tarfile.LNKTYPE, "a hard link"),
        (tarfile.CHRTYPE, "a character device"),
        (tarfile.BLKTYPE, "a block device"),
        (tarfile.FIFOTYPE, "a pipe"),
        (b"Q", "of type b'Q'"),
    ],
)
def test_what_is_no_file_is_refused(kind: bytes, what: str) -> None:
    archive = archive_of({"a.txt": b""}, type=kind, linkname="/etc/passwd")
    with pytest.raises(
        FileFormatError, match=f"regular files only at byte 0, got 'a.txt', .*{what}"
    ):
        read(archive)


def test_sparse_files_are_refused() -> None:
    headers = {"GNU.sparse.major": "1", "GNU.sparse.name": "a.txt"}
    archive = archive_of({"a.txt": b"123"}, tarfile.PAX_FORMAT, pax_headers=headers)
    with pytest.raises(FileFormatError, match=r"regular files only .* sparse file"):
        read(archive)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../a.txt", "a/../../b.txt", "..", "C:/a.txt", "a\\..\\..\\b.txt"]
)
def test_a_path_outside_is_refused(name: str) -> None:
    with pytest.raises(FileFormatError, match=r"inside the archive at byte 0, got .* outside"):
        read(archive_of({name: b"1"}))


def test_a_path_outside_in_pax_records_is_refused() -> None:
    archive = archive_of({"a.txt": b"1"}, tarfile.PAX_FORMAT, pax_headers={"path": "/etc/passwd"})
    with pytest.raises(FileFormatError, match="inside the archive at byte 1024, got '/etc/passwd'"):
        read(archive)


@pytest.mark.parametrize("known", [True, False], ids=["length", "no length"])
def test_a_size_beyond_the_file_takes_no_memory(known: bool) -> None:
    header = bytearray(archive_of({"a.txt": b""})[:512])
    header[124:136] = b"%011o\0" % ((1 << 31) - 1)
    archive = with_checksum(header) + bytes(1024)
    with pytest.raises(
        FileFormatError, match=r"2147483647 bytes of 'a\.txt' at byte 512, got 1024"
    ):
        read(archive, len(archive) if known else None)


def test_a_huge_size_is_refused() -> None:
    header = bytearray(archive_of({"a.txt": b""})[:512])
    header[124:136] = b"\x80" + (1 << 80).to_bytes(11, "big")
    with pytest.raises(FileFormatError, match=r"'a\.txt' of up to 2147483648 bytes at byte 512"):
        read(with_checksum(header) + bytes(1024))


def test_a_huge_extended_header_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_reader, "_MAX_EXTENSION_NBYTES", 100)
    with pytest.raises(FileFormatError, match="extended header of up to 100 bytes at byte 0"):
        read(archive_of({"n" * 150: b"1"}, tarfile.GNU_FORMAT))


@pytest.mark.parametrize(
    "records", [b"11 path=b.t", b"99 path=b\n", b"x path=b\n", b"9 pathb=\n", b"0 a=b\n", b"5 ab\n"]
)
def test_damaged_pax_records_are_refused(records: bytes) -> None:
    info = tarfile.TarInfo("p")
    info.type, info.size = tarfile.XHDTYPE, len(records)
    archive = info.tobuf() + records + bytes(512 - len(records)) + archive_of({"a.txt": b"1"})
    if records == b"9 pathb=\n":  # a record that is in order
        assert read(archive) == {"a.txt": b"1"}
        return
    with pytest.raises(FileFormatError, match="expected a pax record at byte 5"):
        read(archive)


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "an empty file"),
        (b"\x1f\x8b" + bytes(600), "compressed by gzip; uncompress it"),
        (b"<html>" * 200, "b'<html>"),
        (b"PK\x03\x04" + bytes(600), "PK"),
    ],
)
def test_another_file_is_refused(content: bytes, got: str) -> None:
    with pytest.raises(
        FileFormatError, match=f"s.tar: expected a tar archive at byte 0, got {got}|{got}"
    ):
        read(content)
