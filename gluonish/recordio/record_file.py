"""MXRecordIO: a file of records, read and written in order through a buffer.

Writers keep nothing back: a process that was forked, or is killed, has nothing of a file's content.
A file that nobody closed is closed with its object, by C code alone; see `gluonish.core.finalizer`.

To ask for a record's length first is a second call, and new memory for each record costs more than
what is read into it. So as much is read as the longest record before had; what that does not do for
is left to the reader that says what is wrong.
"""

import io
import os
from collections.abc import Callable
from operator import methodcaller
from typing import Any, BinaryIO

from gluonish.core.errors import ArgumentError, ArgumentTypeError, GluonishError, MissingFileError
from gluonish.core.files import local_path, open_to_read, path_text
from gluonish.core.finalizer import Finalizer, Kept, cancel, keep
from gluonish.recordio.framing import HEAD_NBYTES, MARK_BYTES, frame, read_record


class MXRecordIO:
    """Reads or writes a record file: a sequence of byte strings.

    A reader can be used after a fork, and can be pickled for other processes: there it opens the
    file again and starts at the first record. A writer can be used only by the process that opened
    it.

    Args:
        uri: Path of the file; a leading ``file://`` is ignored.
        flag: ``"r"`` to read the file, ``"w"`` to write a new one.

    Attributes:
        uri: As given.
        flag: As given.
        writable: Whether it is open for writing.
        is_open: Whether it is open.
        handle: The open file, or None.
        pid: Id of the process that opened it, or None.

    Raises:
        ArgumentError: ``flag`` is neither ``"r"`` nor ``"w"``.
        MissingFileError: The file does not exist, or for writing its folder.

    Example:
        >>> import os, tempfile
        >>> import gluonish as mx
        >>> path = os.path.join(tempfile.mkdtemp(), "data.rec")
        >>> writer = mx.recordio.MXRecordIO(path, "w")
        >>> writer.write(b"first")
        >>> writer.write(b"second")
        >>> writer.close()
        >>> reader = mx.recordio.MXRecordIO(path, "r")
        >>> reader.read(), reader.read(), reader.read()
        (b'first', b'second', None)
        >>> reader.close()
    """

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.is_open = False
        self.handle: BinaryIO | None = None
        self.pid: int | None = None
        self._kept: Kept | None = None
        if flag not in ("r", "w"):
            raise ArgumentError(
                f"{type(self).__name__}: expected flag 'r' or 'w', got {flag!r}: Invalid flag"
            )
        self.uri = path_text(uri, "MXRecordIO")
        self.flag = flag
        self.writable = flag == "w"
        self.open()

    def open(self) -> None:
        """Open the file: for reading, at its first record; for writing, empty.

        Raises:
            MissingFileError: The file does not exist, or for writing its folder.
        """
        opened, name = open_to_write if self.writable else open_to_read, type(self).__name__
        file = opened(local_path(self.uri, name), name)
        self._kept = close_with(self, file)
        self.handle = file
        self.pid = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Close the file, and store all written records. Closing a second time does nothing."""
        handle, kept = self.handle, self._kept
        self.handle = self._kept = self.pid = None
        self.is_open = False
        if handle is not None:
            handle.close()
        if kept is not None:
            cancel(kept)

    def reset(self) -> None:
        """Go back to the first record; when writing, empty the file."""
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Append a record.

        Args:
            buf: Content of the record: bytes, bytearray or memoryview of less than 2^29 bytes.

        Raises:
            ArgumentTypeError: ``buf`` is something else.
            ArgumentError: ``buf`` is too long, or the file is open for reading.
            GluonishError: The file is closed, or another process opened it.
        """
        handle = self._open_for("write")
        if not isinstance(buf, bytes | bytearray | memoryview):
            raise ArgumentTypeError(
                f"{type(self).__name__}.write: expected bytes, got {type(buf).__name__}"
            )
        handle.write(frame(bytes(buf)))

    def read(self) -> bytes | None:
        """Return the next record, bytes; None after the last.

        Raises:
            FileFormatError: The file is cut off or damaged; names the offset in bytes.
            ArgumentError: The file is open for writing.
            GluonishError: The file is closed.
        """
        return read_record(self._open_for("read"), self.uri)

    def _open_for(self, method: str) -> BinaryIO:
        """Return the open file of this process for a method.

        Raises:
            ArgumentError: It is open for the other.
            GluonishError: It is closed, or was opened by another process.
        """
        name = f"{type(self).__name__}.{method}"
        if self.handle is None:
            raise GluonishError(f"{name}: expected an open file, got {self.uri}, which is closed")
        if self.writable != (method in ("write", "tell")):
            raise ArgumentError(
                f"{name}: expected a file opened for {'reading' if self.writable else 'writing'}, "
                f"got {self.uri} with flag {self.flag!r}"
            )
        if self.pid != os.getpid():
            if self.writable:
                raise GluonishError(
                    f"{name}: expected the process that opened {self.uri}, {self.pid}, got "
                    f"{os.getpid()}: Forbidden operation in multiple processes"
                )
            self.reset()
        return self.handle

    def __getstate__(self) -> dict[str, Any]:
        if self.writable and self.is_open:
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected a reader to be sent to another process, got a "
                f"writer of {self.uri}; close it first"
            )
        return {**self.__dict__, "handle": None, "pid": None, "_kept": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()


class _WholeFile(io.FileIO):
    """A file that writes all it is given, and whose errors say which one it is."""

    def write(self, data: Any, /) -> int:
        """Write bytes; return how many."""
        left = memoryview(data)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            error.filename = self.name
            raise
        return len(data)


class _Closing(Finalizer):
    """Closes a file when the object ends that it belongs to."""

    __slots__ = ("close",)

    close: Callable[[], object]


_CLOSE = methodcaller("close")  # C code, like the method that it calls


def close_with(owner: object, file: BinaryIO) -> Kept:
    """Close a file when an object is garbage collected; return the finalizer, for `cancel`.

    Args:
        owner: The object.
        file: The file, from `open_to_write` or `open_to_read`.
    """
    closing = _Closing(owner, _CLOSE)
    # Not of the buffer of a reader, whose lock another thread held if there was a fork.
    raw = file.raw if isinstance(file, io.BufferedReader) else file
    closing.close = raw.close
    return keep(closing, owner)


def open_to_write(path: str, writer: str) -> BinaryIO:
    """Open a new, empty file; each write goes to the file at once, unbuffered.

    Args:
        path: Path of the file.
        writer: Class name of the writer, for error messages.

    Raises:
        MissingFileError: Its folder does not exist.
    """
    try:
        return _WholeFile(path, "wb")
    except FileNotFoundError:
        raise MissingFileError(
            f"{writer}: expected a path in an existing folder, got {path!r}; make the folder first"
        ) from None


# Not on Windows.
_PREADV: Callable[[int, list[bytearray], int], int] | None = getattr(os, "preadv", None)
_MOST_NBYTES = 1 << 20  # longer records are read by their length


class RecordBuffer:
    """Memory into which records are read, one after another; for one thread at a time."""

    __slots__ = ("_memory",)

    def __init__(self) -> None:
        self._memory = bytearray()

    def read(self, descriptor: int, start: int, otherwise: Callable[[], bytes]) -> memoryview:
        """Return the bytes of a record, which stay valid until the next one is read.

        Args:
            descriptor: File descriptor.
            start: Offset in bytes at which the record begins.
            otherwise: Called for records that are not stored in one part or are invalid: reads the
                record, or raises.

        Raises:
            FileFormatError: From ``otherwise``.
        """
        memory = self._memory
        if memory and _PREADV is not None:
            count = _PREADV(descriptor, [memory], start)
            # The bits above the length are those of records of several parts.
            end = HEAD_NBYTES + int.from_bytes(memory[4:HEAD_NBYTES], "little")
            if end <= count and memory.startswith(MARK_BYTES):
                return memoryview(memory)[HEAD_NBYTES:end]
        record = otherwise()
        if len(memory) < HEAD_NBYTES + len(record) and len(record) <= _MOST_NBYTES:
            self._memory = bytearray(HEAD_NBYTES + len(record))  # whoever has a view keeps the old
        return memoryview(record)
