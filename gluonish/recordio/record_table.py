"""Records by offset: found without an index, and read from any thread."""

import os
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import FileFormatError, GluonishError
from gluonish.core.files import local_path, open_to_read
from gluonish.core.object_repr import default_repr
from gluonish.recordio.framing import (
    HEAD_NBYTES,
    LAST,
    MAGIC_BYTES,
    PART_LIMIT,
    WHOLE,
    Cursor,
    check_part_fits,
    parse_header,
    read_at,
    read_record,
)
from gluonish.recordio.record_file import RecordBuffer

_CHUNK_NBYTES = 1 << 20
_WINDOW_NBYTES = 1 << 16
_SMALL_NBYTES = 1 << 12

Int64Array = np.ndarray[Any, np.dtype[np.int64]]


class RecordTable(NamedTuple):
    """Offsets and lengths of the records of a file.

    Attributes:
        offsets: Offset in bytes at which each record begins, ascending; int64 (records,).
        lengths: Length in bytes of each record's content, int64 (records,).
    """

    offsets: Int64Array
    lengths: Int64Array


class Damage(NamedTuple):
    """A range of a file that is not part of a record.

    Attributes:
        start: Offset of the range's first byte.
        end: Offset after the range's last byte.
        problem: Why no record begins at ``start``.
    """

    start: int
    end: int
    problem: str


def _table(offsets: "array[int]", lengths: "array[int]") -> RecordTable:
    return RecordTable(np.array(offsets, np.int64), np.array(lengths, np.int64))


class RecordFile:
    """A record file read by offset; thread-safe.

    Reads are positional, so that no lock is needed, and they release the GIL. Use the file in a
    ``with`` block, or close it.

    Args:
        path: Path of the file.

    Attributes:
        path: The argument.

    Raises:
        MissingFileError: The file does not exist.
    """

    __repr__ = default_repr

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = local_path(path, "RecordFile")
        self._file = open_to_read(self.path, "RecordFile")

    def __enter__(self) -> "RecordFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._file.close()

    @property
    def nbytes(self) -> int:
        """Current size of the file in bytes."""
        return os.fstat(self._descriptor()).st_size

    def read(self, offset: int) -> bytes:
        """Read the record at an offset.

        Args:
            offset: Offset in bytes, from `scan` or an index.

        Raises:
            FileFormatError: No record begins there, or the record is truncated.
            GluonishError: The file is closed.
        """
        record = read_record(self._cursor(offset), self.path)
        if record is None:
            raise FileFormatError(
                f"RecordFile: expected a record at byte {offset} of {self.path}, got the end of "
                "the file"
            )
        return record

    def read_start(self, offset: int, nbytes: int) -> bytes:
        """Read the first bytes of the record at an offset.

        Args:
            offset: Offset in bytes, from `scan` or an index.
            nbytes: Number of bytes.

        Returns:
            ``nbytes`` bytes; fewer if the record is shorter; the complete record if it has several
            parts.

        Raises:
            FileFormatError: No record begins there, or it is truncated within these bytes.
            GluonishError: The file is closed.
        """
        found = self._read_at(HEAD_NBYTES + nbytes, offset)
        kind, length = parse_header(found[:HEAD_NBYTES], self.path, offset, offset)
        start = found[HEAD_NBYTES : HEAD_NBYTES + length]
        if kind != WHOLE or len(start) < min(nbytes, length):
            return self.read(offset)
        return start

    def read_into(self, buffer: RecordBuffer, offset: int) -> memoryview:
        """Read the record at an offset into reused memory; see `RecordBuffer.read`.

        Args:
            buffer: Memory to read into.
            offset: Offset in bytes, from `scan` or an index.
        """
        return buffer.read(self._descriptor(), offset, lambda: self.read(offset))

    def scan(self) -> RecordTable:
        """Find all records; reads only their headers.

        Raises:
            FileFormatError: The file is truncated or damaged; names the offset in bytes.
        """
        offsets, lengths = array("q"), array("q")
        file_nbytes = self.nbytes
        read = self._read_at
        window, window_start, length = b"", 0, 0
        start = 0
        while start < file_nbytes:
            at = start - window_start
            head = window[at : at + HEAD_NBYTES]
            if len(head) < HEAD_NBYTES:
                # Read many small records at once, or the header of a large one.
                nbytes = _WINDOW_NBYTES if length < _SMALL_NBYTES else HEAD_NBYTES
                window, window_start = read(nbytes, start), start
                head = window[:HEAD_NBYTES]
            offsets.append(start)
            # Most records have one part; only the 29 bits of the length are set.
            length = int.from_bytes(head[4:], "little")
            end = start + HEAD_NBYTES + (length + 3 & -4)
            if head[:4] == MAGIC_BYTES and length < PART_LIMIT and end <= file_nbytes:
                start = end
            else:
                length, start = self.extent(start, file_nbytes)
            lengths.append(length)
        return _table(offsets, lengths)

    def extent(
        self, start: int, file_nbytes: int, dead_ends: set[int] | None = None
    ) -> tuple[int, int]:
        """Return a record's length and the offset of its end; reads only the headers of its parts.

        Args:
            start: Offset in bytes at which the record begins.
            file_nbytes: Size of the file in bytes.
            dead_ends: Offsets of later parts that do not lead to the end of a record; visited
                offsets are added.

        Raises:
            FileFormatError: No record begins there, or the record is truncated.
        """
        read, path = self._read_at, self.path
        kind, length = parse_header(read(HEAD_NBYTES, start), path, start, start)
        end = check_part_fits(path, start, length, file_nbytes)
        if kind == WHOLE:
            return length, end
        while kind != LAST:
            if dead_ends is not None:
                if end in dead_ends:
                    raise FileFormatError(
                        f"RecordFile: expected the last part of the record at byte {start} of "
                        f"{path}, got none"
                    )
                dead_ends.add(end)
            kind, piece = parse_header(read(HEAD_NBYTES, end), path, end, start)
            end = check_part_fits(path, end, piece, file_nbytes)
            length += len(MAGIC_BYTES) + piece
        return length, end

    def _descriptor(self) -> int:
        if self._file.closed:
            raise GluonishError(f"RecordFile: expected an open file, got {self.path}, closed")
        return self._file.fileno()

    def _cursor(self, position: int) -> Cursor:
        self._descriptor()
        return Cursor(self._file, position)

    def _read_at(self, size: int, offset: int) -> bytes:
        self._descriptor()
        return read_at(self._file, size, offset)


def scan(path: str | os.PathLike[str]) -> RecordTable:
    """Find all records of a file without an index; see `RecordFile.scan`.

    Args:
        path: Path of the file.

    Returns:
        The offsets and the lengths of the records, int64 arrays.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: The file is truncated or damaged; names the offset in bytes.
    """
    with RecordFile(path) as file:
        return file.scan()


def survey(path: str | os.PathLike[str]) -> tuple[RecordTable, list[Damage]]:
    """Find the intact records and the damaged ranges of a file.

    After a damaged range the search continues at the next magic number of an intact record.

    Args:
        path: Path of the file.

    Returns:
        The intact records, and the damaged ranges between them, both in ascending order.

    Raises:
        MissingFileError: The file does not exist.
    """
    offsets, lengths = array("q"), array("q")
    damages: list[Damage] = []
    with RecordFile(path) as file:
        file_nbytes = file.nbytes
        start = 0
        while start < file_nbytes:
            try:
                length, end = file.extent(start, file_nbytes)
            except FileFormatError as error:
                end = _next_record(file, start + 1, file_nbytes)
                damages.append(Damage(start, end, str(error)))
            else:
                offsets.append(start)
                lengths.append(length)
            start = end
    return _table(offsets, lengths), damages


def _next_record(file: RecordFile, offset: int, file_nbytes: int) -> int:
    """Return the offset of the next intact record, or the size of the file."""
    # Parts that do not lead to the end of a record need not be followed again.
    dead_ends: set[int] = set()
    for mark in _magic_offsets(file, offset):
        try:
            file.extent(mark, file_nbytes, dead_ends)
        except FileFormatError:
            continue
        return mark
    return file_nbytes


def _magic_offsets(file: RecordFile, offset: int) -> Iterator[int]:
    """Yield the offsets, multiples of 4, of all magic numbers from an offset on."""
    offset += -offset % 4
    chunk = file._read_at(_CHUNK_NBYTES, offset)
    while chunk:
        found = chunk.find(MAGIC_BYTES)
        while found >= 0:
            if not found % 4:
                yield offset + found
            found = chunk.find(MAGIC_BYTES, found + 1)
        # Magic numbers and chunks are aligned, so that no chunk splits one.
        offset += len(chunk)
        chunk = file._read_at(_CHUNK_NBYTES, offset) if not len(chunk) % 4 else b""
