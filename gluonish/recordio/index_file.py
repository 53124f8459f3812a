"""Indices of record files: a line for each record, with its key, a tab and its byte offset."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import atomic_write, open_to_read, path_text, written_together
from gluonish.recordio.framing import frame

# Digits of 2^63, the largest file; longer integers would be slow to parse.
_MAX_DIGITS = 19
_LARGEST_OFFSET = (1 << 63) - 1


def read_index(
    path: str | os.PathLike[str], reader: str, key_type: Callable[[Any], Any] = int
) -> Iterator[tuple[Any, int]]:
    """Yield the key and the offset of each line of an index file.

    Args:
        path: Path of the index file.
        reader: Class name of the reader, for error messages.
        key_type: Converts the text of a key, such as ``int``.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: A line is invalid, or ``key_type`` rejects its key; names the line and its
            offset in bytes.
    """
    name = path_text(path, "MXIndexedRecordIO")
    with open_to_read(path, reader) as file:
        at = 0
        for number, line in enumerate(file, 1):
            start, at = at, at + len(line)
            if not line.strip():
                continue
            position = f"line {number} of {name} (byte {start})"
            key, tab, offset = line.partition(b"\t")
            digits = offset.strip()
            offset_ok = digits.isdigit() and len(digits) <= _MAX_DIGITS
            if not tab or not offset_ok or int(digits) > _LARGEST_OFFSET:
                raise FileFormatError(
                    f"{reader}: expected key, tab and offset on {position}, got {line!r:.80}"
                )
            try:
                made = make_key(key.decode("utf-8", "surrogateescape"), key_type, reader)
            except ArgumentError as error:
                raise FileFormatError(f"{error}, on {position}") from error
            yield made, int(digits)


def make_key(key: Any, key_type: Callable[[Any], Any], reader: str) -> Any:
    """Convert a key by ``key_type``.

    Args:
        key: Text or value of the key.
        key_type: Converts the key, such as ``int``.
        reader: Class name of the reader, for error messages.

    Raises:
        ArgumentError: ``key_type`` rejects the key.
    """
    try:
        return key_type(key)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"{reader}: expected a key for {key_type!r}, got {key!r:.80} ({error!s:.80}); pass "
            "key_type=str for any text"
        ) from error


def check_key(key: Any, writer: str) -> None:
    """Check that a key can be written to an index file.

    Args:
        key: The key.
        writer: Class name of the writer, for error messages.

    Raises:
        ArgumentError: The key contains a tab or a line break.
    """
    if any(mark in str(key) for mark in "\t\r\n"):
        raise ArgumentError(f"{writer}: expected a key without tabs and line breaks, got {key!r}")


def index_line(key: Any, offset: int) -> bytes:
    """Format the line of an index file for one record.

    Args:
        key: Key of the record.
        offset: Offset in bytes at which the record begins.
    """
    return f"{key}\t{offset}\n".encode("utf-8", "surrogateescape")


class RecordPair:
    """Writes a new record file and its index together; created by `new_record_pair`.

    Attributes:
        count: Number of records written so far.
        nbytes: Size of the record file so far, in bytes.
    """

    def __init__(self, records: BinaryIO, index: BinaryIO) -> None:
        self._records = records
        self._index = index
        self.count = 0
        self.nbytes = 0

    def write(self, key: Any, record: bytes) -> None:
        """Append a record.

        Args:
            key: Key of the record in the index.
            record: Content of the record, less than 2^29 bytes.

        Raises:
            ArgumentError: The key contains a tab or a line break, or the record is too long;
                nothing is written.
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
    """Context manager that yields a `RecordPair`; the files appear when the block succeeds.

    If the block raises, existing files at these paths are unchanged. An index never accompanies a
    record file other than its own: while the files are replaced, there is no index.

    Args:
        records: Path of the record file.
        index: Path of the index file.

    Raises:
        MissingFileError: A folder does not exist.
        FolderPathError: A path names a folder.
        OSError: A folder is not writable, or the disk is full.
    """
    with (
        written_together(index, records),
        atomic_write(records) as record_file,
        atomic_write(index) as index_file,
    ):
        yield RecordPair(record_file, index_file)
