"""Reading numbers and arrays from a file of which nothing is trusted.

Arrays get memory of their own. Only where the caller wants the file mapped, large ones stay there:
their pages are read when they are used, and a page that is written to becomes the process's own.
"""

import io
import math
import mmap
import struct
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.errors import FileFormatError

# NumPy 1 has 32 at most, and no operator takes that many.
MAX_RANK = 32
# Smaller arrays are copied: each would cost page faults, and a write to one a whole page.
_LEAST_MAPPED_NBYTES = 1 << 14
# What is read at a time: in the processor's cache still when it is told of.
_CHUNK_NBYTES = 1 << 20


class ByteReader:
    """Reads numbers and arrays from a seekable file, from its position on, never past its end.

    Args:
        file: The file; `offset` counts from its beginning.
        name: What error messages call it.
        memory: The whole file as `private_map` gave it; None if it is to be read. Large arrays are
            then views of it, and the file itself is left alone.
        start: Where to begin; None for the file's position.
        end: Where to end before the file does; None for its end.
        tell: Called with each piece of what was read, in turn, as soon as it is there; for sums.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        memory: mmap.mmap | None = None,
        start: int | None = None,
        end: int | None = None,
        tell: Callable[[Any], object] | None = None,
    ) -> None:
        self._file = file
        self.name = name
        self._memory = memory
        self._tell = tell
        self.offset = file.tell() if start is None else start
        if memory is not None:
            end = len(memory) if end is None else min(end, len(memory))
        elif end is None:
            end = file.seek(0, io.SEEK_END)
        if memory is None:
            file.seek(self.offset)
        self._end = end

    def at(self, offset: int) -> "ByteReader":
        """Return a reader of the same file that begins at an offset."""
        return ByteReader(self._file, self.name, self._memory, offset, self._end, self._tell)

    @property
    def remaining(self) -> int:
        """Bytes between here and the end."""
        return self._end - self.offset

    def error(self, expected: str, got: object) -> FileFormatError:
        """The error for what was found at `offset`."""
        return FileFormatError(f"{self.name}: expected {expected} at byte {self.offset}, got {got}")

    def require(self, nbytes: int, what: str) -> None:
        """Check that so many bytes are left.

        Raises:
            FileFormatError: The file ends before.
        """
        if nbytes > self.remaining:
            got = f"{self.remaining}; the file is truncated or corrupt"
            raise self.error(f"{nbytes} bytes of {what}", got)

    def take(self, nbytes: int, what: str) -> bytes:
        """Return the next bytes.

        Raises:
            FileFormatError: The file ends before.
        """
        self.require(nbytes, what)
        if self._memory is None:
            data = self._file.read(nbytes)
            self._check_read(len(data), nbytes, what)
        else:
            data = self._memory[self.offset : self.offset + nbytes]
        if self._tell is not None:
            self._tell(data)
        self.offset += nbytes
        return data

    def numbers(self, layout: str, what: str) -> tuple[int, ...]:
        """Return the next integers; ``layout`` is as in `struct`, without the byte order.

        Raises:
            FileFormatError: The file ends before.
        """
        layout = "<" + layout
        return struct.unpack(layout, self.take(struct.calcsize(layout), what))

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Any:
        """Return the next array, in C order, which may be written to.

        It has memory of its own, or is a view of the mapped file; that of bools is always its own.

        Raises:
            FileFormatError: The file ends before, or the shape is one that no array can have.
        """
        if math.prod(size for size in shape if size) * dtype.itemsize >= 1 << 63:
            raise self.error("a shape that fits in memory", shape)
        nbytes = math.prod(shape) * dtype.itemsize
        self.require(nbytes, what)
        raw = self._bytes(nbytes, dtype, what)
        self.offset += nbytes
        if dtype == np.bool_:
            # NumPy's loops rely on every bool being 0 or 1. A copy: a sum of what was read may
            # still be under way.
            raw = np.minimum(raw, 1)
        return raw.view(dtype).reshape(shape)

    def _bytes(self, nbytes: int, dtype: np.dtype[Any], what: str) -> Any:
        if self._memory is not None and nbytes:
            # The memory begins with a page.
            stays = nbytes >= _LEAST_MAPPED_NBYTES and self.offset % dtype.alignment == 0
            view = np.frombuffer(self._memory, np.uint8, nbytes, self.offset)
            return view if stays and dtype != np.bool_ else view.copy()
        raw = np.empty(nbytes, np.uint8)
        for start in range(0, nbytes, _CHUNK_NBYTES):
            piece = raw[start : start + _CHUNK_NBYTES].data
            count = self._file.readinto(piece)  # type: ignore[attr-defined]  # of all binary files
            self._check_read(start + count, start + len(piece), what)
            if self._tell is not None:
                self._tell(piece)
        return raw

    def _check_read(self, got: int, wanted: int, what: str) -> None:
        if got != wanted:
            raise self.error(
                f"{wanted} bytes of {what}",
                f"{got}: another program made the file shorter while it was read; load it again",
            )
