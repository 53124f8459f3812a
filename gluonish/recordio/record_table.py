"""Records by their place in the file: found without an index, and read from any thread."""

import os
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import FileFormatError, GluonishError
from gluonish.core.files import local_path, open_to_read
from gluonish.recordio.framing import (
    HEAD_NBYTES,
    LAST,
    MARK_BYTES,
    PART_LIMIT,
    WHOLE,
    check_part_fits,
    part_of,
    read_record,
)
from gluonish.recordio.positioned import Cursor, read_at
from gluonish.recordio.record_buffer import RecordBuffer

__all__ = ["Damage", "RecordFile", "RecordTable", "scan", "survey"]

_CHUNK_NBYTES = 1 << 20
_WINDOW_NBYTES = 1 << 16
_SMALL_NBYTES = 1 << 12
# Windows has none.

Int64Array = np.ndarray[Any, np.dtype[np.int64]]


class RecordTable(NamedTuple):
    """Where the records of a file are.

    Attributes:
        offsets: The byte at which each record's first part begins, ascending; int64.
        lengths: How many bytes each record has, as `RecordFile.read` returns it; int64.
    """

    offsets: Int64Array
    lengths: Int64Array


class Damage(NamedTuple):
    """A place of a file that is in no record.

    Attributes:
        start: Its first byte.
        end: The byte behind its last.
        problem: Why no record begins there.
    """

    start: int
    end: int
    problem: str


def _table(offsets: "array[int]", lengths: "array[int]") -> RecordTable:
    return RecordTable(np.array(offsets, np.int64), np.array(lengths, np.int64))


class RecordFile:
    """A record file whose records are read by where they begin, by any number of threads at once.

    Each read has a position of its own, so that no lock is needed; the interpreter's lock is free
    while the system reads. Use it in a ``with`` block, or close it.

    Args:
        path: The file.

    Attributes:
        path: As given.

    Raises:
        MissingFileError: There is no such file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = local_path(path, "RecordFile")
        self._file = open_to_read(self.path, "RecordFile")

    def __enter__(self) -> "RecordFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Closing twice does nothing."""
        self._file.close()

    @property
    def nbytes(self) -> int:
        """The file's size now, in bytes."""
        return os.fstat(self._descriptor()).st_size

    def read(self, offset: int) -> bytes:
        """Return the record that begins at a byte.

        Args:
            offset: The byte, as `scan` or an index tells it.

        Raises:
            FileFormatError: No record begins there, or it is cut off.
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
        """Return the first bytes of the record that begins at a byte, mostly without the rest.

        Args:
            offset: The byte, as `scan` or an index tells it.
            nbytes: How many.

        Returns:
            So many bytes, fewer of a shorter record, and all of one that is stored in parts.

        Raises:
            FileFormatError: No record begins there, or it is cut off before so many bytes.
            GluonishError: The file is closed.
        """
        found = self._read_at(HEAD_NBYTES + nbytes, offset)
        kind, length = part_of(found[:HEAD_NBYTES], self.path, offset, offset)
        start = found[HEAD_NBYTES : HEAD_NBYTES + length]
        if kind != WHOLE or len(start) < min(nbytes, length):
            return self.read(offset)
        return start

    def read_into(self, buffer: RecordBuffer, offset: int) -> memoryview:
        """Do as `read`, faster where many records are read; see `RecordBuffer.read`."""
        return buffer.read(self._descriptor(), offset, lambda: self.read(offset))

    def scan(self) -> RecordTable:
        """Return where all records are; reads no more than their heads.

        Raises:
            FileFormatError: The file is cut off or damaged; names the byte.
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
                # Many small records come at once; of large ones only the head.
                nbytes = _WINDOW_NBYTES if length < _SMALL_NBYTES else HEAD_NBYTES
                window, window_start = read(nbytes, start), start
                head = window[:HEAD_NBYTES]
            offsets.append(start)
            # Most records are one part, the 29 bits of whose length are all that is set.
            length = int.from_bytes(head[4:], "little")
            end = start + HEAD_NBYTES + (length + 3 & -4)
            if head[:4] == MARK_BYTES and length < PART_LIMIT and end <= file_nbytes:
                start = end
            else:
                length, start = self.extent(start, file_nbytes)
            lengths.append(length)
        return _table(offsets, lengths)

    def extent(
        self, start: int, file_nbytes: int, dead_ends: set[int] | None = None
    ) -> tuple[int, int]:
        """Return a record's length and where it ends in the file; reads only the heads of parts.

        Args:
            start: The byte at which it begins.
            file_nbytes: The size of the file in bytes.
            dead_ends: Later parts that are known to lead to no end; gets those that are met.

        Raises:
            FileFormatError: No record begins there, or it is cut off.
        """
        read, path = self._read_at, self.path
        kind, length = part_of(read(HEAD_NBYTES, start), path, start, start)
        end = check_part_fits(path, start, length, file_nbytes)
        if kind == WHOLE:
            return length, end
        while kind != LAST:
            if dead_ends is not None:
                if end in dead_ends:
                    raise FileFormatError(f"RecordFile: expected an end of {start} in {path}")
                dead_ends.add(end)
            kind, piece = part_of(read(HEAD_NBYTES, end), path, end, start)
            end = check_part_fits(path, end, piece, file_nbytes)
            length += len(MARK_BYTES) + piece
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
    """Return where all records of a file are, without an index; see `RecordFile.scan`.

    Args:
        path: The file.

    Returns:
        The offsets and the lengths of the records, int64 arrays.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: It is cut off or damaged; names the byte.
    """
    with RecordFile(path) as file:
        return file.scan()


def survey(path: str | os.PathLike[str]) -> tuple[RecordTable, list[Damage]]:
    """Return where the records of a file are that may be damaged, and where it is.

    Behind a damaged place the next record begins at the next mark from which one can be read.

    Args:
        path: The file.

    Returns:
        The whole records, and the places between them, both in ascending order.

    Raises:
        MissingFileError: There is no such file.
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
    """Return where the next whole record begins, or the size of the file where there is none."""
    # Parts from which no end is reached: what leads to one of them need not be followed again.
    dead_ends: set[int] = set()
    for mark in _marks(file, offset):
        try:
            file.extent(mark, file_nbytes, dead_ends)
        except FileFormatError:
            continue
        return mark
    return file_nbytes


def _marks(file: RecordFile, offset: int) -> Iterator[int]:
    """Give all bytes from one on at which there is a mark; they are multiples of 4."""
    offset += -offset % 4
    chunk = file._read_at(_CHUNK_NBYTES, offset)
    while chunk:
        found = chunk.find(MARK_BYTES)
        while found >= 0:
            if not found % 4:
                yield offset + found
            found = chunk.find(MARK_BYTES, found + 1)
        # Marks are aligned, and so are chunks: none lies across two.
        offset += len(chunk)
        chunk = file._read_at(_CHUNK_NBYTES, offset) if not len(chunk) % 4 else b""
