"""A reader of tar archives in order, which trusts nothing that is in them.

The standard library's reader ends without an error at a damaged header, so that a truncated archive
looks complete. This one demands the end-of-archive mark, checks each header's checksum, and refuses
links, devices and paths outside the archive. It reads the formats ustar, pax and GNU.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, NoReturn

from gluonish.core.errors import FileFormatError
from gluonish.core.object_repr import default_repr

BLOCK_NBYTES = 512
# Largest header of a long name or of pax records, and largest member, in bytes.
_MAX_EXTENSION_NBYTES = 1 << 20
_MAX_MEMBER_NBYTES = 1 << 31
_PIECE_NBYTES = 1 << 24
_NO_BLOCK = bytes(BLOCK_NBYTES)
_REGULAR, _FOLDER = (b"0", b"\0", b"7"), b"5"
_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL_PAX = b"L", b"K", b"x", b"g"
_REFUSED = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a pipe",
    b"S": "a sparse file",
}
_OCTAL = re.compile(rb" *([0-7]*)[ \0]*")
_BINARY = 0x80
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}


class Member(NamedTuple):
    """A regular file in an archive.

    Attributes:
        name: Path in the archive.
        offset: Offset of its header in bytes.
        content: Its bytes.
    """

    name: str
    offset: int
    content: bytes


class _Header(NamedTuple):
    """The fields of a header: name, size in bytes, type, and offset of the header."""

    name: bytes
    nbytes: int
    kind: bytes
    offset: int


class TarReader:
    """Iterates over the regular files of a tar archive, in order.

    Args:
        file: The archive, of which each byte is read once.
        name: Path or URL in messages.
        length: Length of the archive in bytes, if known: a size beyond it is refused before memory
            is allocated.

    Iterating raises `FileFormatError` for an archive that is truncated or corrupt, or has a link,
    a device, or a path outside; the message has the name, the offset and the member.
    """

    __repr__ = default_repr

    def __init__(self, file: BinaryIO, name: str, length: int | None = None) -> None:
        self._file = file
        self._name = name
        self._length = length
        self._position = 0

    def __iter__(self) -> Iterator[Member]:
        long_name: bytes | None = None
        records: dict[bytes, bytes] = {}
        while (header := self._header()) is not None:
            if header.kind in (_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL_PAX):
                content = self._extension(header)
                if header.kind == _LONG_NAME:
                    long_name = content.partition(b"\0")[0]
                elif header.kind == _PAX:
                    records = self._records(content, header)
                continue
            name = self._member_name(records.get(b"path", long_name or header.name), header)
            nbytes = self._nbytes(records, header)
            self._check_kind(name, header, records)
            long_name, records = None, {}
            if header.kind == _FOLDER or name.endswith("/"):
                self._content(nbytes, f"the folder {name!r}")
                continue
            yield Member(name, header.offset, self._content(nbytes, repr(name)))

    def _fail(self, expected: str, offset: int, got: str) -> NoReturn:
        raise FileFormatError(f"{self._name}: expected {expected} at byte {offset}, got {got}")

    def _header(self) -> _Header | None:
        """Return the next header; None at the end-of-archive mark."""
        offset = self._position
        block = self._read(BLOCK_NBYTES)
        if block == _NO_BLOCK:
            return None
        if not offset and (len(block) < BLOCK_NBYTES or not _has_checksum(block)):
            self._fail("a tar archive", 0, _described(block))
        if len(block) < BLOCK_NBYTES:
            got = f"{len(block)} bytes" if block else "the end of the file"
            self._fail(
                "a header of a member or the end-of-archive mark",
                offset,
                f"{got}; the archive is truncated",
            )
        if not _has_checksum(block):
            self._fail("a header with the right checksum", offset, "another; it is corrupt")
        nbytes = _number(block[124:136])
        if nbytes is None:
            self._fail("a size in a header", offset + 124, repr(block[124:136]))
        name = block[:100].partition(b"\0")[0]
        prefix = block[345:500].partition(b"\0")[0]
        if block[257:263] == b"ustar\0" and prefix:
            name = prefix + b"/" + name
        return _Header(name, nbytes, block[156:157], offset)

    def _read(self, nbytes: int) -> bytes:
        """Return the next bytes; fewer at the end of the file."""
        if nbytes <= _PIECE_NBYTES or self._length is not None:
            found = self._file.read(nbytes)
        else:  # so that memory is only allocated for what there is
            pieces = []
            while nbytes and (piece := self._file.read(min(nbytes, _PIECE_NBYTES))):
                pieces.append(piece)
                nbytes -= len(piece)
            found = b"".join(pieces)
        self._position += len(found)
        return found

    def _content(self, nbytes: int, what: str) -> bytes:
        """Return the content of a member, and skip the padding after it."""
        offset = self._position
        if nbytes > _MAX_MEMBER_NBYTES:
            self._fail(f"{what} of up to {_MAX_MEMBER_NBYTES} bytes", offset, f"{nbytes}")
        padded = nbytes + -nbytes % BLOCK_NBYTES
        left = padded if self._length is None else self._length - offset
        found = self._read(padded) if padded <= left else b""
        if len(found) < padded:
            got = max(left, 0) if padded > left else len(found)
            self._fail(f"{nbytes} bytes of {what}", offset, f"{got}; the archive is truncated")
        return found if padded == nbytes else found[:nbytes]

    def _extension(self, header: _Header) -> bytes:
        if header.nbytes > _MAX_EXTENSION_NBYTES:
            self._fail(
                f"an extended header of up to {_MAX_EXTENSION_NBYTES} bytes",
                header.offset,
                f"{header.nbytes}",
            )
        return self._content(header.nbytes, "an extended header")

    def _records(self, content: bytes, header: _Header) -> dict[bytes, bytes]:
        """Return the records of a pax header, ``length name=value`` and a line break each."""
        records = {}
        at = 0
        while at < len(content):
            digits = content[at : at + 20].partition(b" ")[0]
            end = at + int(digits) if digits.isdigit() else -1
            name, equals, value = content[at + len(digits) + 1 : end - 1].partition(b"=")
            if not at < end <= len(content) or content[end - 1 : end] != b"\n" or not equals:
                got = repr(content[at : at + 40])
                self._fail("a pax record", header.offset + BLOCK_NBYTES + at, got)
            records[name] = value
            at = end
        return records

    def _nbytes(self, records: dict[bytes, bytes], header: _Header) -> int:
        size = records.get(b"size")
        if size is None:
            return header.nbytes
        if not size.isdigit() or len(size) > 20:
            self._fail("a size in the pax records of a member", header.offset, repr(size[:40]))
        return int(size)

    def _member_name(self, name: bytes, header: _Header) -> str:
        try:
            text = name.decode("utf-8")
        except UnicodeDecodeError:
            self._fail("the name of a member in UTF-8", header.offset, repr(name[:80]))
        folders = text.replace("\\", "/").split("/")
        if not text or "\0" in text or not folders[0] or ".." in folders or _is_drive(folders[0]):
            got = f"{text!r:.200}, which is outside" if text else "an empty name"
            self._fail("a member inside the archive", header.offset, got)
        return text

    def _check_kind(self, name: str, header: _Header, records: dict[bytes, bytes]) -> None:
        sparse = any(record.startswith(b"GNU.sparse.") for record in records)
        if header.kind in (*_REGULAR, _FOLDER) and not sparse:
            return
        kind = _REFUSED.get(b"S" if sparse else header.kind, f"of type {header.kind!r}")
        self._fail("regular files only", header.offset, f"{name!r:.200}, which is {kind}")


def _is_drive(folder: str) -> bool:
    """Whether the first folder of a path is a drive of Windows."""
    return len(folder) == 2 and folder[1] == ":" and folder[0].isalpha()


def _has_checksum(block: bytes) -> bool:
    # The checksum counts itself as eight spaces.
    return _number(block[148:156]) == sum(block) - sum(block[148:156]) + 8 * ord(" ")


def _number(field: bytes) -> int | None:
    """Return a number in octal digits, or binary in GNU's form; None if it is neither."""
    if field[:1] and field[0] == _BINARY:
        return int.from_bytes(field[1:], "big")
    found = _OCTAL.fullmatch(field.partition(b"\0")[0])
    if found is None:
        return None
    return int(found[1], 8) if found[1] else 0


def _described(block: bytes) -> str:
    """Describe the beginning of a file that is not a tar archive."""
    if not block:
        return "an empty file"
    for head, kind in _COMPRESSED.items():
        if block.startswith(head):
            return f"a file compressed by {kind}; uncompress it"
    return f"{block[:16]!r}"
