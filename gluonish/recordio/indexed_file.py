"""MXIndexedRecordIO: a file of records with keys, read in any order."""

import os
from collections.abc import Callable
from typing import Any, BinaryIO

from gluonish.core.errors import FileFormatError, OutOfBoundsError
from gluonish.core.finalizer import Kept, cancel
from gluonish.recordio.framing import read_record
from gluonish.recordio.index_file import check_key, index_line, make_key, read_index
from gluonish.recordio.positioned import Cursor
from gluonish.recordio.record_file import MXRecordIO, close_with, open_to_write

__all__ = ["MXIndexedRecordIO"]


class MXIndexedRecordIO(MXRecordIO):
    """A file of records that have keys, and beside it a text file with where each record begins.

    Several threads may call `read_idx`. See `MXRecordIO` for forks and other processes.

    Args:
        idx_path: Path of the index: a line with key, tab and byte offset for each record.
        uri: Path of the record file.
        flag: ``"r"`` to read both, ``"w"`` to write new ones.
        key_type: Makes keys of text, and of what `write_idx` gets.

    Attributes:
        idx: The byte offset of each key's record; of a key's last one where it has several.
        keys: The keys in the order of the index.
        idx_path: As given.
        key_type: As given.
        fidx: The open index of a writer, or None.

    Raises:
        ArgumentError: ``flag`` is another.
        MissingFileError: A file or its folder does not exist.
        FileFormatError: The index holds a line that is none.
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        self.idx_path = os.fspath(idx_path)
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        self.fidx: BinaryIO | None = None
        self._kept_index: Kept | None = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Open both files: to read, with all keys; to write, new and empty ones.

        Raises:
            MissingFileError: A file or its folder does not exist.
            FileFormatError: The index holds a line that is none.
        """
        self.idx = {}
        self.keys = []
        if not self.writable:
            self._read_index()
        super().open()
        if self.writable:
            index = open_to_write(self.idx_path, type(self).__name__)
            self._kept_index = close_with(self, index)
            self.fidx = index

    def _read_index(self) -> None:
        for key, offset in read_index(self.idx_path, type(self).__name__, self.key_type):
            self._add(key, offset)

    def _add(self, key: Any, offset: int) -> None:
        self.idx[key] = offset
        self.keys.append(key)

    def close(self) -> None:
        """Close both files. Closing twice does nothing."""
        index, kept = self.fidx, self._kept_index
        self.fidx = self._kept_index = None
        try:
            super().close()
        finally:
            if index is not None:
                index.close()
            if kept is not None:
                cancel(kept)

    def seek(self, idx: Any) -> None:
        """Go to a record, which `read` returns next.

        Args:
            idx: Its key.

        Raises:
            OutOfBoundsError: There is no such key.
            GluonishError: The files are open for writing, or closed.
        """
        self._open_for("seek").seek(self._offset(idx))

    def _offset(self, key: Any) -> int:
        try:
            return self.idx[key]
        except KeyError:
            raise _UnknownKeyError(
                f"{type(self).__name__}: expected one of {len(self.keys)} keys of {self.idx_path}, "
                f"got {key!r}"
            ) from None

    def tell(self) -> int:
        """Return the offset in bytes at which the next record will be written.

        Raises:
            GluonishError: The files are open for reading, or closed.
        """
        return self._open_for("tell").tell()

    def read_idx(self, idx: Any) -> bytes:
        """Return a record.

        Args:
            idx: Its key.

        Raises:
            OutOfBoundsError: There is no such key.
            FileFormatError: The index names a byte where no record begins, or the file is damaged.
            GluonishError: The files are open for writing, or closed.
        """
        file = self._open_for("seek")
        cursor = Cursor(file, self._offset(idx))
        try:
            record = read_record(cursor, self.uri)
        except FileFormatError as error:
            raise FileFormatError(f"{error}; key {idx!r:.80} of {self.idx_path}") from error
        file.seek(cursor.tell())  # where `read` goes on
        if record is None:
            raise FileFormatError(
                f"{type(self).__name__}: expected a record at byte {self.idx[idx]} of {self.uri}, "
                f"got the end of the file; {self.idx_path} is the index of another"
            )
        return record

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Append a record, and a line to the index.

        Args:
            idx: Its key.
            buf: Its bytes.

        Raises:
            ArgumentError: ``idx`` is no key, or the record too long.
            GluonishError: The files are open for reading, closed, or of another process.
        """
        self._open_for("write")
        writer = f"{type(self).__name__}.write_idx"
        key = make_key(idx, self.key_type, writer)
        check_key(key, writer)
        offset = self.tell()
        self.write(buf)
        assert self.fidx is not None  # open whenever the records are
        self.fidx.write(index_line(key, offset))
        self._add(key, offset)


class _UnknownKeyError(OutOfBoundsError, KeyError):
    """A key that the index does not have; also what programs for MXNet catch."""

    __str__ = Exception.__str__
