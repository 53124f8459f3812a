"""MXRecordIO: a file of records, read and written in order through a buffer.

Writers do not buffer, so that a forked or killed process has no unwritten data. A file that is not
closed is closed with its object, by C code; see `gluonish.core.finalizer`.

Reading a record's length first takes a second call, and allocating memory for each record costs
more than reading. So `RecordBuffer` reads as many bytes as the longest previous record; other
records fall back to `read_record`, which reports errors.
"""

import io
import os
from collections.abc import Callable
from operator import methodcaller
from typing import Any, BinaryIO

from gluonish.core.errors import ArgumentError, ArgumentTypeError, GluonishError, MissingFileError
from gluonish.core.files import local_path, open_to_read, path_text
from gluonish.core.finalizer import Finalizer, Registration, cancel, keep
from gluonish.core.object_repr import default_repr
from gluonish.recordio.framing import HEAD_NBYTES, MAGIC_BYTES, frame, read_record


class MXRecordIO:
    """Reads or writes a record file: a sequence of byte strings.

    A reader can be used after a fork, and can be pickled for other processes: there it opens the
    file again and starts at the first record. A writer can be used only by the process that opened
    it.

    Args:
        uri: Path of the file; a leading ``file://`` is ignored.
        flag: ``"r"`` to read the file, ``"w"`` to write a new one.

    Attributes:
        uri: The argument.
        flag: The argument.
        writable: Whether the file is open for writing.
        is_open: Whether the file is open.
        handle: The open file, or None.
        pid: Id of the process that opened the file, or None.

    Raises:
        ArgumentError: ``flag`` is neither ``"r"`` nor ``"w"``.
        MissingFileError: The file, or for writing its folder, does not exist.

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

    __repr__ = default_repr

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.is_open = False
        self.handle: BinaryIO | None = None
        self.pid: int | None = None
        self._finalizer: Registration | None = None
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
            MissingFileError: The file, or for writing its folder, does not exist.
        """
        opened, name = open_to_write if self.writable else open_to_read, type(self).__name__
        file = opened(local_path(self.uri, name), name)
        self._finalizer = close_with(self, file)
        self.handle = file
        self.pid = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Close the file, and store all written records; may be called twice."""
        handle, finalizer = self.handle, self._finalizer
        self.handle = self._finalizer = self.pid = None
        self.is_open = False
        if handle is not None:
            handle.close()
        if finalizer is not None:
            cancel(finalizer)

    def reset(self) -> None:
        """Go back to the first record; when writing, empty the file."""
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Append a record.

        Args:
            buf: Content of the record: bytes, bytearray or memoryview of less than 2^29 bytes.

        Raises:
            ArgumentTypeError: ``buf`` has another type.
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
            FileFormatError: The file is truncated or damaged; names the offset in bytes.
            ArgumentError: The file is open for writing.
            GluonishError: The file is closed.
        """
        return read_record(self._open_for("read"), self.uri)

    def _open_for(self, method: str) -> BinaryIO:
        """Return the file for a method to use; in another process, a reader opens it again.

        Raises:
            ArgumentError: The file is open in the other mode.
            GluonishError: The file is closed, or was opened by another process.
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
        return {**self.__dict__, "handle": None, "pid": None, "_finalizer": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()


class _UnbufferedFile(io.FileIO):
    """An unbuffered file that writes all bytes; its errors contain the file name."""

    def write(self, data: Any, /) -> int:
        """Write all bytes; return their number."""
        remaining = memoryview(data)
        try:
            while remaining:
                remaining = remaining[super().write(remaining) :]
        except OSError as error:
            error.filename = self.name
            raise
        return len(data)


class _Closing(Finalizer):
    """Closes a file when its owner is garbage collected."""

    __slots__ = ("close",)

    close: Callable[[], object]


_CLOSE = methodcaller("close")  # C code, like the called method


def close_with(owner: object, file: BinaryIO) -> Registration:
    """Close a file when an object is garbage collected; return the finalizer, for `cancel`.

    Args:
        owner: The object.
        file: The file, from `open_to_write` or `open_to_read`.
    """
    closing = _Closing(owner, _CLOSE)
    # Not the BufferedReader, whose lock another thread may have held at a fork.
    raw = file.raw if isinstance(file, io.BufferedReader) else file
    closing.close = raw.close
    return keep(closing, owner)


def open_to_write(path: str, writer: str) -> BinaryIO:
    """Open a new, empty file; each write goes to the file at once, unbuffered.

    Args:
        path: Path of the file.
        writer: Class name of the writer, for error messages.

    Raises:
        MissingFileError: The folder does not exist.
    """
    try:
        return _UnbufferedFile(path, "wb")
    except FileNotFoundError:
        raise MissingFileError(
            f"{writer}: expected a path in an existing folder, got {path!r}; make the folder first"
        ) from None


# Not available on Windows.
_PREADV: Callable[[int, list[bytearray], int], int] | None = getattr(os, "preadv", None)
_MAX_NBYTES = 1 << 20  # longer records are read by their length


class RecordBuffer:
    """Reusable memory for reading records; not thread-safe."""

    __slots__ = ("_memory",)

    def __init__(self) -> None:
        self._memory = bytearray()

    def read(self, descriptor: int, start: int, otherwise: Callable[[], bytes]) -> memoryview:
        """Read a record; the bytes are valid until the next read.

        Args:
            descriptor: File descriptor.
            start: Offset in bytes at which the record begins.
            otherwise: Called for records that have several parts or are invalid: reads the record,
                or raises.

        Raises:
            FileFormatError: From ``otherwise``.
        """
        memory = self._memory
        if memory and _PREADV is not None:
            count = _PREADV(descriptor, [memory], start)
            # Bits above the length are set for records of several parts.
            end = HEAD_NBYTES + int.from_bytes(memory[4:HEAD_NBYTES], "little")
            if end <= count and memory.startswith(MAGIC_BYTES):
                return memoryview(memory)[HEAD_NBYTES:end]
        record = otherwise()
        if len(memory) < HEAD_NBYTES + len(record) and len(record) <= _MAX_NBYTES:
            self._memory = bytearray(
                HEAD_NBYTES + len(record)
            )  # existing views keep the old memory
        return memoryview(record)
