"""Framing of records, and positional reads.

A part is a magic number, a word with the part's kind in the upper 3 bits and its length in bytes in
the others, the bytes, and zeros up to a multiple of 4. A record is one part unless it contains the
magic number at a multiple of 4; there it is split, and the magic number left out.

Reads must be safe against other threads, and against signal handlers that interrupt a read.
"""

import os
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Protocol

from gluonish.core import file_kind
from gluonish.core.errors import ArgumentError, FileFormatError

_MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", _MAGIC)
_HEAD = struct.Struct("<II")
HEAD_NBYTES = _HEAD.size
_LENGTH_BITS = 29
PART_LIMIT = 1 << _LENGTH_BITS
_LENGTH_MASK = PART_LIMIT - 1
WHOLE, FIRST, MIDDLE, LAST = range(4)
# Parts up to this size are read without checking the size of the file, which costs more than the
# allocation.
_UNCHECKED_NBYTES = 1 << 16


class RecordSource(Protocol):
    """An open file with a read position."""

    def read(self, size: int, /) -> bytes:
        """Return the next ``size`` bytes; fewer at the end of the file."""
        ...

    def tell(self) -> int:
        """Return the read position in bytes."""
        ...

    def fileno(self) -> int:
        """Return the file descriptor."""
        ...


def frame(record: bytes) -> bytes:
    """Frame a record: add header and padding.

    Args:
        record: Content of the record.

    Raises:
        ArgumentError: The record has 2^29 bytes or more.
    """
    if len(record) > _LENGTH_MASK:
        raise ArgumentError(
            f"MXRecordIO.write: expected a record below {_LENGTH_MASK + 1} bytes, got {len(record)}"
        )
    pieces = _pieces(record)
    last = len(pieces) - 1
    parts = []
    for i, piece in enumerate(pieces):
        if not last:
            kind = WHOLE
        elif i == 0:
            kind = FIRST
        else:
            kind = LAST if i == last else MIDDLE
        parts.append(_HEAD.pack(_MAGIC, kind << _LENGTH_BITS | len(piece)))
        parts.append(piece)
        parts.append(bytes(-len(piece) % 4))
    return b"".join(parts)


def _pieces(record: bytes) -> list[bytes]:
    """Split a record at each magic number whose offset is a multiple of 4."""
    pieces = []
    start = 0
    found = record.find(MAGIC_BYTES)
    while found >= 0:
        if found % 4:
            found = record.find(MAGIC_BYTES, found + 1)
            continue
        pieces.append(record[start:found])
        start = found + 4
        found = record.find(MAGIC_BYTES, start)
    pieces.append(record[start:])
    return pieces


def read_record(file: RecordSource, path: str) -> bytes | None:
    """Return the record at a file's read position, or None at the end of the file.

    Args:
        file: File opened for reading.
        path: Path of the file, for error messages.

    Raises:
        FileFormatError: No record begins there, or the record is truncated. At most the size of the
            file is allocated.
    """
    start = file.tell()
    head = file.read(HEAD_NBYTES)
    if not head:
        return None
    kind, length = parse_header(head, path, start, start)
    piece = _read_part(file, path, start, length)
    if kind == WHOLE:
        return piece
    pieces = [piece]
    while kind != LAST:
        at = file.tell()
        kind, length = parse_header(file.read(HEAD_NBYTES), path, at, start)
        pieces.append(_read_part(file, path, at, length))
    return MAGIC_BYTES.join(pieces)


def _kind_of_file(path: str, head: bytes) -> str:
    with suppress(OSError), open(path, "rb") as file:
        head = file.read(file_kind.HEAD_NBYTES)
    return file_kind.found_text(head)


def parse_header(head: bytes, path: str, at: int, start: int) -> tuple[int, int]:
    """Parse the header of a part of a record; return its kind and length in bytes.

    Args:
        head: Bytes of the header.
        path: Path of the file, for error messages.
        at: Offset in bytes at which the part begins.
        start: Offset at which the record begins; a first or single part must begin there.

    Raises:
        FileFormatError: The header is invalid, or a part of this kind cannot be at this offset.
    """
    if len(head) < HEAD_NBYTES:
        raise _broken(
            path, at, "the 8 bytes of a record's header", f"the end of the file after {len(head)}"
        )
    magic, word = _HEAD.unpack(head)
    if magic != _MAGIC:
        found = f"{magic:#x}" if at else _kind_of_file(path, head)
        raise _broken(path, at, f"the magic number {_MAGIC:#x} of a record", found)
    kind = word >> _LENGTH_BITS
    if at == start:
        if kind not in (WHOLE, FIRST):
            raise _broken(path, at, "the first part of a record", f"a later one (kind {kind})")
    elif kind not in (MIDDLE, LAST):
        raise _broken(path, at, f"the next part of the record at byte {start}", f"kind {kind}")
    return kind, word & _LENGTH_MASK


def check_part_fits(path: str, at: int, length: int, file_nbytes: int) -> int:
    """Check that a part fits the file; return the offset of its end, including padding.

    Args:
        path: Path of the file, for error messages.
        at: Offset in bytes at which the part begins.
        length: Length of the part's content in bytes.
        file_nbytes: Size of the file in bytes.

    Raises:
        FileFormatError: The file ends before the part does.
    """
    padded = length + -length % 4
    end = at + HEAD_NBYTES + padded
    if end > file_nbytes:
        found = max(0, file_nbytes - at - HEAD_NBYTES)
        raise _broken(path, at, f"a part of {padded} bytes", f"the end of the file after {found}")
    return end


def _read_part(file: RecordSource, path: str, at: int, length: int) -> bytes:
    padded = length + -length % 4
    if padded > _UNCHECKED_NBYTES:
        check_part_fits(path, at, length, os.fstat(file.fileno()).st_size)
    content = file.read(padded)
    if len(content) < padded:
        check_part_fits(path, at, length, at + HEAD_NBYTES + len(content))
    return content if padded == length else content[:length]


def _broken(path: str, at: int, expected: str, got: str) -> FileFormatError:
    return FileFormatError(
        f"MXRecordIO: expected {expected} at byte {at} of {path}, got {got}; the file is damaged, "
        "or no record starts there"
    )


_PREAD: Callable[[int, int, int], bytes] | None = getattr(os, "pread", None)
# Serializes reads where the system has no pread.
_seeking = threading.RLock()


class Cursor:
    """A read position in an open file, independent of the file's position.

    Args:
        file: File opened for reading.
        position: Initial position in bytes.
    """

    __slots__ = ("_file", "_position")

    def __init__(self, file: BinaryIO, position: int) -> None:
        self._file = file
        self._position = position

    def read(self, size: int, /) -> bytes:
        """Return the next ``size`` bytes; fewer at the end of the file."""
        found = read_at(self._file, size, self._position)
        self._position += len(found)
        return found

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._position

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._file.fileno()


def read_at(file: BinaryIO, size: int, position: int) -> bytes:
    """Read bytes at a position; fewer at the end of the file.

    Args:
        file: File opened for reading.
        size: Number of bytes.
        position: Position of the first byte.
    """
    if _PREAD is not None:
        return _PREAD(file.fileno(), size, position)
    while True:
        with _seeking:
            file.seek(position)
            found = file.read(size)
            if file.tell() == position + len(found):  # else a signal handler changed the position
                return found
