"""How records lie in a file: each in parts, and each part behind a mark and its length.

A part is a mark, a word with the part's kind in the upper 3 bits and its length in bytes in the
others, the bytes, and zeros up to a multiple of 4. A record is one part unless it holds the mark
itself at a multiple of 4; there it is cut, and the mark left out.
"""

import struct
from typing import BinaryIO

from gluonish.core.errors import ArgumentError, FileFormatError

__all__ = ["frame", "read_record"]

_MARK = 0xCED7230A
_MARK_BYTES = struct.pack("<I", _MARK)
_HEAD = struct.Struct("<II")
_LENGTH_BITS = 29
_LENGTH_MASK = (1 << _LENGTH_BITS) - 1
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)


def frame(record: bytes) -> bytes:
    """Return a record as it lies in a file.

    Raises:
        ArgumentError: It has 2^29 bytes or more.
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
            kind = _WHOLE
        elif i == 0:
            kind = _FIRST
        else:
            kind = _LAST if i == last else _MIDDLE
        parts.append(_HEAD.pack(_MARK, kind << _LENGTH_BITS | len(piece)))
        parts.append(piece)
        parts.append(bytes(-len(piece) % 4))
    return b"".join(parts)


def _pieces(record: bytes) -> list[bytes]:
    """Return what lies between the marks that a record holds at multiples of 4."""
    pieces = []
    start = 0
    found = record.find(_MARK_BYTES)
    while found >= 0:
        if found % 4:
            found = record.find(_MARK_BYTES, found + 1)
            continue
        pieces.append(record[start:found])
        start = found + 4
        found = record.find(_MARK_BYTES, start)
    pieces.append(record[start:])
    return pieces


def read_record(file: BinaryIO, path: str) -> bytes | None:
    """Return the record at a file's position, or None at its end.

    Args:
        file: Open for reading.
        path: Its name, for errors.

    Raises:
        FileFormatError: There is no record, or it is cut off.
    """
    start = file.tell()
    head = file.read(_HEAD.size)
    if not head:
        return None
    kind, piece = _read_part(file, path, start, head)
    if kind == _WHOLE:
        return piece
    if kind != _FIRST:
        raise _broken(path, start, "the first part of a record", f"a later one (kind {kind})")
    pieces = [piece]
    while kind != _LAST:
        at = file.tell()
        kind, piece = _read_part(file, path, at, file.read(_HEAD.size))
        if kind not in (_MIDDLE, _LAST):
            raise _broken(path, at, f"the next part of the record at byte {start}", f"kind {kind}")
        pieces.append(piece)
    return _MARK_BYTES.join(pieces)


def _read_part(file: BinaryIO, path: str, start: int, head: bytes) -> tuple[int, bytes]:
    if len(head) < _HEAD.size:
        raise _broken(path, start, "8 bytes of a record's head", f"the end after {len(head)}")
    mark, word = _HEAD.unpack(head)
    if mark != _MARK:
        raise _broken(path, start, f"the mark {_MARK:#x} of a record", f"{mark:#x}")
    length = word & _LENGTH_MASK
    padded = length + -length % 4
    content = file.read(padded)
    if len(content) < padded:
        raise _broken(
            path, start, f"a part of {padded} bytes", f"the end of the file after {len(content)}"
        )
    return word >> _LENGTH_BITS, content[:length]


def _broken(path: str, at: int, expected: str, got: str) -> FileFormatError:
    return FileFormatError(
        f"MXRecordIO: expected {expected} at byte {at} of {path}, got {got}; the file is damaged, "
        "or no record starts there"
    )
