"""MXRecordIO: a file of records, read or written one after the other."""

import io
import os
from typing import Any, BinaryIO

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    GluonishError,
    MissingFileError,
)
from gluonish.core.files import local_path, open_to_read
from gluonish.recordio.framing import frame, read_record

__all__ = ["MXRecordIO", "close_own", "open_to_write"]


class MXRecordIO:
    """A file of records, each a byte string, read or written one after the other.

    A reader may be used after a fork, and be sent to other processes: there it opens the file
    itself and begins with the first record. A writer belongs to the process that opened it.

    Args:
        uri: Path of the file; ``file://`` before it does not count.
        flag: ``"r"`` to read it, ``"w"`` to write a new one.

    Attributes:
        uri: As given.
        flag: As given.
        writable: Whether it is written.
        is_open: Whether it is open.
        handle: The open file, or None.
        pid: Number of the process that opened it, or None.

    Raises:
        ArgumentError: ``flag`` is another.
        MissingFileError: There is no such file, or no such folder.
    """

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.is_open = False
        self.handle: BinaryIO | None = None
        self.pid: int | None = None
        if flag not in ("r", "w"):
            raise ArgumentError(
                f"{type(self).__name__}: expected flag 'r' or 'w', got {flag!r}: Invalid flag"
            )
        self.uri = os.fspath(uri)
        self.flag = flag
        self.writable = flag == "w"
        self.open()

    def open(self) -> None:
        """Open the file: a reader at its first record, a writer a new and empty one.

        Raises:
            MissingFileError: There is no such file, or no such folder.
        """
        opened, name = open_to_write if self.writable else open_to_read, type(self).__name__
        self.handle = opened(local_path(self.uri, name), name)
        self.pid = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Close the file; a writer has stored everything then. Closing twice does nothing."""
        handle, pid, is_open = self.handle, self.pid, self.is_open
        self.handle = None
        self.is_open = False
        self.pid = None
        if is_open and handle is not None:
            close_own(handle, pid)

    def reset(self) -> None:
        """Go back to the first record; a writer starts a new file."""
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Append a record.

        Args:
            buf: Its bytes, fewer than 2^29.

        Raises:
            ArgumentTypeError: It is no byte string.
            ArgumentError: It is too long.
            GluonishError: The file is open for reading, closed, or of another process.
        """
        handle = self._open_for("write")
        if not isinstance(buf, bytes | bytearray | memoryview):
            raise ArgumentTypeError(
                f"{type(self).__name__}.write: expected bytes, got {type(buf).__name__}"
            )
        handle.write(frame(bytes(buf)))

    def read(self) -> bytes | None:
        """Return the next record, or None after the last.

        Raises:
            FileFormatError: The file is cut off or damaged; names the byte.
            GluonishError: The file is open for writing, or closed.
        """
        return read_record(self._open_for("read"), self.uri)

    def _open_for(self, method: str) -> BinaryIO:
        """Return the open file of this process for a method.

        Raises:
            GluonishError: It is closed, open for the other, or was opened by another process.
        """
        name = f"{type(self).__name__}.{method}"
        if self.handle is None:
            raise GluonishError(f"{name}: expected an open file, got {self.uri}, which is closed")
        if self.writable != (method in ("write", "tell")):
            raise GluonishError(
                f"{name}: expected a file that was opened for it, got {self.uri} with flag "
                f"{self.flag!r}"
            )
        if self.pid != os.getpid():
            if self.writable:
                raise GluonishError(
                    f"{name}: expected the process that opened {self.uri}, {self.pid}, got "
                    f"{os.getpid()}: Forbidden operation in multiple processes"
                )
            self.reset()
        return self.handle

    def __del__(self) -> None:
        if getattr(self, "is_open", False):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable and self.is_open:
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected a reader to be sent to another process, got a "
                f"writer of {self.uri}; close it first"
            )
        return {**self.__dict__, "handle": None, "pid": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.is_open:
            self.is_open = False
            self.open()


class _NamingFile(io.FileIO):
    """A file whose errors say which one it is: a full disk shows at any write, flush or close."""

    def write(self, data: Any, /) -> int:
        """Write as the base class does."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self.name
            raise


def open_to_write(path: str, writer: str) -> BinaryIO:
    """Open a new and empty file.

    Args:
        path: The file.
        writer: What wants to write it, to begin an error message with.

    Raises:
        MissingFileError: Its folder does not exist.
    """
    try:
        return io.BufferedWriter(_NamingFile(path, "wb"))
    except FileNotFoundError:
        raise MissingFileError(
            f"{writer}: expected a path in an existing folder, got {path!r}; make the folder first"
        ) from None


def close_own(file: BinaryIO, pid: int | None) -> None:
    """Close a file that a process opened; in another one, without storing what that one will.

    Args:
        file: As `open_to_write` or `open_to_read` gave it.
        pid: Number of the process that opened it.
    """
    if pid == os.getpid():
        file.close()
    else:
        # A buffered file whose descriptor is closed has nothing to flush.
        file.raw.close()  # type: ignore[attr-defined]  # of every buffered file
