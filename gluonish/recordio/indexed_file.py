"""MXIndexedRecordIO: a file of records with keys, read in any order."""

import os
from collections.abc import Callable
from typing import Any, BinaryIO

from gluonish.core.errors import FileFormatError, OutOfBoundsError
from gluonish.core.files import path_text
from gluonish.core.finalizer import Registration, cancel
from gluonish.recordio.framing import Cursor, read_record
from gluonish.recordio.index_file import check_key, index_line, make_key, read_index
from gluonish.recordio.record_file import MXRecordIO, close_with, open_to_write


class MXIndexedRecordIO(MXRecordIO):
    """A record file with an index, so that records can be read by key in any order.

    `read_idx` is thread-safe. For forks and other processes see `MXRecordIO`.

    Args:
        idx_path: Path of the index: a text file with key, tab and byte offset of each record.
        uri: Path of the record file.
        flag: ``"r"`` to read both files, ``"w"`` to write new ones.
        key_type: Type that keys are converted to, such as ``int`` or ``str``.

    Attributes:
        idx: Dict from each key to the byte offset of its record; of a repeated key, the last
            offset.
        keys: List of the keys, in the order of the index.
        idx_path: The argument.
        key_type: The argument.
        fidx: The open index file when writing, else None.

    Raises:
        ArgumentError: ``flag`` is neither ``"r"`` nor ``"w"``.
        MissingFileError: A file or its folder does not exist.
        FileFormatError: A line of the index is invalid.

    Example:
        >>> import os, tempfile
        >>> import gluonish as mx
        >>> base = os.path.join(tempfile.mkdtemp(), "data")
        >>> writer = mx.recordio.MXIndexedRecordIO(base + ".idx", base + ".rec", "w")
        >>> for key in range(3):
        ...     writer.write_idx(key, f"record {key}".encode())
        >>> writer.close()
        >>> reader = mx.recordio.MXIndexedRecordIO(base + ".idx", base + ".rec", "r")
        >>> reader.read_idx(2)
        b'record 2'
        >>> reader.close()
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        self.idx_path = path_text(idx_path, "MXIndexedRecordIO")
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        self.fidx: BinaryIO | None = None
        self._index_finalizer: Registration | None = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Open both files: for reading, which loads the index, or for writing, which empties them.

        Raises:
            MissingFileError: A file or its folder does not exist.
            FileFormatError: A line of the index is invalid.
        """
        self.idx = {}
        self.keys = []
        if not self.writable:
            self._read_index()
        super().open()
        if self.writable:
            index = open_to_write(self.idx_path, type(self).__name__)
            self._index_finalizer = close_with(self, index)
            self.fidx = index

    def _read_index(self) -> None:
        for key, offset in read_index(self.idx_path, type(self).__name__, self.key_type):
            self._add(key, offset)

    def _add(self, key: Any, offset: int) -> None:
        self.idx[key] = offset
        self.keys.append(key)

    def close(self) -> None:
        """Close both files; may be called twice."""
        index, finalizer = self.fidx, self._index_finalizer
        self.fidx = self._index_finalizer = None
        try:
            super().close()
        finally:
            if index is not None:
                index.close()
            if finalizer is not None:
                cancel(finalizer)

    def seek(self, idx: Any) -> None:
        """Move to a record, which the next `read` returns.

        Args:
            idx: Key of the record.

        Raises:
            OutOfBoundsError: The index does not contain the key.
            ArgumentError: The files are open for writing.
            GluonishError: The files are closed.
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
            ArgumentError: The files are open for reading.
            GluonishError: The files are closed.
        """
        return self._open_for("tell").tell()

    def read_idx(self, idx: Any) -> bytes:
        """Read the record with a key.

        Args:
            idx: Key of the record.

        Raises:
            OutOfBoundsError: The index does not contain the key.
            FileFormatError: No record begins at the offset in the index, or the file is damaged.
            ArgumentError: The files are open for writing.
            GluonishError: The files are closed.
        """
        file = self._open_for("seek")
        cursor = Cursor(file, self._offset(idx))
        try:
            record = read_record(cursor, self.uri)
        except FileFormatError as error:
            raise FileFormatError(f"{error}; key {idx!r:.80} of {self.idx_path}") from error
        file.seek(cursor.tell())  # where `read` continues
        if record is None:
            raise FileFormatError(
                f"{type(self).__name__}: expected a record at byte {self.idx[idx]} of {self.uri}, "
                f"got the end of the file; {self.idx_path} is another file's index"
            )
        return record

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Append a record, and a line to the index.

        Args:
            idx: Key of the record.
            buf: Content of the record, bytes.

        Raises:
            ArgumentError: ``key_type`` rejects the key, the record is too long, or the files are
                open for reading.
            GluonishError: The files are closed, or another process opened them.
        """
        self._open_for("write")
        writer = f"{type(self).__name__}.write_idx"
        key = make_key(idx, self.key_type, writer)
        check_key(key, writer)
        offset = self.tell()
        self.write(buf)
        assert self.fidx is not None  # open if the record file is
        self.fidx.write(index_line(key, offset))
        self._add(key, offset)


class _UnknownKeyError(OutOfBoundsError, KeyError):
    """Raised for a key that is not in the index; a KeyError, too, which MXNet programs catch."""

    __str__ = Exception.__str__
