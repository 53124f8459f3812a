"""Reading a file at positions of one's own, whoever else reads it at the same time.

Another thread may, and so may a signal's handler in the middle of this thread's reading.
"""

import os
import threading
from collections.abc import Callable
from typing import BinaryIO

__all__ = ["Cursor", "read_at"]

_PREAD: Callable[[int, int, int], bytes] | None = getattr(os, "pread", None)
# Where the system cannot read at a position: what threads do one after the other.
_seeking = threading.RLock()


class Cursor:
    """A reader's own position in an open file, independent of the file's position.

    Args:
        file: File opened for reading.
        position: Initial position in bytes.
    """

    __slots__ = ("_file", "_position")

    def __init__(self, file: BinaryIO, position: int) -> None:
        self._file = file
        self._position = position

    def read(self, size: int, /) -> bytes:
        """Return the next ``size`` bytes; fewer at the end of the file."""
        found = read_at(self._file, size, self._position)
        self._position += len(found)
        return found

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._position

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._file.fileno()


def read_at(file: BinaryIO, size: int, position: int) -> bytes:
    """Return bytes of a file from a position on; fewer at the end of the file.

    Args:
        file: File opened for reading.
        size: Number of bytes.
        position: Position of the first byte.
    """
    if _PREAD is not None:
        return _PREAD(file.fileno(), size, position)
    while True:
        with _seeking:
            file.seek(position)
            found = file.read(size)
            if file.tell() == position + len(found):  # else a handler has moved it in between
                return found
