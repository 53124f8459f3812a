"""Indices of record files: a line of text for each record, with its key, a tab and its offset.

The offset is the byte of the record file at which the record begins.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import atomic_write, open_to_read, written_together
from gluonish.recordio.framing import frame

__all__ = ["RecordPair", "check_key", "index_line", "make_key", "new_record_pair", "read_index"]

# Of 2^63, which no file is larger than; an int of any length would take its time.
_MAX_DIGITS = 19
_LARGEST_OFFSET = (1 << 63) - 1


def read_index(
    path: str | os.PathLike[str], reader: str, key_type: Callable[[Any], Any] = int
) -> Iterator[tuple[Any, int]]:
    """Give key and offset of each line of an index.

    Args:
        path: The index.
        reader: What wants to read it, to begin an error message with.
        key_type: Makes keys of text.

    Raises:
        MissingFileError: There is no such file.
        FileFormatError: A line is none, or its key is none for ``key_type``; names the line and the
            byte at which it begins.
    """
    name = os.fspath(path)
    with open_to_read(path, reader) as file:
        at = 0
        for number, line in enumerate(file, 1):
            start, at = at, at + len(line)
            if not line.strip():
                continue
            place = f"line {number} of {name} (byte {start})"
            key, tab, offset = line.partition(b"\t")
            digits = offset.strip()
            offset_ok = digits.isdigit() and len(digits) <= _MAX_DIGITS
            if not tab or not offset_ok or int(digits) > _LARGEST_OFFSET:
                raise FileFormatError(
                    f"{reader}: expected key, tab and offset on {place}, got {line!r:.80}"
                )
            try:
                made = make_key(key.decode("utf-8", "surrogateescape"), key_type, reader)
            except ArgumentError as error:
                raise FileFormatError(f"{error}, on {place}") from error
            yield made, int(digits)


def make_key(key: Any, key_type: Callable[[Any], Any], reader: str) -> Any:
    """Return a key of its type.

    Raises:
        ArgumentError: It is none.
    """
    try:
        return key_type(key)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"{reader}: expected a key for {key_type!r}, got {key!r:.80} ({error!s:.80}); give "
            "key_type=str for others"
        ) from error


def check_key(key: Any, writer: str) -> None:
    """Refuse a key that would break the lines of an index.

    Raises:
        ArgumentError: It has a tab or a line break.
    """
    if any(mark in str(key) for mark in "\t\r\n"):
        raise ArgumentError(f"{writer}: expected a key without tabs and line breaks, got {key!r}")


def index_line(key: Any, offset: int) -> bytes:
    """Return the line of a record."""
    return f"{key}\t{offset}\n".encode("utf-8", "surrogateescape")


class RecordPair:
    """A new record file and its index, written together; made by `new_record_pair`.

    Attributes:
        count: How many records there are so far.
        nbytes: How many bytes they take in the file.
    """

    def __init__(self, records: BinaryIO, index: BinaryIO) -> None:
        self._records = records
        self._index = index
        self.count = 0
        self.nbytes = 0

    def write(self, key: Any, record: bytes) -> None:
        """Append a record.

        Args:
            key: Of the index.
            record: Its bytes, fewer than 2^29.

        Raises:
            ArgumentError: The key has a tab or a line break, or the record is too long; nothing is
                written then.
        """
        check_key(key, "RecordPair.write")
        framed = frame(record)
        self._records.write(framed)
        self._index.write(index_line(key, self.nbytes))
        self.nbytes += len(framed)
        self.count += 1


@contextmanager
def new_record_pair(
    records: str | os.PathLike[str], index: str | os.PathLike[str]
) -> Iterator[RecordPair]:
    """Give a writer of a record file and its index, which take their names when the block succeeds.

    On an error both files are as they were. There is never an index beside records that it is not
    of: between the moments at which the two take their names there is none.

    Args:
        records: Path of the record file.
        index: Path of the index.

    Raises:
        MissingFileError: A folder is missing.
        FolderPathError: A path is that of a folder.
        OSError: A folder is closed to us, or the disk is full.
    """
    with (
        written_together(index, records),
        atomic_write(records) as record_file,
        atomic_write(index) as index_file,
    ):
        yield RecordPair(record_file, index_file)
